//! Which Arrow type a layout is decoded to.

use crate::faults::unsupported;
use arrow_schema::{DataType, Field, Fields};
use std::collections::HashMap;
use std::sync::Arc;
use treemill_format::error::Result;
use treemill_format::layout::{Layout, Number, Object, Part};

/// Key of the metadata of fields that hold text: ROOT stores bytes without an encoding, so they
/// are decoded to `Binary`, and marked.
pub const STRING_KEY: &str = "treemill.string";

/// The Arrow type that a branch of this layout is decoded to. Nothing but pointers is nullable.
///
/// # Errors
/// `Unsupported` by name for layouts that cannot be read.
pub fn arrow_type(layout: &Layout) -> Result<DataType> {
    Ok(match layout {
        Layout::Number(number) => number_type(*number),
        Layout::Array { item, len } => {
            let len =
                i32::try_from(*len).map_err(|_| unsupported("an array of 2^31 items or more"))?;
            DataType::FixedSizeList(Arc::new(field("item", item)?), len)
        }
        Layout::Counted { item, .. } | Layout::Vector { item, .. } => {
            DataType::List(Arc::new(field("item", item)?))
        }
        Layout::String { .. } | Layout::CharStar => DataType::Binary,
        Layout::Record(members) if members.is_empty() => {
            return Err(unsupported("a branch without data of its own"));
        }
        Layout::Record(members) => DataType::Struct(
            members
                .iter()
                .map(|(name, member)| field(name, member))
                .collect::<Result<Fields>>()?,
        ),
        Layout::Object(object) => {
            let mut fields = Vec::new();
            object_fields(object, &mut fields)?;
            DataType::Struct(fields.into())
        }
        Layout::Pointer(pointer) => arrow_type(&pointer.to)?,
        Layout::Objects(objects) => DataType::List(Arc::new(field("item", &objects.item)?)),
        Layout::Clones(clones) => DataType::List(Arc::new(field("item", &clones.item)?)),
        // Nothing is known of such an item.
        Layout::Absent { .. } => DataType::Struct(Fields::empty()),
        Layout::Sized { item, .. } => DataType::List(Arc::new(field("item", item)?)),
        Layout::Bits => DataType::UInt32,
        Layout::Unsupported { reason } => return Err(unsupported(reason)),
    })
}

/// The Arrow field of a branch: its type, and whether it is text.
///
/// # Errors
/// As [`arrow_type`].
pub fn field(name: &str, layout: &Layout) -> Result<Field> {
    // Which no array can be given to Python with.
    if name.contains('\0') {
        return Err(unsupported("a member whose name has a zero byte"));
    }
    let is_nullable = matches!(layout, Layout::Pointer(_));
    let field = Field::new(name, arrow_type(layout)?, is_nullable);
    Ok(match layout {
        Layout::String { .. } | Layout::CharStar => {
            field.with_metadata(HashMap::from([(STRING_KEY.to_owned(), "true".to_owned())]))
        }
        _ => field,
    })
}

/// An object's fields, with those of its bases first.
fn object_fields(object: &Object, fields: &mut Vec<Field>) -> Result<()> {
    for part in &object.parts {
        match part {
            Part::Field(name, layout) => fields.push(field(name, layout)?),
            Part::Base(base) => object_fields(base, fields)?,
            Part::Hidden(_) => {}
        }
    }
    Ok(())
}

fn number_type(number: Number) -> DataType {
    match number {
        Number::Bool => DataType::Boolean,
        Number::I8 => DataType::Int8,
        Number::I16 => DataType::Int16,
        Number::I32 => DataType::Int32,
        Number::I64 => DataType::Int64,
        Number::U8 => DataType::UInt8,
        Number::U16 => DataType::UInt16,
        Number::U32 => DataType::UInt32,
        Number::U64 => DataType::UInt64,
        Number::F32 | Number::Float16(_) => DataType::Float32,
        Number::F64 | Number::Double32(_) => DataType::Float64,
    }
}
