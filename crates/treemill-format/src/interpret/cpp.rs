//! C++ type names of whole objects that are simple sequences: `vector<vector<float> >`, `string`.

use super::number;
use crate::layout::Layout;

/// Containers within containers.
const MAX_DEPTH: usize = 16;

/// The layout of an object of this type behind `header` bytes; `None` where it is not certain.
pub(super) fn layout(type_name: &str, header: u8) -> Option<Layout> {
    parse(type_name, header, MAX_DEPTH)
}

fn parse(type_name: &str, header: u8, depth: usize) -> Option<Layout> {
    let depth = depth.checked_sub(1)?;
    let name = bare(type_name);
    if matches!(name, "string" | "basic_string<char>") {
        return Some(Layout::String { header });
    }
    if let Some(arguments) = name
        .strip_prefix("vector<")
        .and_then(|rest| rest.strip_suffix('>'))
    {
        let item = first_argument(arguments);
        return Some(Layout::Vector {
            item: Box::new(parse(item, 0, depth)?),
            header,
        });
    }
    // A number by itself is never an object.
    if depth.saturating_add(1) == MAX_DEPTH {
        None
    } else {
        number::by_name(name).map(Layout::Number)
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
    use crate::layout::Number;

    fn vector(item: Layout, header: u8) -> Layout {
        Layout::Vector {
            item: Box::new(item),
            header,
        }
    }

    #[test]
    fn sequences() {
        assert_eq!(
            layout("vector<float>", 6),
            Some(vector(Layout::Number(Number::F32), 6))
        );
        assert_eq!(
            layout("std::vector<unsigned int>", 6),
            Some(vector(Layout::Number(Number::U32), 6))
        );
        let nested = vector(vector(Layout::Number(Number::F64), 0), 6);
        assert_eq!(layout("vector<vector<double> >", 6), Some(nested.clone()));
        assert_eq!(
            layout(
                "vector<vector<double,allocator<double> >,allocator<x<y> > >",
                6
            ),
            Some(nested)
        );
        assert_eq!(
            layout("vector<string>", 6),
            Some(vector(Layout::String { header: 0 }, 6))
        );
        assert_eq!(layout("string", 0), Some(Layout::String { header: 0 }));
    }

    #[test]
    fn what_is_not_certain() {
        for name in [
            "TLorentzVector",
            "vector<TLorentzVector>",
            "vector<Double32_t>",
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
