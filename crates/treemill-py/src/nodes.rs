//! A column as a tree of tuples with plain buffers at its leaves, for those who build arrays of another kind
//! on the same memory: numpy's array interface, without Arrow's C structures and its library
//! (https://numpy.org/doc/stable/reference/arrays.interface.html).

use arrow_array::cast::AsArray;
use arrow_array::types::{ArrowPrimitiveType, ByteArrayType};
use arrow_array::{
    Array, BooleanArray, FixedSizeListArray, GenericByteArray, ListArray, StructArray, types,
};
use arrow_buffer::{ArrowNativeType, Buffer, OffsetBuffer};
use arrow_schema::{DataType, Field, Fields};
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple};
use treemill_read::decode::wide_offsets;

/// Numbers in memory that somebody else may use too: `numpy.asarray(values)` takes them without a copy.
#[pyclass(frozen)]
pub struct Values {
    buffer: Buffer,
    kind: &'static str,
    len: usize,
}

#[pymethods]
impl Values {
    fn __len__(&self) -> usize {
        self.len
    }

    #[getter]
    fn __array_interface__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let interface = PyDict::new(py);
        // Not to be written to: others may hold the memory.
        interface.set_item("data", (self.buffer.as_ptr().addr(), true))?;
        interface.set_item("shape", (self.len,))?;
        interface.set_item("typestr", self.kind)?;
        interface.set_item("version", 3)?;
        Ok(interface)
    }
}

type Node<'py> = PyResult<Option<Bound<'py, PyAny>>>;

/// The column's outermost node: `Values`, or a tuple that begins with one of
/// - `"bits"`, values of bytes, the first bit, how many: booleans, the lowest bit of a byte first;
/// - `"list"`, offsets, items;
/// - `"string"`, offsets, values of bytes;
/// - `"regular"`, items of each, how many, items;
/// - `"record"`, names (`None`: a tuple's), members, how many.
///
/// `None` where values may be missing, or there are types that are none of these. `flags`: numbers
/// of a byte are booleans.
pub fn node<'py>(py: Python<'py>, array: &dyn Array, flags: bool) -> Node<'py> {
    macro_rules! numbers {
        ($kind:ident, $name:literal) => {
            numbers::<types::$kind>(py, array, $name)
        };
    }
    if array.null_count() > 0 {
        return Ok(None);
    }
    match array.data_type() {
        DataType::UInt8 if flags => numbers!(UInt8Type, "|b1"),
        DataType::Int8 => numbers!(Int8Type, "|i1"),
        DataType::Int16 => numbers!(Int16Type, "=i2"),
        DataType::Int32 => numbers!(Int32Type, "=i4"),
        DataType::Int64 => numbers!(Int64Type, "=i8"),
        DataType::UInt8 => numbers!(UInt8Type, "|u1"),
        DataType::UInt16 => numbers!(UInt16Type, "=u2"),
        DataType::UInt32 => numbers!(UInt32Type, "=u4"),
        DataType::UInt64 => numbers!(UInt64Type, "=u8"),
        DataType::Float16 => numbers!(Float16Type, "=f2"),
        DataType::Float32 => numbers!(Float32Type, "=f4"),
        DataType::Float64 => numbers!(Float64Type, "=f8"),
        DataType::Boolean => bits(py, array.as_boolean()),
        DataType::List(item) => list(py, array.as_list(), item),
        DataType::FixedSizeList(item, _) => regular(py, array.as_fixed_size_list(), item),
        DataType::Struct(fields) => record(py, array.as_struct(), fields),
        DataType::Binary => string(py, array.as_binary::<i32>()),
        DataType::Utf8 => string(py, array.as_string::<i32>()),
        _ => Ok(None),
    }
}

fn values(buffer: Buffer, kind: &'static str, len: usize) -> Values {
    Values { buffer, kind, len }
}

fn numbers<'py, T: ArrowPrimitiveType>(
    py: Python<'py>,
    array: &dyn Array,
    kind: &'static str,
) -> Node<'py> {
    let numbers = array.as_primitive::<T>().values();
    let values = values(numbers.inner().clone(), kind, numbers.len());
    values.into_bound_py_any(py).map(Some)
}

fn bits<'py>(py: Python<'py>, array: &BooleanArray) -> Node<'py> {
    let bits = array.values();
    let bytes = bits.inner();
    let values = values(bytes.clone(), "|u1", bytes.len());
    let node = ("bits", values, bits.offset(), bits.len());
    node.into_bound_py_any(py).map(Some)
}

/// Offsets of 64 bits that begin with 0, and which items they are about.
fn offsets(offsets: &OffsetBuffer<i32>) -> (Values, usize, usize) {
    let (first, last) = (offsets.first().as_usize(), offsets.last().as_usize());
    let wide = wide_offsets(offsets).into_inner();
    let made = values(wide, "=i8", offsets.len());
    (made, first, last.saturating_sub(first))
}

fn list<'py>(py: Python<'py>, array: &ListArray, item: &Field) -> Node<'py> {
    let (offsets, first, len) = offsets(array.offsets());
    let items = array.values();
    let items = match len == items.len() {
        true => items.clone(),
        false => items.slice(first, len),
    };
    let Some(items) = inner(py, &items, item)? else {
        return Ok(None);
    };
    let node = ("list", offsets, items);
    node.into_bound_py_any(py).map(Some)
}

fn string<'py, T>(py: Python<'py>, array: &GenericByteArray<T>) -> Node<'py>
where
    T: ByteArrayType<Offset = i32>,
{
    let (offsets, first, len) = offsets(array.offsets());
    let bytes = array.values().slice_with_length(first, len);
    let node = ("string", offsets, values(bytes, "|u1", len));
    node.into_bound_py_any(py).map(Some)
}

fn regular<'py>(py: Python<'py>, array: &FixedSizeListArray, item: &Field) -> Node<'py> {
    let Some(items) = inner(py, array.values(), item)? else {
        return Ok(None);
    };
    let node = ("regular", array.value_length(), array.len(), items);
    node.into_bound_py_any(py).map(Some)
}

fn record<'py>(py: Python<'py>, array: &StructArray, fields: &Fields) -> Node<'py> {
    let members = PyList::empty(py);
    for (column, field) in array.columns().iter().zip(fields) {
        let Some(member) = inner(py, column, field)? else {
            return Ok(None);
        };
        members.append(member)?;
    }
    // No C++ member is called by a number: this is a std::pair or std::tuple.
    let mut numbered = fields.iter().zip(0_usize..);
    let names = match numbered.all(|(field, n)| *field.name() == n.to_string()) {
        true => None,
        false => Some(PyTuple::new(py, fields.iter().map(|field| field.name()))?),
    };
    let node = ("record", names, members, array.len());
    node.into_bound_py_any(py).map(Some)
}

/// The values of a field within another.
fn inner<'py>(py: Python<'py>, array: &dyn Array, field: &Field) -> Node<'py> {
    match field.is_nullable() {
        true => Ok(None),
        false => node(py, array, false),
    }
}
