//! Arrow arrays to values and offsets, checked against the schema.

use crate::schema::{ColumnType, DType, Field};
use crate::value::{Buf, Data, Strings, Value, View};
use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type,
    UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef, FixedSizeListArray, ListArray};
use arrow_buffer::NullBuffer;

/// A column of a batch: its items, and for lists their offsets, starting at 0.
pub(crate) struct Loaded {
    pub value: Value,
    pub offsets: Option<Buf<i32>>,
    /// Offsets of the inner lists of lists in lists, the outer ones' first. Arrays have none.
    pub inner: Vec<Buf<i32>>,
}

/// Error: in what the array differs from what was promised.
pub(crate) fn load(array: &ArrayRef, field: &Field, rows: usize) -> Result<Loaded, String> {
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
        ColumnType::List { item, .. } => listed(array, *item, &[None])?,
        ColumnType::Lists { item, below, .. } => {
            let lengths: Vec<Option<u32>> =
                std::iter::once(None).chain(below.iter().copied()).collect();
            listed(array, *item, &lengths)?
        }
        ColumnType::Array { item, len } => arrays_of(array, *item, &[Some(*len)])?,
        ColumnType::Arrays { item, len, below } => {
            let lengths: Vec<Option<u32>> = std::iter::once(Some(*len))
                .chain(below.iter().copied())
                .collect();
            arrays_of(array, *item, &lengths)?
        }
        ColumnType::Other(name) => return Err(format!("its type is {name}")),
    };
    // The compiler has made no provision for these.
    let has_nulls = loaded.value.valid.is_some() || array.null_count() > 0;
    if has_nulls && !field.nullable {
        return Err("it has missing values, which its type does not allow".to_owned());
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

/// Lists, the outermost of any length.
fn listed(array: &ArrayRef, item: DType, lengths: &[Option<u32>]) -> Result<Loaded, String> {
    let (value, mut offsets) = nested(array, item, lengths)?;
    let inner = offsets.split_off(1.min(offsets.len()));
    Ok(Loaded {
        value,
        offsets: offsets.pop(),
        inner,
    })
}

/// Arrays of a number of items that is known.
fn arrays_of(array: &ArrayRef, item: DType, lengths: &[Option<u32>]) -> Result<Loaded, String> {
    let (value, inner) = nested(array, item, lengths)?;
    Ok(Loaded {
        value,
        offsets: None,
        inner,
    })
}

/// The items of lists and arrays one in the other, and the offsets of the lists among them, from
/// outside in.
fn nested(
    array: &ArrayRef,
    item: DType,
    lengths: &[Option<u32>],
) -> Result<(Value, Vec<Buf<i32>>), String> {
    let Some((length, below)) = lengths.split_first() else {
        return Ok((numbers(array, item)?, Vec::new()));
    };
    let Some(len) = length else {
        let list: &ListArray = array.as_list_opt().ok_or_else(|| unlike(array))?;
        return lists(list, item, below);
    };
    let list: &FixedSizeListArray = array
        .as_fixed_size_list_opt()
        .ok_or_else(|| unlike(array))?;
    if i64::from(list.value_length()) != i64::from(*len) {
        return Err(format!("its arrays have {} items", list.value_length()));
    }
    if below.is_empty() {
        return Ok((arrays(list, item)?, Vec::new()));
    }
    if list.null_count() > 0 {
        return Err("it has arrays of lists that are null".to_owned());
    }
    nested(list.values(), item, below)
}

fn lists(
    list: &ListArray,
    item: DType,
    below: &[Option<u32>],
) -> Result<(Value, Vec<Buf<i32>>), String> {
    let offsets = list.offsets();
    let (first, last) = (offsets.first(), offsets.last());
    // Arrow checks that offsets ascend and lie inside of the values.
    let (start, stop) = (first.max(0) as usize, last.max(0) as usize);
    let values = if start == 0 && stop == list.values().len() {
        list.values().clone()
    } else {
        list.values().slice(start, stop - start)
    };
    let (value, mut inner) = nested(&values, item, below)?;
    // Most null lists have no items anyway.
    let is_full = |(ends, present): (&[i32], bool)| !present && ends[0] != ends[1];
    let nulls = list.nulls().filter(|nulls| nulls.null_count() > 0);
    if let Some(nulls) = nulls
        && offsets.windows(2).zip(nulls).any(is_full)
    {
        if !below.is_empty() {
            return Err("it has lists of lists that are null".to_owned());
        }
        let (value, offsets) = without_nulls(value, offsets, nulls);
        return Ok((value, vec![offsets]));
    }
    let offsets = if first == 0 {
        Buf::Column(offsets.inner().clone())
    } else {
        let moved: Vec<i32> = offsets.iter().map(|offset| offset - first).collect();
        moved.into()
    };
    inner.insert(0, offsets);
    Ok((value, inner))
}

/// Lists that are null have no items, whatever lies where they would be.
fn without_nulls(value: Value, offsets: &[i32], nulls: &NullBuffer) -> (Value, Buf<i32>) {
    let first = offsets.first().copied().unwrap_or(0);
    let mut kept: Vec<i32> = Vec::with_capacity(offsets.len());
    let mut selection_vector: Vec<u32> = Vec::with_capacity(value.len());
    kept.push(0);
    for (ends, present) in offsets.windows(2).zip(nulls) {
        if present {
            selection_vector.extend((ends[0] - first) as u32..(ends[1] - first) as u32);
        }
        kept.push(selection_vector.len() as i32);
    }
    let valid = value.valid.as_ref().map(|valid| {
        let flags: Vec<u8> = selection_vector
            .iter()
            .map(|taken| valid[*taken as usize])
            .collect();
        flags.into()
    });
    let value = Value {
        data: value.data,
        view: View::Selected(selection_vector.into()),
        valid,
    };
    (value, kept.into())
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

/// 1 at each position where there is a value; `None` if there is one everywhere.
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
