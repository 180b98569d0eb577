//! Members of records, and of the records in lists however deep, as columns of their own: which there
//! are by an Arrow type, and how they come out of an array. Pure.

use crate::limits::MEMBER_DEPTH;
use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, ListArray};
use arrow_schema::{DataType, Field};
use std::sync::Arc;

/// A member: the names on the way to it, the places, and its type (in lists, that of the lists).
pub(crate) struct Member {
    pub(crate) name: String,
    pub(crate) path: Vec<usize>,
    pub(crate) kind: DataType,
    /// Whether it may be null, as objects behind pointers are: expressions cannot use it.
    pub(crate) is_nullable: bool,
}

/// All members of a record or of the records in lists, in lists of lists …, that are no records
/// themselves, or may be null.
pub(crate) fn members(kind: &DataType) -> Vec<Member> {
    let (lists, inner) = unlisted(kind);
    let DataType::Struct(fields) = inner else {
        return Vec::new();
    };
    let mut found = Vec::new();
    let mut stack: Vec<Member> = Vec::new();
    let push = |stack: &mut Vec<Member>, before: &str, path: &[usize], fields: &[Arc<Field>]| {
        for (place, field) in fields.iter().enumerate().rev() {
            if path.len() < MEMBER_DEPTH {
                stack.push(Member {
                    name: format!("{before}.{}", field.name()),
                    path: [path, &[place]].concat(),
                    kind: field.data_type().clone(),
                    is_nullable: field.is_nullable(),
                });
            }
        }
    };
    push(&mut stack, "", &[], fields);
    while let Some(member) = stack.pop() {
        match &member.kind {
            DataType::Struct(fields) if !member.is_nullable => {
                push(&mut stack, &member.name, &member.path, fields)
            }
            _ => found.push(member),
        }
    }
    for member in &mut found {
        for item in lists.iter().rev() {
            let inner = Field::new(item.name(), member.kind.clone(), false);
            member.kind = DataType::List(Arc::new(inner));
        }
    }
    found
}

/// Whether these are records, or records in lists, in lists of lists …
pub(crate) fn are_records(kind: &DataType) -> bool {
    matches!(unlisted(kind).1, DataType::Struct(_))
}

/// The lists around the innermost items, from outside in, and the items' type.
fn unlisted(kind: &DataType) -> (Vec<&Arc<Field>>, &DataType) {
    let mut lists = Vec::new();
    let mut inner = kind;
    while let DataType::List(item) = inner
        && !item.is_nullable()
    {
        lists.push(item);
        inner = item.data_type();
    }
    (lists, inner)
}

/// A member of an array of records, or of lists of them; `None` if the array is of another type.
pub(crate) fn member(array: &ArrayRef, path: &[usize]) -> Option<ArrayRef> {
    let Some((first, rest)) = path.split_first() else {
        return Some(Arc::clone(array));
    };
    if let Some(record) = array.as_struct_opt() {
        let found = record.columns().get(*first)?;
        return member(found, rest);
    }
    let list: &ListArray = array.as_list_opt()?;
    let values = member(list.values(), path)?;
    let item = Field::new("item", values.data_type().clone(), values.is_nullable());
    let made = ListArray::try_new(
        Arc::new(item),
        list.offsets().clone(),
        values,
        list.nulls().cloned(),
    );
    Some(Arc::new(made.ok()?))
}
