//! Interprets branches: branch, leaves and streamer info to a `Layout` of the entries' bytes. Never guesses: an
//! uncertain layout is `Layout::Unsupported`, with the C++ type's right name.

mod builtin;
mod class;
mod clones;
mod cpp;
mod dims;
mod element;
mod leaves;
mod number;
mod pointers;
mod refusal;

use crate::layout::{Class, Layout, Object};
use crate::limits::NAME_LENGTH;
use crate::reader::text;
use crate::tbranch::{RawBranch, RawTree};

pub(crate) use class::Classes;
pub use class::Version;

/// A branch as the user sees it.
#[derive(Debug, PartialEq)]
pub(crate) struct Interpretation {
    pub layout: Layout,
    pub cpp_type: String,
    pub counter: Option<usize>,
}

impl Interpretation {
    fn new(layout: Layout, cpp_type: impl Into<String>) -> Self {
        let mut cpp_type = cpp_type.into();
        if cpp_type.len() > NAME_LENGTH {
            cpp_type = text(cpp_type.as_bytes().get(..NAME_LENGTH).unwrap_or_default());
        }
        Interpretation {
            layout,
            cpp_type,
            counter: None,
        }
    }

    fn counted_by(mut self, counter: Option<usize>) -> Self {
        self.counter = counter;
        self
    }

    fn unsupported(reason: impl Into<String>, cpp_type: impl Into<String>) -> Self {
        Interpretation::new(unsupported(reason), cpp_type)
    }

    fn known(layout: refusal::Known<Layout>, cpp_type: impl Into<String>) -> Self {
        match layout {
            // A class without members says nothing but that it is there.
            Ok(Layout::Object(object)) if !object.has_fields() => Interpretation::group(cpp_type),
            layout => Interpretation::new(layout.unwrap_or_else(unsupported), cpp_type),
        }
    }

    /// A branch that only groups others.
    fn group(cpp_type: impl Into<String>) -> Self {
        Interpretation::new(Layout::Record(Vec::new()), cpp_type)
    }
}

fn unsupported(reason: impl Into<String>) -> Layout {
    Layout::Unsupported {
        reason: reason.into(),
    }
}

/// Fills in what a layout leaves open, once data name this class.
///
/// # Errors
/// What stands against reading it, in words for the user.
pub(crate) fn named(open: &Layout, class: &[u8], classes: &Classes) -> Result<Layout, String> {
    match open {
        Layout::Clones(clones) => Ok(clones::named(clones, class, classes)?),
        Layout::Pointer(_) => Ok(pointers::named(class, classes)?),
        _ => Err("a class where none is expected".to_owned()),
    }
}

/// An object's layout at another version, if that can be read.
pub(crate) fn at_version(object: &Object, said: Version, classes: &Classes) -> Option<Object> {
    let Class {
        name,
        version,
        checksum,
    } = &object.class;
    let info = match said {
        Version::Number(version) => classes.infos.find(name, version, None),
        Version::Checksum(checksum) => classes.infos.find_checksum(name, checksum),
    }?;
    if (info.version, info.checksum) == (*version, *checksum) {
        return None;
    }
    match classes.described(info, crate::limits::OBJECT_DEPTH) {
        Ok(Layout::Object(found)) if found.form == object.form => Some(found),
        _ => None,
    }
}

/// Interprets one branch of a tree.
pub(crate) fn interpret(branch: &RawBranch, tree: &RawTree, classes: &Classes) -> Interpretation {
    let mut interpretation = match branch.class {
        "TBranch" => leaves::interpret(branch, tree),
        "TBranchElement" => element::interpret(branch, tree, classes),
        "TBranchObject" if !branch.children.is_empty() => {
            Interpretation::group(text(branch.class_name))
        }
        "TBranchObject" => {
            let class = text(branch.class_name);
            let known = match clones::in_object_branch(&class) {
                Some(layout) => Ok(layout),
                None => classes.named_object(&class),
            };
            Interpretation::known(known, class)
        }
        other => Interpretation::unsupported(
            format!("a branch of class {other}"),
            text(branch.class_name),
        ),
    };
    if !branch.file.is_empty() {
        let file = text(
            branch
                .file
                .get(..NAME_LENGTH.min(branch.file.len()))
                .unwrap_or_default(),
        );
        interpretation.layout = unsupported(format!("baskets that are in another file, {file}"));
    }
    interpretation
}

/// Name of a branch, for the types of those that it counts.
fn branch_name(tree: &RawTree, index: usize) -> Option<String> {
    let branch = tree.branches.get(index)?;
    (branch.name.len() <= NAME_LENGTH).then(|| text(branch.name))
}

/// The branch that owns a leaf, by the offset of the leaf; `None` if it owns others too, for then its values are
/// not the leaf's.
fn leaf_branch(tree: &RawTree, at: usize) -> Option<usize> {
    let owner = *tree.owners.get(*tree.leaf_at.get(&at)?)?;
    let branch = tree.branches.get(owner)?;
    (branch.leaves.len() == 1).then_some(owner)
}
