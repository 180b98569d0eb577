//! Columns made from nodes that Python has put together of NumPy's arrays: the way back from
//! [`crate::nodes`]. Numbers are copied; what does not fit together is an error, never a panic.

use arrow_array::types::{self, ArrowPrimitiveType};
use arrow_array::{
    Array, ArrayRef, BooleanArray, FixedSizeListArray, GenericBinaryArray, GenericListArray,
    Int64Array, NullArray, OffsetSizeTrait, PrimitiveArray, StructArray,
};
use arrow_buffer::{BooleanBuffer, Buffer, MutableBuffer, OffsetBuffer, ScalarBuffer};
use arrow_schema::{ArrowError, Field, FieldRef, Fields};
use arrow_select::take::{TakeOptions, take};
use pyo3::buffer::PyBuffer;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::sync::Arc;

/// An array, and whether its values may be missing.
pub struct Built {
    pub array: ArrayRef,
    pub nullable: bool,
}

impl Built {
    fn field(&self, name: &str) -> FieldRef {
        let kind = self.array.data_type().clone();
        Arc::new(Field::new(name, kind, self.nullable))
    }

    fn of(array: impl Array + 'static) -> Self {
        Self {
            array: Arc::new(array),
            nullable: false,
        }
    }
}

/// The tree of a tuple that begins with one of the words of [`crate::nodes::node`], but for these: leaves are
/// `"numbers"`, NumPy's name of their type, and their bytes; offsets are bytes of 64-bit integers, and so
/// are an option's places among its values, instead of bits; a record's names are always given.
pub fn built(node: &Bound<'_, PyAny>) -> PyResult<Built> {
    let word = node.get_item(0)?.extract::<String>()?;
    match word.as_str() {
        "numbers" => {
            let name = node.get_item(1)?.extract::<String>()?;
            numbers(&name, bytes(&node.get_item(2)?)?).map(Built::from)
        }
        "list" => list(ends(&node.get_item(1)?)?, &built(&node.get_item(2)?)?),
        "string" => string(ends(&node.get_item(1)?)?, bytes(&node.get_item(2)?)?),
        "regular" => {
            let (size, len) = (node.get_item(1)?.extract()?, node.get_item(2)?.extract()?);
            let items = built(&node.get_item(3)?)?;
            let field = items.field("item");
            let made = FixedSizeListArray::try_new_with_length(field, size, items.array, None, len);
            made.map(Built::of).map_err(unfit)
        }
        "record" => record(node),
        "option" => option(node),
        "nothing" => Ok(Built::of(NullArray::new(node.get_item(1)?.extract()?))),
        other => Err(PyValueError::new_err(format!(
            "no column is made of {other}"
        ))),
    }
}

impl From<ArrayRef> for Built {
    fn from(array: ArrayRef) -> Self {
        Self {
            array,
            nullable: false,
        }
    }
}

/// A copy of an object's bytes, aligned for any numbers.
fn bytes(object: &Bound<'_, PyAny>) -> PyResult<Buffer> {
    let given = PyBuffer::<u8>::get(object)?;
    let mut copy = MutableBuffer::from_len_zeroed(given.len_bytes());
    given.copy_to_slice(object.py(), copy.as_slice_mut())?;
    Ok(copy.into())
}

fn ends(object: &Bound<'_, PyAny>) -> PyResult<ScalarBuffer<i64>> {
    let ends = ScalarBuffer::<i64>::from(bytes(object)?);
    match ends.first().is_some_and(|first| *first >= 0) && ends.is_sorted() {
        true => Ok(ends),
        false => Err(PyValueError::new_err("offsets of lists ascend from 0")),
    }
}

fn numbers(name: &str, bytes: Buffer) -> PyResult<ArrayRef> {
    macro_rules! numbers {
        ($kind:ident) => {
            plain::<types::$kind>(bytes)
        };
    }
    Ok(match name {
        "bool" => Arc::new(BooleanArray::new(flags(&bytes), None)),
        "int8" => numbers!(Int8Type),
        "int16" => numbers!(Int16Type),
        "int32" => numbers!(Int32Type),
        "int64" => numbers!(Int64Type),
        "uint8" => numbers!(UInt8Type),
        "uint16" => numbers!(UInt16Type),
        "uint32" => numbers!(UInt32Type),
        "uint64" => numbers!(UInt64Type),
        "float16" => numbers!(Float16Type),
        "float32" => numbers!(Float32Type),
        "float64" => numbers!(Float64Type),
        other => return Err(PyValueError::new_err(format!("no column holds {other}"))),
    })
}

fn plain<T: ArrowPrimitiveType>(bytes: Buffer) -> ArrayRef {
    Arc::new(PrimitiveArray::<T>::new(ScalarBuffer::from(bytes), None))
}

fn flags(bytes: &Buffer) -> BooleanBuffer {
    bytes.iter().map(|byte| *byte != 0).collect()
}

/// Offsets of 32 bits, which the query takes as they are, if they suffice.
fn short(ends: &ScalarBuffer<i64>) -> Option<OffsetBuffer<i32>> {
    let short: Result<Vec<i32>, _> = ends.iter().map(|end| i32::try_from(*end)).collect();
    short.ok().map(|short| OffsetBuffer::new(short.into()))
}

fn list(ends: ScalarBuffer<i64>, items: &Built) -> PyResult<Built> {
    match short(&ends) {
        Some(ends) => list_of(ends, items),
        None => list_of(OffsetBuffer::new(ends), items),
    }
}

fn list_of<O: OffsetSizeTrait>(ends: OffsetBuffer<O>, items: &Built) -> PyResult<Built> {
    let values = Arc::clone(&items.array);
    let made = GenericListArray::try_new(items.field("item"), ends, values, None);
    made.map(Built::of).map_err(unfit)
}

fn string(ends: ScalarBuffer<i64>, letters: Buffer) -> PyResult<Built> {
    match short(&ends) {
        Some(ends) => string_of(ends, letters),
        None => string_of(OffsetBuffer::new(ends), letters),
    }
}

fn string_of<O: OffsetSizeTrait>(ends: OffsetBuffer<O>, letters: Buffer) -> PyResult<Built> {
    let made = GenericBinaryArray::<O>::try_new(ends, letters, None);
    made.map(Built::of).map_err(unfit)
}

fn record(node: &Bound<'_, PyAny>) -> PyResult<Built> {
    let names = node.get_item(1)?.extract::<Vec<String>>()?;
    let len = node.get_item(3)?.extract()?;
    let (mut fields, mut arrays) = (Vec::new(), Vec::new());
    for (name, member) in names.iter().zip(node.get_item(2)?.try_iter()?) {
        let member = built(&member?)?;
        fields.push(member.field(name));
        arrays.push(member.array);
    }
    let made = StructArray::try_new_with_length(Fields::from(fields), arrays, None, len);
    made.map(Built::of).map_err(unfit)
}

/// Values at the places that are given, missing at negative ones; `None`: all as they are.
fn option(node: &Bound<'_, PyAny>) -> PyResult<Built> {
    let places = node.get_item(1)?;
    let values = built(&node.get_item(2)?)?.array;
    let array = match places.is_none() {
        true => values,
        false => {
            let places = ScalarBuffer::<i64>::from(bytes(&places)?);
            taken(&values, &places).map_err(unfit)?
        }
    };
    Ok(Built {
        array,
        nullable: true,
    })
}

/// The values at these places; missing at negative ones.
pub fn taken(values: &ArrayRef, places: &[i64]) -> Result<ArrayRef, ArrowError> {
    let places: Int64Array = places
        .iter()
        .map(|place| (*place >= 0).then_some(*place))
        .collect();
    take(values, &places, Some(TakeOptions { check_bounds: true }))
}

fn unfit(error: ArrowError) -> PyErr {
    PyValueError::new_err(format!("a column's parts do not fit together: {error}"))
}
