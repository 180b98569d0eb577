//! A tree's branches as the query compiler sees them: columns with types.

use crate::arrow_types::column_type as arrow_type;
use crate::columns::{Columns, Location};
use crate::members::members;
use treemill_format::layout::{Layout, Number};
use treemill_query::{ColumnType, DType, Field, Schema};
use treemill_read::TreeFile;

/// The columns of a tree. Members of leaf lists and objects are `branch.member`.
pub(crate) fn columns(file: &TreeFile) -> Columns {
    let tree = file.tree();
    let mut fields = Vec::with_capacity(tree.branches.len());
    let mut locations = Vec::with_capacity(tree.branches.len());
    for (index, branch) in tree.branches.iter().enumerate() {
        let names: Vec<&str> = names(file, index).collect();
        let counter = file
            .counter(index)
            .and_then(|counter| self::names(file, counter).next());
        let mut add = |member: &str, kind: ColumnType, path| {
            let mut names = names.iter().map(|name| format!("{name}{member}"));
            let name = names.next().unwrap_or_default();
            fields.push(Field::new(name, kind).also(names));
            locations.push(Location {
                branch: index,
                member: path,
            });
        };
        let kind = column_type(&branch.layout, counter, &branch.cpp_type);
        if let (ColumnType::Other(_), Ok(field)) = (&kind, file.arrow_field(index)) {
            let usable = members(field.data_type()).into_iter();
            for member in usable.filter(|member| !member.is_nullable) {
                let kind = arrow_type(&member.kind, counter.map(str::to_owned));
                add(&member.name, kind, member.path);
            }
        }
        add("", kind, Vec::new());
    }
    let owned = |names: Vec<&str>| names.into_iter().map(str::to_owned).collect();
    let shared = file.shared_names().into_iter();
    let shared = shared.map(|(name, sharing)| (name.to_owned(), owned(sharing)));
    Columns {
        schema: Schema {
            fields,
            shared: shared.collect(),
        },
        locations,
    }
}

/// The names of a branch without a trailing dot, which as in ROOT belongs to the members' names, not to the branch's.
fn names(file: &TreeFile, index: usize) -> impl Iterator<Item = &str> {
    file.names(index).filter(|name| !name.ends_with('.'))
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
