//! Names like the one that was not found. Pure.

use treemill_names::distance;
use treemill_names::limits::{COMPARISONS, LETTERS};

/// Up to `most` of `known` that `name` may have been meant for, the likeliest first: the same name
/// in other letters, names that it is a part of, names a few keystrokes away.
#[must_use]
pub fn near<'a>(name: &str, known: impl Iterator<Item = &'a str>, most: usize) -> Vec<&'a str> {
    let wanted = name.to_lowercase();
    let letters: Vec<char> = wanted.chars().take(LETTERS).collect();
    // Two keystrokes for short names, more for long ones.
    let far = letters.len().div_euclid(4).clamp(2, 5);
    let mut compared = 0_usize;
    let mut found: Vec<(usize, &str)> = known
        .filter_map(|candidate| {
            let lower: String = candidate
                .chars()
                .take(LETTERS)
                .flat_map(char::to_lowercase)
                .collect();
            let others: Vec<char> = lower.chars().collect();
            compared = compared.saturating_add(letters.len().saturating_mul(others.len()));
            if compared > COMPARISONS {
                return None;
            }
            if let Some(distance) = distance(&letters, &others, far) {
                return Some((distance, candidate));
            }
            let part = wanted.len() >= 3 && (lower.contains(&wanted) || wanted.contains(&lower));
            (part && !lower.is_empty()).then_some((far.saturating_add(1), candidate))
        })
        .collect();
    found.sort_by_key(|(distance, candidate)| (*distance, candidate.len()));
    found.into_iter().take(most).map(|(_, name)| name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn likely_names_come_first() {
        let known = [
            "Muon_phi", "Muon_pt", "MET_pt", "muon_pt", "Jet_pt", "event",
        ];
        assert_eq!(
            near("Muon_Pt", known.into_iter(), 2),
            ["Muon_pt", "muon_pt"]
        );
        assert_eq!(near("even", known.into_iter(), 5), ["event"]);
        assert!(near("zzzzzz", known.into_iter(), 5).is_empty());
    }

    #[test]
    fn only_so_many_letters_are_compared() {
        let name = "x".repeat(LETTERS);
        let each = LETTERS.saturating_mul(LETTERS);
        let most = COMPARISONS.div_euclid(each);
        let known = vec![name.as_str(); most.saturating_mul(2)];
        assert_eq!(near(&name, known.into_iter(), usize::MAX).len(), most);
    }
}
