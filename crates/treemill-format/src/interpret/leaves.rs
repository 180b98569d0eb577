//! Plain TBranch: one leaf or a leaf list, each of a basic type, stored one after another without padding.

use super::dims::{Dims, dims};
use super::{Interpretation, leaf_branch, number, unsupported};
use crate::layout::{Class, Form, Layout, Object, Part};
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
        several => record(several, branch, tree),
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
    Interpretation::new(layout, cpp_type).counted_by(leaf_branch(tree, counter))
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

/// A leaf list: a record of its leaves, one of which may be a string. If a leaf counts an array after it, the
/// list is an object, whose members can have any length.
fn record(leaves: &[&RawLeaf], branch: &RawBranch, tree: &RawTree) -> Interpretation {
    let mut fields = Vec::with_capacity(leaves.len());
    let mut members = Vec::with_capacity(leaves.len());
    let mut reason = None;
    let mut is_object = false;
    let mut strings = 0_usize;
    for leaf in leaves {
        let (title, name) = (text(leaf.title), text(leaf.name));
        let dims = dims(&title, leaf.len);
        let item = match leaf.class {
            "TLeafC" => Some((Layout::String { header: 0 }, "char*")),
            _ => basic(leaf, &title),
        };
        let Some((item, type_name)) = item else {
            members.push(format!("{} {name};", leaf.class));
            reason.get_or_insert(format!("a leaf list with a {}", leaf.class));
            continue;
        };
        if matches!(item, Layout::String { .. }) {
            // An empty string writes nothing, which only the length of all other leaves together tells.
            strings = strings.saturating_add(1);
            members.push(format!("{type_name} {name};"));
            fields.push((name, item));
            continue;
        }
        let counter = match (leaf.counter, dims.variable) {
            (None, None) if leaf.len > 0 => None,
            (Some(at), _) => place(at, branch, tree).filter(|place| *place < fields.len()),
            _ => None,
        };
        match (counter, leaf.counter.is_some() || dims.variable.is_some()) {
            (None, true) => {
                reason.get_or_insert(
                    "a leaf list with an array that another branch counts".to_owned(),
                );
            }
            (None, false) if leaf.len == 0 => {
                reason.get_or_insert("a leaf list with a leaf of no length".to_owned());
            }
            _ => {}
        }
        let variable = counter.map_or(String::new(), |_| {
            format!("[{}]", dims.variable.unwrap_or_default())
        });
        members.push(format!("{type_name} {name}{variable}{};", dims.suffix()));
        let value = dims.wrap(item);
        fields.push(match counter {
            Some(counter) => {
                is_object = true;
                let item = Box::new(value);
                (
                    name,
                    Layout::Sized {
                        item,
                        counter: counter.into(),
                        flag: false,
                    },
                )
            }
            None => (name, value),
        });
    }
    if strings > 1 {
        reason.get_or_insert("a leaf list with several TLeafC".to_owned());
    }
    if strings > 0 && is_object {
        reason.get_or_insert("a leaf list with a TLeafC and counted arrays".to_owned());
    }
    let layout = match (reason, is_object) {
        (Some(reason), _) => unsupported(reason),
        (None, false) => Layout::Record(fields),
        (None, true) => counted(fields),
    };
    Interpretation::new(layout, format!("struct {{{}}}", members.join(" ")))
}

/// Index, among a branch's leaves, of the leaf whose object is at this offset.
fn place(at: usize, branch: &RawBranch, tree: &RawTree) -> Option<usize> {
    let leaf = tree.leaf_at.get(&at)?;
    branch.leaves.iter().position(|own| own == leaf)
}

fn counted(fields: Vec<(String, Layout)>) -> Layout {
    Layout::Object(Object {
        class: Class {
            name: "leaf list".to_owned(),
            version: 0,
            checksum: 0,
        },
        form: Form::Bare,
        parts: fields
            .into_iter()
            .map(|(name, layout)| Part::Field(name, layout))
            .collect(),
    })
}
