//! Arrow arrays to values and offsets, checked against what the schema promised.

use crate::schema::{ColumnType, DType};
use crate::value::{Buf, Data, Strings, Value};
use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type,
    UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef, FixedSizeListArray, ListArray};

/// A column of a batch: its items, and for lists their offsets, starting at 0.
pub(crate) struct Loaded {
    pub value: Value,
    pub offsets: Option<Buf<i32>>,
}

/// Error: in what the array differs from what was promised.
pub(crate) fn load(array: &ArrayRef, expected: &ColumnType, rows: usize) -> Result<Loaded, String> {
    if array.len() != rows {
        return Err(format!("it has {} entries instead of {rows}", array.len()));
    }
    if array.null_count() > 0 {
        return Err("it has missing values, which are not supported yet".to_owned());
    }
    let single = |value| Loaded {
        value,
        offsets: None,
    };
    match expected {
        ColumnType::Scalar(item) => numbers(array, *item).map(single),
        ColumnType::Str => Strings::from_arrow(array)
            .map(|strings| single(Value::direct(Data::Str(strings))))
            .ok_or_else(|| unlike(array)),
        ColumnType::List { item, .. } => {
            let list: &ListArray = array.as_list_opt().ok_or_else(|| unlike(array))?;
            lists(list, *item)
        }
        ColumnType::Array { item, len } => {
            let list: &FixedSizeListArray = array
                .as_fixed_size_list_opt()
                .ok_or_else(|| unlike(array))?;
            if i64::from(list.value_length()) != i64::from(*len) {
                return Err(format!("its arrays have {} items", list.value_length()));
            }
            numbers(list.values(), *item).map(single)
        }
        ColumnType::Other(name) => Err(format!("its type is {name}")),
    }
}

fn unlike(array: &ArrayRef) -> String {
    format!("it came as {}", array.data_type())
}

fn lists(list: &ListArray, item: DType) -> Result<Loaded, String> {
    let offsets = list.offsets();
    let (first, last) = (offsets.first(), offsets.last());
    // Arrow checks that offsets ascend and lie inside of the values.
    let (start, stop) = (first.max(0) as usize, last.max(0) as usize);
    let values = if start == 0 && stop == list.values().len() {
        list.values().clone()
    } else {
        list.values().slice(start, stop - start)
    };
    let offsets = if first == 0 {
        Buf::Column(offsets.inner().clone())
    } else {
        let moved: Vec<i32> = offsets.iter().map(|offset| offset - first).collect();
        moved.into()
    };
    Ok(Loaded {
        value: numbers(&values, item)?,
        offsets: Some(offsets),
    })
}

fn numbers(array: &ArrayRef, item: DType) -> Result<Value, String> {
    if array.null_count() > 0 {
        return Err("it has missing values, which are not supported yet".to_owned());
    }
    let data = match item {
        DType::Bool => {
            let bools = array.as_boolean_opt().ok_or_else(|| unlike(array))?;
            let bytes: Vec<u8> = bools.values().iter().map(u8::from).collect();
            Data::Bool(bytes.into())
        }
        DType::I8 => Data::I8(buffer::<Int8Type>(array)?),
        DType::I16 => Data::I16(buffer::<Int16Type>(array)?),
        DType::I32 => Data::I32(buffer::<Int32Type>(array)?),
        DType::I64 => Data::I64(buffer::<Int64Type>(array)?),
        DType::U8 => Data::U8(buffer::<UInt8Type>(array)?),
        DType::U16 => Data::U16(buffer::<UInt16Type>(array)?),
        DType::U32 => Data::U32(buffer::<UInt32Type>(array)?),
        DType::U64 => Data::U64(buffer::<UInt64Type>(array)?),
        DType::F32 => Data::F32(buffer::<Float32Type>(array)?),
        DType::F64 => Data::F64(buffer::<Float64Type>(array)?),
    };
    Ok(Value::direct(data))
}

fn buffer<T: ArrowPrimitiveType>(array: &ArrayRef) -> Result<Buf<T::Native>, String> {
    let primitive = array.as_primitive_opt::<T>().ok_or_else(|| unlike(array))?;
    Ok(Buf::Column(primitive.values().clone()))
}
