//! Which Arrow type a field of an RNTuple is decoded to: the structure that uproot gives it.

use crate::decode::STRING_KEY;
use crate::faults::unsupported;
use arrow_schema::{DataType, Field, Fields, UnionFields};
use std::collections::HashMap;
use std::sync::Arc;
use treemill_format::error::Result;
use treemill_format::rntuple::{Native, Shape};

/// Key of the metadata of fields that hold `std::pair` or `std::tuple`: structs whose members are
/// called 0, 1, ….
pub const TUPLE_KEY: &str = "treemill.tuple";

/// The Arrow type that a field of this shape is decoded to.
///
/// - text is `Binary`, marked with [`STRING_KEY`], as in trees;
/// - `std::optional<T>` is a `T` that may be null (see [`field`]); nothing else has nulls;
/// - `std::variant` is a dense union, whose child 0 (of type null) stands for no alternative, and
///   child k for alternative k;
/// - `Double32_t`, and other doubles stored with less, are `Float32` unless that loses something.
///
/// # Errors
/// `Unsupported` if Arrow has no such type.
pub fn arrow_type(shape: &Shape) -> Result<DataType> {
    Ok(match shape {
        Shape::Number { native, .. } => number_type(*native),
        Shape::Cardinality { is_wide: true, .. } => DataType::Int64,
        Shape::Cardinality { is_wide: false, .. } => DataType::Int32,
        Shape::String { .. } => DataType::Binary,
        Shape::List { item, .. } => DataType::List(Arc::new(field("item", item)?)),
        Shape::Optional { item, .. } => arrow_type(item)?,
        Shape::Array { len, item } => {
            let len =
                i32::try_from(*len).map_err(|_| unsupported("an array of 2^31 items or more"))?;
            DataType::FixedSizeList(Arc::new(field("item", item)?), len)
        }
        Shape::Record { members, .. } => DataType::Struct(member_fields(members)?),
        Shape::Variant { alternatives, .. } => DataType::Union(
            alternative_fields(alternatives)?,
            arrow_schema::UnionMode::Dense,
        ),
    })
}

/// The Arrow field of an RNTuple's field: its type, whether it may be null, and whether it is text
/// or a tuple.
///
/// # Errors
/// As [`arrow_type`].
pub fn field(name: &str, shape: &Shape) -> Result<Field> {
    let (inner, is_nullable) = match shape {
        Shape::Optional { item, .. } => (item.as_ref(), true),
        // A union has no nulls of its own, but Arrow counts those of its children.
        Shape::Variant { .. } => (shape, true),
        shape => (shape, false),
    };
    let mark = |key: &str| HashMap::from([(key.to_owned(), "true".to_owned())]);
    let field = Field::new(name, arrow_type(inner)?, is_nullable);
    Ok(match inner {
        Shape::String { .. } => field.with_metadata(mark(STRING_KEY)),
        Shape::Record { is_tuple: true, .. } => field.with_metadata(mark(TUPLE_KEY)),
        _ => field,
    })
}

/// The fields of a struct.
pub(super) fn member_fields(members: &[(String, Shape)]) -> Result<Fields> {
    members
        .iter()
        .map(|(name, member)| field(name, member))
        .collect()
}

/// The fields of a union: none of the alternatives, then these.
pub(super) fn alternative_fields(alternatives: &[Shape]) -> Result<UnionFields> {
    let none = Ok(Field::new("none", DataType::Null, true));
    let fields = alternatives
        .iter()
        .enumerate()
        .map(|(i, shape)| field(&format!("{i}"), shape));
    let fields = std::iter::once(none)
        .chain(fields)
        .collect::<Result<Vec<_>>>()?;
    UnionFields::try_from_fields(fields)
        .map_err(|_| unsupported("a variant of 128 alternatives or more"))
}

fn number_type(native: Native) -> DataType {
    match native {
        Native::Bool => DataType::Boolean,
        Native::I8 => DataType::Int8,
        Native::U8 => DataType::UInt8,
        Native::I16 => DataType::Int16,
        Native::U16 => DataType::UInt16,
        Native::I32 => DataType::Int32,
        Native::U32 => DataType::UInt32,
        Native::I64 => DataType::Int64,
        Native::U64 => DataType::UInt64,
        Native::F32 => DataType::Float32,
        Native::F64 => DataType::Float64,
    }
}
