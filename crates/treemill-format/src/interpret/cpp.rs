//! C++ type names of whole values: `vector<vector<float> >`, `map<string,TVector3>`, `bitset<9>`, classes.

use super::class::Classes;
use super::refusal::{Kind, Known, Refusal};
use super::{number, pointers};
use crate::layout::{Class, Form, Layout, Number, Object, Part, Truncation};
use crate::streamer::range;

/// Byte count and version before a collection that is a branch or member of its own; collections inside
/// have none.
pub(super) const HEADER: u8 = 6;

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

/// EReadWrite code of a pointer that may be null.
const POINTER: i32 = 69;

/// Containers of pairs.
const MAPS: [&str; 4] = ["map", "multimap", "unordered_map", "unordered_multimap"];

/// The layout of a branch or member of this type. `string_header` bytes come before a `std::string`.
pub(super) fn layout(
    type_name: &str,
    string_header: u8,
    classes: &Classes,
    depth: usize,
) -> Known<Layout> {
    let name = bare(type_name);
    match name {
        "TString" => Ok(Layout::String { header: 0 }),
        "string" | "basic_string<char>" => Ok(Layout::String {
            header: string_header,
        }),
        _ => match collection(name, HEADER, classes, depth) {
            Some(known) => known,
            None => classes.value(name, depth),
        },
    }
}

/// A member of each of a collection's items: their collections share one header, which is not in the layout.
pub(super) fn shared(type_name: &str, classes: &Classes, depth: usize) -> Known<Layout> {
    match bare(type_name) {
        "string" | "basic_string<char>" => Ok(Layout::String { header: 0 }),
        name => collection(name, 0, classes, depth)
            .unwrap_or_else(|| Err(Refusal::member(format!("collections of type {type_name}")))),
    }
}

/// `None` if the name is not that of a collection.
fn collection(name: &str, header: u8, classes: &Classes, depth: usize) -> Option<Known<Layout>> {
    let (container, arguments) = name.strip_suffix('>')?.split_once('<')?;
    let container = container.trim();
    let nested = depth.checked_sub(1);
    let item = |nth| match (argument(arguments, nth), nested) {
        (Some(name), Some(depth)) => item(name, classes, depth),
        _ => Err(Refusal::member(format!(
            "{name}, which nests too deeply or lacks an argument"
        ))),
    };
    let member = |nth| match (argument(arguments, nth), nested) {
        (Some(name), Some(depth)) => match number::by_name(bare(name)) {
            Some(_) => item(nth),
            None if name.ends_with('*') => item(nth),
            None => layout(name, HEADER, classes, depth).or_else(absent),
        },
        _ => item(nth),
    };
    let known = if CONTAINERS.contains(&container) {
        item(0)
    } else if MAPS.contains(&container) {
        member(0).and_then(|first| Ok(pair(name, arguments, first, member(1)?, classes)))
    } else if container == "bitset" {
        Ok(Layout::Number(Number::Bool))
    } else {
        return None;
    };
    Some(known.map(|item| Layout::Vector {
        item: Box::new(item),
        header,
    }))
}

/// Key and value of a map; awkward calls them 0 and 1.
fn pair(name: &str, arguments: &str, first: Layout, second: Layout, classes: &Classes) -> Layout {
    let pair = [0, 1].map(|nth| argument(arguments, nth).unwrap_or_default());
    // The arguments end with the value's type, or go on with how keys are compared.
    let close = if pair[1].ends_with('>') { " >" } else { ">" };
    let described = classes
        .infos
        .newest(&format!("pair<{},{}{close}", pair[0], pair[1]));
    Layout::Object(Object {
        class: Class {
            name: format!("pair of {name}"),
            version: described.map_or(0, |info| info.version),
            checksum: described.map_or(0, |info| info.checksum),
        },
        form: Form::Pair,
        parts: vec![
            Part::Field("0".to_owned(), first),
            Part::Field("1".to_owned(), second),
        ],
    })
}

fn item(type_name: &str, classes: &Classes, depth: usize) -> Known<Layout> {
    let name = bare(type_name);
    match name {
        "string" | "basic_string<char>" | "TString" => Ok(Layout::String { header: 0 }),
        // Collections use no range in the member's comment.
        "Double32_t" => Ok(Layout::Number(Number::Double32(Truncation::AsF32))),
        "Float16_t" => Ok(Layout::Number(Number::Float16(range::float16(0.0, 0.0)))),
        _ => match number::by_name(name) {
            Some(number) => Ok(Layout::Number(number)),
            None if name.ends_with('*') => {
                pointers::layout(POINTER, name, classes, depth).or_else(absent)
            }
            None => match (
                collection(name, 0, classes, depth),
                enumerator(name, classes),
            ) {
                (Some(known), _) => known,
                (None, Some(number)) => Ok(Layout::Number(number)),
                (None, None) => classes.value(name, depth),
            }
            .or_else(absent),
        },
    }
}

fn enumerator(name: &str, classes: &Classes) -> Option<Number> {
    match classes.knows(name) {
        true => None,
        false => classes.enumerator(name),
    }
}

/// Streamer info is written with the first object of its class, so a collection of a class that the file
/// does not describe was never other than empty.
fn absent(refusal: Refusal) -> Known<Layout> {
    match refusal.kind {
        Kind::NotDescribed => Ok(Layout::Absent {
            reason: refusal.what,
        }),
        _ => Err(refusal),
    }
}

/// A class that is a collection, by the comment of its one element: `<T> Used to call …`.
pub(super) fn collection_class(
    comment: &str,
    classes: &Classes,
    depth: usize,
) -> Option<Known<Layout>> {
    let mut open = 0usize;
    let end = comment.find(|c| {
        match c {
            '<' => open = open.saturating_add(1),
            '>' => open = open.saturating_sub(1),
            _ => {}
        }
        open == 0
    })?;
    let name = comment.get(..end)?.strip_prefix('<')?;
    Some(item(name, classes, depth).map(|item| Layout::Vector {
        item: Box::new(item),
        header: HEADER,
    }))
}

/// The type of a sequence's items.
pub(super) fn items(type_name: &str) -> Option<&str> {
    let (container, arguments) = bare(type_name).strip_suffix('>')?.split_once('<')?;
    let is_sequence = CONTAINERS.contains(&container.trim());
    argument(arguments, 0).filter(|_| is_sequence).map(bare)
}

/// Whether the name is that of a collection of the standard library, or alike.
pub(super) fn is_collection(type_name: &str) -> bool {
    let container = bare(type_name).split_once('<').map(|(name, _)| name.trim());
    container
        .is_some_and(|name| CONTAINERS.contains(&name) || MAPS.contains(&name) || name == "bitset")
}

/// The type's name without `std::`, `const` and spaces around.
fn bare(type_name: &str) -> &str {
    let name = type_name.trim();
    let name = name.strip_prefix("const ").unwrap_or(name).trim();
    name.strip_prefix("std::").unwrap_or(name)
}

/// One of a template's arguments.
fn argument(arguments: &str, nth: usize) -> Option<&str> {
    let mut open = 0usize;
    arguments
        .split(|c| {
            match c {
                '<' => open = open.saturating_add(1),
                '>' => open = open.saturating_sub(1),
                _ => {}
            }
            c == ',' && open == 0
        })
        .nth(nth)
        .map(str::trim)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layout(type_name: &str, string_header: u8) -> Option<Layout> {
        let infos = crate::streamer::StreamerInfos::default();
        super::layout(type_name, string_header, &Classes::new(&infos), 16).ok()
    }

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
    fn collections_of_what_was_never_written() {
        for name in [
            "vector<TLorentzVector>",
            "vector<vector<Jet> >",
            "set<Jet*>",
        ] {
            let mut layout = layout(name, 0);
            while let Some(Layout::Vector { item, .. }) = layout {
                layout = Some(*item);
            }
            assert!(matches!(layout, Some(Layout::Absent { .. })), "{name}");
        }
    }

    #[test]
    fn pairs_are_of_the_version_that_the_file_describes() {
        let named = |name: &str| crate::streamer::StreamerInfo {
            name: name.to_owned(),
            checksum: 7,
            version: 1,
            elements: Vec::new(),
        };
        let infos = crate::streamer::StreamerInfos::new(vec![
            named("pair<int,short>"),
            named("pair<int,vector<short> >"),
            named("pair<string,vector<vector<short> > >"),
        ]);
        for name in [
            "map<int,short>",
            "map<int,vector<short> >",
            "map<int,vector<short>>",
            "map<int,short,greater<int> >",
            "map<int,vector<short>,greater<int> >",
            "multimap<string,vector<vector<short> > >",
        ] {
            let known = super::layout(name, 0, &Classes::new(&infos), 16).ok();
            let pair = match known {
                Some(Layout::Vector { item, .. }) => match *item {
                    Layout::Object(pair) => Some((pair.class.version, pair.class.checksum)),
                    _ => None,
                },
                _ => None,
            };
            assert_eq!(pair, Some((1, 7)), "{name}");
        }
    }

    #[test]
    fn what_is_not_certain() {
        for name in [
            "TLorentzVector",
            "map<int,int*>",
            "map<int>",
            "vector<int*>",
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
