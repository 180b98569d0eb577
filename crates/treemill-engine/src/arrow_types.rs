//! What queries make of Arrow's types. Pure.

use arrow_schema::DataType;
use treemill_query::{ColumnType, DType};

/// The type of a column of such values; `counter` is the column that counts a list's items.
pub(crate) fn column_type(arrow: &DataType, counter: Option<String>) -> ColumnType {
    let other = || ColumnType::Other(arrow.to_string());
    match arrow {
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Binary | DataType::LargeBinary => {
            ColumnType::Str
        }
        DataType::List(item) | DataType::LargeList(item) if !item.data_type().is_null() => {
            let listed = column_type(item.data_type(), None).listed(counter);
            listed.unwrap_or_else(other)
        }
        DataType::FixedSizeList(item, len) => {
            let len = u32::try_from(*len).ok();
            let arrayed = len.and_then(|len| column_type(item.data_type(), None).arrayed(len));
            arrayed.unwrap_or_else(other)
        }
        DataType::Null => ColumnType::Scalar(DType::F64),
        _ => dtype(arrow).map_or_else(other, ColumnType::Scalar),
    }
}

fn dtype(arrow: &DataType) -> Option<DType> {
    Some(match arrow {
        DataType::Boolean => DType::Bool,
        DataType::Int8 => DType::I8,
        DataType::Int16 => DType::I16,
        DataType::Int32 => DType::I32,
        DataType::Int64 => DType::I64,
        DataType::UInt8 => DType::U8,
        DataType::UInt16 => DType::U16,
        DataType::UInt32 => DType::U32,
        DataType::UInt64 => DType::U64,
        DataType::Float32 => DType::F32,
        DataType::Float64 => DType::F64,
        _ => return None,
    })
}
