//! Adds nulls: from the items that are there to an array with a place for each missing one, for both decoders.
//! Pure.

use crate::faults::{broken, malformed, mismatch, too_many, unsupported};
use crate::limits::{MADE_UP, MADE_UP_PER_ROW};
use crate::offsets::offset_buffer;
use arrow_array::cast::AsArray;
use arrow_array::types::{
    Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type,
    UInt32Type, UInt64Type,
};
use arrow_array::{
    Array, ArrayRef, ArrowPrimitiveType, BinaryArray, BooleanArray, FixedSizeListArray, ListArray,
    NullArray, PrimitiveArray, StructArray, UnionArray,
};
use arrow_buffer::{BooleanBuffer, NullBuffer};
use arrow_schema::DataType;
use std::sync::Arc;
use treemill_format::error::Result;

/// An array with the values of `items`, in their order, where `present` is set, and nulls where it
/// is not. Below a null there are zeros, and nothing in lists. A union has no nulls of its own: its
/// child 0 stands for them.
///
/// # Errors
/// `Malformed` if `present` has not as many bits set as there are items; `Unsupported` if many more
/// values would be made up than there are.
pub(crate) fn expand(items: &ArrayRef, present: &BooleanBuffer) -> Result<ArrayRef> {
    if present.count_set_bits() != items.len() {
        return Err(malformed(
            0,
            "a column has another number of items than is announced",
        ));
    }
    let most = present.len().saturating_mul(MADE_UP_PER_ROW).max(MADE_UP);
    spread(items, present, Nesting { is_top: true, most })
}

/// How an array is nested: below the top, missing rows are not marked as null.
#[derive(Clone, Copy)]
struct Nesting {
    is_top: bool,
    /// Values that may be made up.
    most: usize,
}

/// Expands one level of [`expand`].
fn spread(items: &ArrayRef, present: &BooleanBuffer, nesting: Nesting) -> Result<ArrayRef> {
    if items.len() == present.len() {
        return Ok(Arc::clone(items));
    }
    let below = Nesting {
        is_top: false,
        ..nesting
    };
    let nulls = nulls(items.as_ref(), present, nesting.is_top);
    Ok(match items.data_type() {
        DataType::Int8 => numbers::<Int8Type>(items, present, nulls),
        DataType::UInt8 => numbers::<UInt8Type>(items, present, nulls),
        DataType::Int16 => numbers::<Int16Type>(items, present, nulls),
        DataType::UInt16 => numbers::<UInt16Type>(items, present, nulls),
        DataType::Int32 => numbers::<Int32Type>(items, present, nulls),
        DataType::UInt32 => numbers::<UInt32Type>(items, present, nulls),
        DataType::Int64 => numbers::<Int64Type>(items, present, nulls),
        DataType::UInt64 => numbers::<UInt64Type>(items, present, nulls),
        DataType::Float32 => numbers::<Float32Type>(items, present, nulls),
        DataType::Float64 => numbers::<Float64Type>(items, present, nulls),
        DataType::Boolean => {
            let mut values = items.as_boolean().values().iter();
            let spread: BooleanBuffer = present
                .iter()
                .map(|p| p && values.next().unwrap_or(false))
                .collect();
            Arc::new(BooleanArray::new(spread, nulls))
        }
        DataType::Binary => {
            let strings = items.as_binary::<i32>();
            let offsets = offset_buffer(spread_ends(strings.value_offsets(), present))?;
            Arc::new(
                BinaryArray::try_new(offsets, strings.values().clone(), nulls).map_err(broken)?,
            )
        }
        DataType::List(field) => {
            let lists = items.as_list::<i32>();
            let offsets = offset_buffer(spread_ends(lists.value_offsets(), present))?;
            let values = Arc::clone(lists.values());
            Arc::new(ListArray::try_new(Arc::clone(field), offsets, values, nulls).map_err(broken)?)
        }
        DataType::FixedSizeList(field, len) => {
            let n = usize::try_from(*len).map_err(|_| mismatch())?;
            let all = present.len().checked_mul(n).ok_or_else(too_many)?;
            let values = items.as_fixed_size_list().values();
            if all.saturating_sub(values.len()) > nesting.most {
                let what = format!("{all} values of missing arrays in one batch");
                return Err(unsupported(what));
            }
            let each: BooleanBuffer = present
                .iter()
                .flat_map(|p| std::iter::repeat_n(p, n))
                .collect();
            let values = spread(values, &each, below)?;
            Arc::new(
                FixedSizeListArray::try_new_with_length(
                    Arc::clone(field),
                    *len,
                    values,
                    nulls,
                    present.len(),
                )
                .map_err(broken)?,
            )
        }
        DataType::Struct(fields) => {
            let members = items.as_struct().columns().iter();
            let members = members
                .map(|m| spread(m, present, below))
                .collect::<Result<Vec<_>>>()?;
            Arc::new(
                StructArray::try_new_with_length(fields.clone(), members, nulls, present.len())
                    .map_err(broken)?,
            )
        }
        DataType::Union(..) => union(items, present)?,
        _ => return Err(mismatch()),
    })
}

/// The rows that hold a value: those that are there and were not null before.
fn nulls(items: &dyn Array, present: &BooleanBuffer, is_top: bool) -> Option<NullBuffer> {
    match items.nulls() {
        None => is_top.then(|| NullBuffer::new(present.clone())),
        Some(before) => {
            let mut before = before.iter();
            let valid: BooleanBuffer = present
                .iter()
                .map(|p| {
                    if p {
                        before.next().unwrap_or(false)
                    } else {
                        !is_top
                    }
                })
                .collect();
            Some(NullBuffer::new(valid))
        }
    }
}

fn numbers<T: ArrowPrimitiveType>(
    items: &ArrayRef,
    present: &BooleanBuffer,
    nulls: Option<NullBuffer>,
) -> ArrayRef {
    let mut values = items.as_primitive::<T>().values().iter().copied();
    let spread: Vec<T::Native> = present
        .iter()
        .map(|p| {
            if p {
                values.next().unwrap_or_default()
            } else {
                T::Native::default()
            }
        })
        .collect();
    Arc::new(PrimitiveArray::<T>::new(spread.into(), nulls))
}

/// Offsets with an empty list where an item is missing.
fn spread_ends(offsets: &[i32], present: &BooleanBuffer) -> Vec<i32> {
    let mut ends = offsets.iter().copied();
    let mut last = ends.next().unwrap_or(0);
    let mut spread = Vec::with_capacity(present.len().saturating_add(1));
    spread.push(last);
    for p in present {
        if p {
            last = ends.next().unwrap_or(last);
        }
        spread.push(last);
    }
    spread
}

fn union(items: &ArrayRef, present: &BooleanBuffer) -> Result<ArrayRef> {
    let (fields, tags, offsets, mut children) = items.as_union().clone().into_parts();
    let offsets = offsets.ok_or_else(mismatch)?;
    let mut before = tags.iter().zip(offsets.iter());
    let mut none = 0_i32;
    let mut spread_tags = Vec::with_capacity(present.len());
    let mut spread_offsets = Vec::with_capacity(present.len());
    for p in present {
        let (&tag, &offset) = if p {
            before.next().unwrap_or((&0, &0))
        } else {
            (&0, &0)
        };
        spread_tags.push(tag);
        if tag == 0 {
            spread_offsets.push(none);
            none = none.checked_add(1).ok_or_else(too_many)?;
        } else {
            spread_offsets.push(offset);
        }
    }
    if let Some(first) = children.first_mut() {
        *first = Arc::new(NullArray::new(usize::try_from(none).unwrap_or(0)));
    }
    UnionArray::try_new(
        fields,
        spread_tags.into(),
        Some(spread_offsets.into()),
        children,
    )
    .map(|array| Arc::new(array) as ArrayRef)
    .map_err(broken)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use arrow_schema::Field;
    use treemill_format::error::FormatError;

    /// `rows` rows without their arrays of `len` floats.
    fn missing(rows: usize, len: i32) -> Result<ArrayRef> {
        let floats: ArrayRef = Arc::new(PrimitiveArray::<Float32Type>::from(Vec::<f32>::new()));
        let field = Arc::new(Field::new("item", DataType::Float32, false));
        let none = FixedSizeListArray::try_new(field, len, floats, None).unwrap();
        let none: ArrayRef = Arc::new(none);
        expand(&none, &BooleanBuffer::new_unset(rows))
    }

    #[test]
    fn missing_arrays_are_as_many_values_as_can_be_believed() {
        for (rows, len) in [(10, 3), (100_000, 16), (100, 10_000)] {
            let array = missing(rows, len).unwrap();
            assert_eq!((array.len(), array.null_count()), (rows, rows));
        }
        for (rows, len) in [(1_000_000, 1000), (1, 1 << 30), (40, i32::MAX)] {
            let error = missing(rows, len).unwrap_err();
            assert!(matches!(error, FormatError::Unsupported { .. }), "{error}");
        }
    }
}
