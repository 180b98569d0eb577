//! C++ type names of whole objects that are simple sequences: `vector<vector<float> >`, `string`.

use super::number;
use crate::layout::{Layout, Number, Truncation};

/// Byte count and version before a collection that is a branch of its own; collections inside have none.
const COLLECTION_HEADER: u8 = 6;

/// Containers within containers.
const MAX_DEPTH: usize = 16;

/// Containers that ROOT streams alike: a count, then the items (TVirtualCollectionProxy).
const CONTAINERS: [&str; 11] = [
    "vector",
    "list",
    "deque",
    "set",
    "multiset",
    "unordered_set",
    "unordered_multiset",
    "ROOT::VecOps::RVec",
    "ROOT::RVec",
    "VecOps::RVec",
    "RVec",
];

/// The layout of a branch that holds objects of this type; `None` where it is not certain.
/// `string_header` bytes come before a `std::string`.
pub(super) fn layout(type_name: &str, string_header: u8) -> Option<Layout> {
    match bare(type_name) {
        "TString" => Some(Layout::String { header: 0 }),
        "string" | "basic_string<char>" => Some(Layout::String {
            header: string_header,
        }),
        name => sequence(name, COLLECTION_HEADER, MAX_DEPTH),
    }
}

fn sequence(name: &str, header: u8, depth: usize) -> Option<Layout> {
    let (container, arguments) = name.strip_suffix('>')?.split_once('<')?;
    if !CONTAINERS.contains(&container.trim()) {
        return None;
    }
    let item = item(first_argument(arguments), depth.checked_sub(1)?)?;
    Some(Layout::Vector {
        item: Box::new(item),
        header,
    })
}

fn item(type_name: &str, depth: usize) -> Option<Layout> {
    match bare(type_name) {
        "string" | "basic_string<char>" | "TString" => Some(Layout::String { header: 0 }),
        // Collections heed no range in the member's comment.
        "Double32_t" => Some(Layout::Number(Number::Double32(Truncation::AsF32))),
        name => match number::by_name(name) {
            Some(number) => Some(Layout::Number(number)),
            None => sequence(name, 0, depth),
        },
    }
}

/// Without `std::`, `const` and spaces around.
fn bare(type_name: &str) -> &str {
    let name = type_name.trim();
    let name = name.strip_prefix("const ").unwrap_or(name).trim();
    name.strip_prefix("std::").unwrap_or(name)
}

/// A template's first argument: allocators follow.
fn first_argument(arguments: &str) -> &str {
    let mut open = 0usize;
    let end = arguments.find(|c| {
        match c {
            '<' => open = open.saturating_add(1),
            '>' => open = open.saturating_sub(1),
            _ => {}
        }
        c == ',' && open == 0
    });
    arguments
        .get(..end.unwrap_or(arguments.len()))
        .unwrap_or(arguments)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vector(item: Layout, header: u8) -> Layout {
        Layout::Vector {
            item: Box::new(item),
            header,
        }
    }

    #[test]
    fn sequences() {
        assert_eq!(
            layout("vector<float>", 0),
            Some(vector(Layout::Number(Number::F32), 6))
        );
        assert_eq!(
            layout("std::vector<unsigned int>", 6),
            Some(vector(Layout::Number(Number::U32), 6))
        );
        let nested = vector(vector(Layout::Number(Number::F64), 0), 6);
        assert_eq!(layout("vector<vector<double> >", 0), Some(nested.clone()));
        assert_eq!(
            layout(
                "vector<vector<double,allocator<double> >,allocator<x<y> > >",
                6
            ),
            Some(nested)
        );
        assert_eq!(
            layout("vector<string>", 0),
            Some(vector(Layout::String { header: 0 }, 6))
        );
        assert_eq!(layout("string", 0), Some(Layout::String { header: 0 }));
        assert_eq!(layout("std::string", 6), Some(Layout::String { header: 6 }));
        assert_eq!(layout("TString", 6), Some(Layout::String { header: 0 }));
        assert_eq!(
            layout("ROOT::VecOps::RVec<int>", 0),
            Some(vector(Layout::Number(Number::I32), 6))
        );
        let double32 = Layout::Number(Number::Double32(Truncation::AsF32));
        assert_eq!(layout("set<Double32_t>", 0), Some(vector(double32, 6)));
    }

    #[test]
    fn what_is_not_certain() {
        for name in [
            "TLorentzVector",
            "vector<TLorentzVector>",
            "vector<Float16_t>",
            "map<int,float>",
            "float",
            "",
        ] {
            assert_eq!(layout(name, 6), None, "{name}");
        }
        assert_eq!(
            layout(
                &format!("{}int{}", "vector<".repeat(50_000), ">".repeat(50_000)),
                6
            ),
            None
        );
    }
}
