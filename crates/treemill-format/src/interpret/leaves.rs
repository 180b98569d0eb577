//! Plain TBranch: one leaf or a leaf list, each of a basic type, stored one after another without padding.

use super::dims::{Dims, dims};
use super::{Interpretation, leaf_branch_name, number, unsupported};
use crate::layout::Layout;
use crate::reader::text;
use crate::streamer::range;
use crate::tbranch::{RawBranch, RawTree};
use crate::tleaf::RawLeaf;

pub(super) fn interpret(branch: &RawBranch, tree: &RawTree) -> Interpretation {
    let leaves: Vec<&RawLeaf> = branch
        .leaves
        .iter()
        .filter_map(|&i| tree.leaves.get(i))
        .collect();
    match leaves.as_slice() {
        [] => Interpretation::group(""),
        [leaf] => one(leaf, tree),
        several => record(several),
    }
}

fn one(leaf: &RawLeaf, tree: &RawTree) -> Interpretation {
    let title = text(leaf.title);
    let dims = dims(&title, leaf.len);
    let (item, name) = match leaf.class {
        "TLeafC" => (Layout::String { header: 0 }, "char*"),
        _ => match basic(leaf, &title) {
            Some((item, name)) => (item, name),
            None => {
                return Interpretation::unsupported(
                    format!("a leaf of class {}", leaf.class),
                    leaf.class,
                );
            }
        },
    };
    let Some(counter) = leaf.counter else {
        return match (&item, dims.variable) {
            (Layout::String { .. }, _) => Interpretation::new(item, name),
            (_, Some(variable)) => Interpretation::unsupported(
                format!("an array counted by '{variable}', which is not in the tree"),
                format!("{name}[{variable}]"),
            ),
            (_, None) => sized(leaf, item, name, &dims),
        };
    };
    let cpp_type = format!(
        "{name}[{}]{}",
        dims.variable.unwrap_or_default(),
        dims.suffix()
    );
    if matches!(item, Layout::String { .. }) {
        return Interpretation::unsupported("a counted array of strings", cpp_type);
    }
    let layout = Layout::Counted {
        item: Box::new(dims.wrap(item)),
        header: 0,
    };
    Interpretation::new(layout, cpp_type).counted_by(leaf_branch_name(tree, counter))
}

fn sized(leaf: &RawLeaf, item: Layout, name: &str, dims: &Dims) -> Interpretation {
    let cpp_type = format!("{name}{}", dims.suffix());
    if leaf.len == 0 {
        return Interpretation::unsupported("a leaf of no length", cpp_type);
    }
    Interpretation::new(dims.wrap(item), cpp_type)
}

fn basic(leaf: &RawLeaf, title: &str) -> Option<(Layout, &'static str)> {
    let code = number::code_of_leaf(leaf.class, leaf.unsigned)?;
    let (number, name) = number::by_code(code, || Some(range::from_leaf_title(title)))?;
    Some((Layout::Number(number), name))
}

/// A leaf list: a record of its leaves.
fn record(leaves: &[&RawLeaf]) -> Interpretation {
    let mut fields = Vec::with_capacity(leaves.len());
    let mut members = Vec::with_capacity(leaves.len());
    let mut reason = None;
    for leaf in leaves {
        let (title, name) = (text(leaf.title), text(leaf.name));
        let dims = dims(&title, leaf.len);
        match basic(leaf, &title) {
            Some((item, type_name)) => {
                members.push(format!("{type_name} {name}{};", dims.suffix()));
                fields.push((name, dims.wrap(item)));
            }
            None => {
                members.push(format!("{} {name};", leaf.class));
                reason.get_or_insert(format!("a leaf list with a {}", leaf.class));
            }
        }
        if leaf.counter.is_some() || dims.variable.is_some() || leaf.len == 0 {
            reason.get_or_insert("a leaf list with an array of variable length".to_owned());
        }
    }
    let layout = reason.map_or(Layout::Record(fields), unsupported);
    Interpretation::new(layout, format!("struct {{{}}}", members.join(" ")))
}
