//! A tree's branches as the query compiler sees them: columns with types.

use crate::arrow_types::column_type as arrow_type;
use crate::columns::{Columns, Location};
use crate::members::members;
use std::borrow::Cow;
use std::collections::HashSet;
use treemill_format::layout::{Layout, Number};
use treemill_query::{ColumnType, DType, Field, Schema};
use treemill_read::TreeFile;

/// The columns of a tree. Members of leaf lists and objects are `branch.member`.
pub(crate) fn columns(file: &TreeFile) -> Columns {
    let tree = file.tree();
    let mut fields = Vec::with_capacity(tree.branches.len());
    let mut locations = Vec::with_capacity(tree.branches.len());
    let mut seen = HashSet::new();
    for (index, branch) in tree.branches.iter().enumerate() {
        // As in ROOT a trailing dot belongs to the members' names, not to the branch's.
        let name = branch.name.trim_end_matches('.');
        if !seen.insert(name) {
            continue;
        }
        let counter = counter(file, index);
        let counter = counter.as_deref();
        let mut add = |name: String, kind: ColumnType, member| {
            fields.push(Field::new(name, kind));
            locations.push(Location {
                branch: index,
                member,
            });
        };
        let kind = column_type(&branch.layout, counter, &branch.cpp_type);
        if let (ColumnType::Other(_), Ok(field)) = (&kind, file.arrow_field(index)) {
            for member in members(field.data_type()) {
                let name = format!("{name}{}", member.name);
                let kind = arrow_type(&member.kind, counter.map(str::to_owned));
                add(name, kind, member.path);
            }
        }
        add(name.to_owned(), kind, Vec::new());
    }
    Columns {
        schema: Schema { fields },
        locations,
    }
}

/// What counts a branch's items: a branch's name, or words for one that another branch hides, because a name means the
/// first branch that has it. The lists that those words tie together are then a collection of their own.
fn counter(file: &TreeFile, index: usize) -> Option<Cow<'_, str>> {
    if let Some(name) = file.counter_name(index) {
        return Some(Cow::Borrowed(name));
    }
    let counter = file.counter(index)?;
    let names = file
        .tree()
        .branches
        .iter()
        .map(|branch| branch.name.trim_end_matches('.'));
    let name = names.clone().nth(counter)?;
    let before = names.take(counter).filter(|other| *other == name).count();
    let number = before.saturating_add(1);
    Some(Cow::Owned(format!("{name} (branch {number} of this name)")))
}

fn column_type(layout: &Layout, counter: Option<&str>, cpp_type: &str) -> ColumnType {
    known_type(layout, counter).unwrap_or_else(|| ColumnType::Other(cpp_type.to_owned()))
}

/// `None` if expressions cannot use such columns.
fn known_type(layout: &Layout, counter: Option<&str>) -> Option<ColumnType> {
    match layout {
        Layout::Number(_) | Layout::Bits => dtype(layout).map(ColumnType::Scalar),
        Layout::Array { item, len } => known_type(item, None)?.arrayed(*len),
        Layout::Counted { item, .. } => known_type(item, None)?.listed(counter.map(str::to_owned)),
        Layout::Vector { item, .. } => known_type(item, None)?.listed(None),
        Layout::String { .. } | Layout::CharStar => Some(ColumnType::Str),
        Layout::Record(_)
        | Layout::Object(_)
        | Layout::Pointer(_)
        | Layout::Clones(_)
        | Layout::Objects(_)
        | Layout::Absent { .. }
        | Layout::Sized { .. }
        | Layout::Unsupported { .. } => None,
    }
}

/// The type that a number is decoded to; `None` for anything else.
pub(crate) fn dtype(layout: &Layout) -> Option<DType> {
    let number = match layout {
        Layout::Number(number) => number,
        Layout::Bits => &Number::U32,
        _ => return None,
    };
    Some(match number {
        Number::Bool => DType::Bool,
        Number::I8 => DType::I8,
        Number::I16 => DType::I16,
        Number::I32 => DType::I32,
        Number::I64 => DType::I64,
        Number::U8 => DType::U8,
        Number::U16 => DType::U16,
        Number::U32 => DType::U32,
        Number::U64 => DType::U64,
        Number::F32 | Number::Float16(_) => DType::F32,
        Number::F64 | Number::Double32(_) => DType::F64,
    })
}
