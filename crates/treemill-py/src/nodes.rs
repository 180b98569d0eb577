//! A column as a tree of tuples with plain buffers at its leaves, for callers that build arrays of another kind
//! on the same memory: numpy's array interface, without Arrow's C structures and its library
//! (https://numpy.org/doc/stable/reference/arrays.interface.html).

use arrow_array::cast::AsArray;
use arrow_array::types::{ArrowPrimitiveType, ByteArrayType};
use arrow_array::{
    Array, FixedSizeListArray, GenericByteArray, GenericListArray, OffsetSizeTrait, StructArray,
    UnionArray, types,
};
use arrow_buffer::{BooleanBuffer, Buffer, OffsetBuffer};
use arrow_schema::{DataType, Field, Fields, UnionFields, UnionMode};
use pyo3::IntoPyObjectExt;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple};
use treemill_read::decode::wide_offsets;

/// Numbers in memory that others may use, too: `numpy.asarray(values)` takes them without a copy.
#[pyclass(frozen)]
pub struct Values {
    buffer: Buffer,
    kind: &'static str,
    len: usize,
}

impl Values {
    /// Numbers of a NumPy type that this column alone has.
    pub fn copied(buffer: Buffer, kind: &'static str, len: usize) -> Self {
        Self { buffer, kind, len }
    }
}

#[pymethods]
impl Values {
    fn __len__(&self) -> usize {
        self.len
    }

    #[getter]
    fn __array_interface__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let interface = PyDict::new(py);
        // Read-only: others may hold the memory.
        interface.set_item("data", (self.buffer.as_ptr().addr(), true))?;
        interface.set_item("shape", (self.len,))?;
        interface.set_item("typestr", self.kind)?;
        interface.set_item("version", 3)?;
        Ok(interface)
    }
}

type Node<'py> = PyResult<Bound<'py, PyAny>>;

/// The column's outermost node: `Values`, or a tuple that begins with one of
/// - `"bits"`, values of bytes, the first bit, how many: booleans, the lowest bit of a byte first;
/// - `"list"`, offsets, items;
/// - `"string"`, offsets, values of bytes;
/// - `"regular"`, items of each, how many, items;
/// - `"record"`, names (`None`: a tuple's), members, how many;
/// - `"option"`, bits of those that are there (`None`: all), values, how many;
/// - `"union"`, tags, places within alternatives, alternatives;
/// - `"nothing"`, how many: of no type.
///
/// `is_nullable`: whether values may be missing, whatever these are. `flags`: numbers of a byte are
/// booleans. [`crate::building`] is the way back.
pub fn node<'py>(py: Python<'py>, array: &dyn Array, is_nullable: bool, flags: bool) -> Node<'py> {
    // What is missing of a union is missing in its alternatives.
    let is_bare = matches!(array.data_type(), DataType::Union(..) | DataType::Null);
    if is_bare || !(is_nullable || array.null_count() > 0) {
        return content(py, array, flags);
    }
    let there = array.nulls().filter(|nulls| nulls.null_count() > 0);
    let there = there.map(|nulls| bits(py, nulls.inner())).transpose()?;
    ("option", there, content(py, array, flags)?, array.len()).into_bound_py_any(py)
}

/// The values, of which none counts as missing.
fn content<'py>(py: Python<'py>, array: &dyn Array, flags: bool) -> Node<'py> {
    macro_rules! numbers {
        ($kind:ident, $name:literal) => {
            numbers::<types::$kind>(py, array, $name)
        };
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
        DataType::Boolean => bits(py, array.as_boolean().values()),
        DataType::List(item) => list(py, array.as_list::<i32>(), item),
        DataType::LargeList(item) => list(py, array.as_list::<i64>(), item),
        DataType::FixedSizeList(item, _) => regular(py, array.as_fixed_size_list(), item),
        DataType::Struct(fields) => record(py, array.as_struct(), fields),
        DataType::Binary => string(py, array.as_binary::<i32>()),
        DataType::LargeBinary => string(py, array.as_binary::<i64>()),
        DataType::Utf8 => string(py, array.as_string::<i32>()),
        DataType::LargeUtf8 => string(py, array.as_string::<i64>()),
        DataType::Union(fields, UnionMode::Dense) => union(py, array.as_union(), fields),
        DataType::Null => ("nothing", array.len()).into_bound_py_any(py),
        other => Err(PyTypeError::new_err(format!("no column holds {other}"))),
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
    values.into_bound_py_any(py)
}

fn bits<'py>(py: Python<'py>, bits: &BooleanBuffer) -> Node<'py> {
    let bytes = bits.inner();
    let values = values(bytes.clone(), "|u1", bytes.len());
    ("bits", values, bits.offset(), bits.len()).into_bound_py_any(py)
}

/// Offsets of 64 bits that begin with 0, and which items they are about.
fn offsets<O: OffsetSizeTrait>(offsets: &OffsetBuffer<O>) -> (Values, usize, usize) {
    let (first, last) = (offsets.first().as_usize(), offsets.last().as_usize());
    let wide = match O::IS_LARGE {
        true if first == 0 => offsets.inner().inner().clone(),
        true => {
            let ends = offsets.iter().map(|at| at.as_usize().saturating_sub(first));
            Buffer::from_iter(ends.map(|end| end as i64))
        }
        false => wide_offsets(offsets.inner().inner().typed_data::<i32>()).into_inner(),
    };
    let made = values(wide, "=i8", offsets.len());
    (made, first, last.saturating_sub(first))
}

fn list<'py, O: OffsetSizeTrait>(
    py: Python<'py>,
    array: &GenericListArray<O>,
    item: &Field,
) -> Node<'py> {
    let (offsets, first, len) = offsets(array.offsets());
    let items = array.values();
    let items = match len == items.len() {
        true => items.clone(),
        false => items.slice(first, len),
    };
    ("list", offsets, inner(py, &items, item)?).into_bound_py_any(py)
}

fn string<'py, T: ByteArrayType>(py: Python<'py>, array: &GenericByteArray<T>) -> Node<'py> {
    let (offsets, first, len) = offsets(array.offsets());
    let bytes = array.values().slice_with_length(first, len);
    ("string", offsets, values(bytes, "|u1", len)).into_bound_py_any(py)
}

fn regular<'py>(py: Python<'py>, array: &FixedSizeListArray, item: &Field) -> Node<'py> {
    let items = inner(py, array.values(), item)?;
    ("regular", array.value_length(), array.len(), items).into_bound_py_any(py)
}

fn record<'py>(py: Python<'py>, array: &StructArray, fields: &Fields) -> Node<'py> {
    let members = PyList::empty(py);
    for (column, field) in array.columns().iter().zip(fields) {
        members.append(inner(py, column, field)?)?;
    }
    // No C++ member is called by a number: this is a std::pair or std::tuple.
    let mut numbered = fields.iter().zip(0_usize..);
    let names = match numbered.all(|(field, n)| *field.name() == n.to_string()) {
        true => None,
        false => Some(PyTuple::new(py, fields.iter().map(|field| field.name()))?),
    };
    ("record", names, members, array.len()).into_bound_py_any(py)
}

fn union<'py>(py: Python<'py>, array: &UnionArray, fields: &UnionFields) -> Node<'py> {
    let tags = array.type_ids();
    let places = array.offsets().map(|places| &**places).unwrap_or_default();
    let alternatives = PyList::empty(py);
    for (tag, field) in fields.iter() {
        alternatives.append(inner(py, array.child(tag), field)?)?;
    }
    let tags = values(tags.inner().clone(), "|i1", tags.len());
    ("union", tags, wide(places), alternatives).into_bound_py_any(py)
}

fn wide(places: &[i32]) -> Values {
    let wide = Buffer::from_iter(places.iter().map(|&place| i64::from(place)));
    values(wide, "=i8", places.len())
}

/// The values of a field within another.
fn inner<'py>(py: Python<'py>, array: &dyn Array, field: &Field) -> Node<'py> {
    node(py, array, field.is_nullable(), false)
}
