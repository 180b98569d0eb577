//! Names of fields: names that the format makes up, and members of equal name in a class and its base classes.
//! Pure text.

use std::collections::HashMap;

/// A member of a record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Member {
    /// Its field.
    pub(super) field: usize,
    /// Its name in its class.
    pub(super) name: String,
    /// The base classes that it came through, outermost first.
    pub(super) classes: Vec<String>,
    /// The fields from the record (not included) to the member (included).
    pub(super) path: Vec<usize>,
}

/// Whether the format made this name up for a base class: `:_0`, `:_1`, ….
pub(super) fn is_base_class(name: &str) -> bool {
    name.strip_prefix(':').is_some_and(is_number_name)
}

/// Whether the format made this name up for a member of a tuple: `_0`, `_1`, ….
pub(super) fn is_number_name(name: &str) -> bool {
    name.strip_prefix('_')
        .is_some_and(|digits| !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()))
}

/// The members' names, if necessary with the names of base classes before them, as many of them
/// (outermost first) as make the names differ: the names that uproot gives.
pub(super) fn unique_names(members: &[Member]) -> Vec<String> {
    let mut prefixes = vec![0_usize; members.len()];
    loop {
        let names: Vec<String> = members
            .iter()
            .zip(&prefixes)
            .map(|(member, &n)| {
                let mut parts: Vec<&str> =
                    member.classes.iter().take(n).map(String::as_str).collect();
                parts.push(&member.name);
                parts.join("::")
            })
            .collect();
        let mut counts: HashMap<&str, usize> = HashMap::new();
        for name in &names {
            let count = counts.entry(name).or_default();
            *count = count.saturating_add(1);
        }
        let mut is_changed = false;
        for ((name, prefix), member) in names.iter().zip(&mut prefixes).zip(members) {
            if counts.get(name.as_str()).is_some_and(|&n| n > 1) && *prefix < member.classes.len() {
                *prefix = prefix.saturating_add(1);
                is_changed = true;
            }
        }
        // A class that is a base twice over has members that no name tells apart; the first counts.
        if !is_changed {
            return names;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn member(name: &str, classes: &[&str]) -> Member {
        Member {
            field: 0,
            name: name.to_owned(),
            classes: classes.iter().map(|&c| c.to_owned()).collect(),
            path: Vec::new(),
        }
    }

    #[test]
    fn made_up_names() {
        assert!(is_base_class(":_0") && is_base_class(":_12"));
        assert!(!is_base_class("_0") && !is_base_class(":_") && !is_base_class(":_x"));
        assert!(is_number_name("_3") && !is_number_name("_3a") && !is_number_name("3"));
    }

    #[test]
    fn equal_names_get_as_many_classes_as_they_need() {
        let members = [
            member("x", &[]),
            member("y", &[]),
            member("x", &["Child"]),
            member("x", &["Child", "Base"]),
            member("z", &["Child", "Base"]),
        ];
        assert_eq!(
            unique_names(&members),
            ["x", "y", "Child::x", "Child::Base::x", "z"]
        );
    }

    #[test]
    fn what_no_class_tells_apart_ends_too() {
        let twins = [member("x", &["A"]), member("x", &["A"])];
        assert_eq!(unique_names(&twins), ["A::x", "A::x"]);
    }
}
