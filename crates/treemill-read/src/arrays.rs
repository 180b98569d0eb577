//! Builds Arrow arrays from decoded pieces, for trees and RNTuples alike, and remembers their memory for the
//! next batch. Knows no layouts and no shapes: each format's decoder has its own growing column.

use crate::faults::{broken, mismatch};
use crate::memory::Spares;
use crate::offsets::held_offsets;
use arrow_array::{
    ArrayRef, ArrowPrimitiveType, BinaryArray, FixedSizeListArray, ListArray, PrimitiveArray,
    StructArray,
};
use arrow_buffer::{Buffer, ScalarBuffer};
use arrow_schema::{Field, Fields};
use std::sync::Arc;
use treemill_format::error::Result;

/// Numbers.
pub(crate) fn primitive<T: ArrowPrimitiveType>(
    values: Vec<T::Native>,
    spares: &mut Spares,
) -> ArrayRef {
    let values = ScalarBuffer::from(values);
    spares.hold(values.inner());
    Arc::new(PrimitiveArray::<T>::new(values, None))
}

/// Strings as bytes.
pub(crate) fn binary(offsets: Vec<i32>, bytes: Vec<u8>, spares: &mut Spares) -> Result<ArrayRef> {
    let offsets = held_offsets(offsets, spares)?;
    let bytes = Buffer::from_vec(bytes);
    spares.hold(&bytes);
    Ok(Arc::new(
        BinaryArray::try_new(offsets, bytes, None).map_err(broken)?,
    ))
}

/// Lists of the values that `items` gives. It is called after the offsets are held: columns ask for their memory
/// again in the order in which they were finished.
pub(crate) fn list(
    item: Field,
    offsets: Vec<i32>,
    items: impl FnOnce(&mut Spares) -> Result<ArrayRef>,
    spares: &mut Spares,
) -> Result<ArrayRef> {
    let offsets = held_offsets(offsets, spares)?;
    let values = items(spares)?;
    Ok(Arc::new(
        ListArray::try_new(Arc::new(item), offsets, values, None).map_err(broken)?,
    ))
}

/// Rows of `len` values each.
pub(crate) fn fixed_list(
    item: Field,
    len: impl TryInto<i32>,
    values: ArrayRef,
    rows: usize,
) -> Result<ArrayRef> {
    let len = len.try_into().map_err(|_| mismatch())?;
    let array = FixedSizeListArray::try_new_with_length(Arc::new(item), len, values, None, rows);
    Ok(Arc::new(array.map_err(broken)?))
}

/// Records of these members.
pub(crate) fn record(fields: Fields, members: Vec<ArrayRef>, rows: usize) -> Result<ArrayRef> {
    let array = StructArray::try_new_with_length(fields, members, None, rows);
    Ok(Arc::new(array.map_err(broken)?))
}
