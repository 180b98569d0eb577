//! Arrow arrays in the form that queries take: lists with 32-bit offsets, nulls of a number's type. Pure.

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, FixedSizeListArray, Float64Array, LargeListArray, ListArray};
use arrow_buffer::{NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow_schema::{ArrowError, DataType, FieldRef};
use std::sync::Arc;

/// Brings values into that form. Error: lists whose items are too many for it.
pub(crate) fn plain(array: ArrayRef) -> Result<ArrayRef, ArrowError> {
    match array.data_type() {
        DataType::Null => Ok(Arc::new(Float64Array::new_null(array.len()))),
        DataType::LargeList(item) => short_list(item, array.as_list::<i64>()),
        DataType::FixedSizeList(item, len) if item.data_type().is_nested() => {
            let list = array.as_fixed_size_list();
            let values = plain(Arc::clone(list.values()))?;
            let item = like(item, &values);
            let made = FixedSizeListArray::try_new(item, *len, values, list.nulls().cloned());
            Ok(Arc::new(made?))
        }
        DataType::List(item) if item.data_type().is_nested() => {
            let list = array.as_list::<i32>();
            let values = plain(Arc::clone(list.values()))?;
            list_of(item, list.offsets().clone(), values, list.nulls().cloned())
        }
        _ => Ok(array),
    }
}

fn short_list(item: &FieldRef, list: &LargeListArray) -> Result<ArrayRef, ArrowError> {
    let first = list.offsets().first();
    let last = list.offsets().last();
    let items = usize::try_from(last.saturating_sub(first)).unwrap_or(usize::MAX);
    let short = |offset: &i64| i32::try_from(offset.saturating_sub(first));
    let offsets: Result<Vec<i32>, _> = list.offsets().iter().map(short).collect();
    let offsets = offsets.map_err(|_| ArrowError::OffsetOverflowError(items))?;
    let from = usize::try_from(first).unwrap_or(usize::MAX);
    let values = plain(list.values().slice(from, items))?;
    let offsets = OffsetBuffer::new(ScalarBuffer::from(offsets));
    list_of(item, offsets, values, list.nulls().cloned())
}

/// A list of values that may be of another form than the item's field says.
fn list_of(
    item: &FieldRef,
    offsets: OffsetBuffer<i32>,
    values: ArrayRef,
    nulls: Option<NullBuffer>,
) -> Result<ArrayRef, ArrowError> {
    let item = like(item, &values);
    Ok(Arc::new(ListArray::try_new(item, offsets, values, nulls)?))
}

/// The field of items that may be of another form than it says.
fn like(item: &FieldRef, values: &ArrayRef) -> FieldRef {
    let kind = values.data_type().clone();
    Arc::new(item.as_ref().clone().with_data_type(kind))
}
