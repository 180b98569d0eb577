//! Arrow arrays to values and offsets, checked against what the schema promised.

use crate::schema::{self, ColumnType, DType};
use crate::value::{Buf, Data, Strings, Value, View};
use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type,
    UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef, FixedSizeListArray, ListArray};
use arrow_buffer::{NullBuffer, OffsetBuffer};
use arrow_schema::Field;
use std::borrow::Cow;
use std::sync::Arc;

/// A column of a batch: its items, and for lists their offsets, starting at 0.
pub(crate) struct Loaded {
    pub value: Value,
    pub offsets: Option<Buf<i32>>,
    /// Of lists of lists: offsets of the inner ones, the outer ones' first.
    pub inner: Vec<Buf<i32>>,
}

/// Error: in what the array differs from what was promised.
pub(crate) fn load(array: &ArrayRef, field: &schema::Field, rows: usize) -> Result<Loaded, String> {
    if array.len() != rows {
        return Err(format!("it has {} entries instead of {rows}", array.len()));
    }
    let loaded = match &field.column_type {
        ColumnType::Scalar(item) => single(numbers(array, *item)?),
        ColumnType::Str => {
            let strings = Strings::from_arrow(array).ok_or_else(|| unlike(array))?;
            single(Value {
                valid: flags(array.nulls()),
                ..Value::direct(Data::Str(strings))
            })
        }
        ColumnType::List { item, .. } => {
            let list: &ListArray = array.as_list_opt().ok_or_else(|| unlike(array))?;
            lists(list, *item)?
        }
        ColumnType::Lists { item, below, .. } => {
            lists_of_lists(as_list(array)?.as_ref(), *item, *below)?
        }
        ColumnType::Array { item, len } => {
            let list: &FixedSizeListArray = array
                .as_fixed_size_list_opt()
                .ok_or_else(|| unlike(array))?;
            if i64::from(list.value_length()) != i64::from(*len) {
                return Err(format!("its arrays have {} items", list.value_length()));
            }
            single(arrays(list, *item)?)
        }
        ColumnType::Other(name) => return Err(format!("its type is {name}")),
    };
    // The compiler has made no provision for these.
    let has_nulls = loaded.value.valid.is_some() || array.null_count() > 0;
    if has_nulls && !field.nullable {
        return Err("it has missing values, which its type has none of".to_owned());
    }
    Ok(loaded)
}

fn single(value: Value) -> Loaded {
    Loaded {
        value,
        offsets: None,
        inner: Vec::new(),
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
    let value = numbers(&values, item)?;
    if let Some(nulls) = list.nulls().filter(|nulls| nulls.null_count() > 0) {
        return Ok(without_nulls(value, offsets, nulls));
    }
    let offsets = if first == 0 {
        Buf::Column(offsets.inner().clone())
    } else {
        let moved: Vec<i32> = offsets.iter().map(|offset| offset - first).collect();
        moved.into()
    };
    Ok(Loaded {
        value,
        offsets: Some(offsets),
        inner: Vec::new(),
    })
}

fn lists_of_lists(list: &ListArray, item: DType, below: u8) -> Result<Loaded, String> {
    let Some(below) = below.checked_sub(1) else {
        return lists(list, item);
    };
    if list.null_count() > 0 {
        return Err("it has lists of lists that are null".to_owned());
    }
    let offsets = list.offsets();
    let (first, last) = (offsets.first(), offsets.last());
    let (start, stop) = (first.max(0) as usize, last.max(0) as usize);
    let inner = list.values().slice(start, stop - start);
    let loaded = lists_of_lists(as_list(&inner)?.as_ref(), item, below)?;
    let moved: Vec<i32> = offsets.iter().map(|offset| offset - first).collect();
    Ok(Loaded {
        value: loaded.value,
        offsets: Some(moved.into()),
        inner: loaded.offsets.into_iter().chain(loaded.inner).collect(),
    })
}

/// A list array as it is; one of fixed size with offsets, as lists in lists have them.
fn as_list(array: &ArrayRef) -> Result<Cow<'_, ListArray>, String> {
    if let Some(list) = array.as_list_opt() {
        return Ok(Cow::Borrowed(list));
    }
    let fixed: &FixedSizeListArray = array
        .as_fixed_size_list_opt()
        .ok_or_else(|| unlike(array))?;
    if fixed.null_count() > 0 {
        return Err("it has arrays in lists that are null".to_owned());
    }
    let len = usize::try_from(fixed.value_length()).unwrap_or(0);
    // Checked here, because the sum of equal lengths panics where 32 bits are too few.
    if i32::try_from(fixed.values().len()).is_err() {
        return Err("it has more items than 32 bits can count".to_owned());
    }
    let offsets = OffsetBuffer::from_lengths(std::iter::repeat_n(len, fixed.len()));
    let item = Field::new("item", fixed.value_type(), fixed.values().is_nullable());
    let made = ListArray::try_new(Arc::new(item), offsets, Arc::clone(fixed.values()), None);
    made.map(Cow::Owned).map_err(|error| error.to_string())
}

/// Lists that are null have no items, whatever lies where they would be.
fn without_nulls(value: Value, offsets: &[i32], nulls: &NullBuffer) -> Loaded {
    let first = offsets.first().copied().unwrap_or(0);
    let mut kept: Vec<i32> = Vec::with_capacity(offsets.len());
    let mut picks: Vec<u32> = Vec::with_capacity(value.len());
    kept.push(0);
    for (ends, present) in offsets.windows(2).zip(nulls) {
        if present {
            picks.extend((ends[0] - first) as u32..(ends[1] - first) as u32);
        }
        kept.push(picks.len() as i32);
    }
    let valid = value.valid.as_ref().map(|valid| {
        let flags: Vec<u8> = picks.iter().map(|pick| valid[*pick as usize]).collect();
        flags.into()
    });
    Loaded {
        value: Value {
            data: value.data,
            view: View::Picked(picks.into()),
            valid,
        },
        offsets: Some(kept.into()),
        inner: Vec::new(),
    }
}

/// Items of arrays of one length; those of an array that is null are missing.
fn arrays(list: &FixedSizeListArray, item: DType) -> Result<Value, String> {
    let mut value = numbers(list.values(), item)?;
    if let Some(outer) = flags(list.nulls()) {
        let len = list.value_length().max(0) as usize;
        let mut all: Vec<u8> = Vec::with_capacity(value.len());
        for flag in outer.iter() {
            all.extend(std::iter::repeat_n(*flag, len));
        }
        if let Some(inner) = &value.valid {
            for (flag, inner) in all.iter_mut().zip(inner.iter()) {
                *flag &= inner;
            }
        }
        value.valid = Some(all.into());
    }
    Ok(value)
}

/// Per position 1 where there is a value; `None` where there is one everywhere.
fn flags(nulls: Option<&NullBuffer>) -> Option<Buf<u8>> {
    let nulls = nulls.filter(|nulls| nulls.null_count() > 0)?;
    let flags: Vec<u8> = nulls.iter().map(u8::from).collect();
    Some(flags.into())
}

fn numbers(array: &ArrayRef, item: DType) -> Result<Value, String> {
    let data = match item {
        DType::Bool => {
            if let Ok(bytes) = buffer::<UInt8Type>(array) {
                Data::Bool(bytes)
            } else {
                let bools = array.as_boolean_opt().ok_or_else(|| unlike(array))?;
                let bytes: Vec<u8> = bools.values().iter().map(u8::from).collect();
                Data::Bool(bytes.into())
            }
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
        DType::Str => Data::Str(Strings::from_arrow(array).ok_or_else(|| unlike(array))?),
    };
    Ok(Value {
        valid: flags(array.nulls()),
        ..Value::direct(data)
    })
}

fn buffer<T: ArrowPrimitiveType>(array: &ArrayRef) -> Result<Buf<T::Native>, String> {
    let primitive = array.as_primitive_opt::<T>().ok_or_else(|| unlike(array))?;
    Ok(Buf::Column(primitive.values().clone()))
}
