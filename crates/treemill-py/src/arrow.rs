//! Columns as Python has them: cut, taken from, joined and sent by Arrow's own library, and handed to
//! others without a copy, by the Arrow C data interface's PyCapsule protocol
//! (https://arrow.apache.org/docs/format/CDataInterface/PyCapsuleInterface.html).

use crate::building::{Built, built, taken};
use crate::nodes;
use arrow_array::cast::AsArray;
use arrow_array::types::UInt8Type;
use arrow_array::{Array, ArrayRef, BooleanArray, RecordBatch, ffi};
use arrow_ipc::reader::StreamReader;
use arrow_ipc::writer::StreamWriter;
use arrow_schema::ffi::FFI_ArrowSchema;
use arrow_schema::{DataType, Field, Schema};
use arrow_select::concat::concat;
use pyo3::buffer::PyBuffer;
use pyo3::exceptions::{PyIndexError, PyRuntimeError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyCapsule};
use std::io::Cursor;
use std::sync::Arc;
use treemill_query::LISTS;

/// One column: as it was decoded, or made of nodes. `pyarrow.array(column)` takes it.
#[pyclass(frozen, module = "treemill._core")]
pub struct Column {
    field: Field,
    array: ArrayRef,
    flags: bool,
}

impl Column {
    /// `array` is of the field's type; booleans may be bytes, 0 or 1.
    pub fn new(field: Field, array: ArrayRef) -> Self {
        let flags = matches!(field.data_type(), DataType::Boolean)
            && matches!(array.data_type(), DataType::UInt8);
        let field = match flags {
            true => field.with_data_type(array.data_type().clone()),
            false => field,
        };
        Self {
            field,
            array,
            flags,
        }
    }

    /// Other values of this column's type; missing ones may be new to it.
    fn with(&self, array: ArrayRef, is_nullable: bool) -> Self {
        Self {
            field: match is_nullable {
                true => self.field.clone().with_nullable(true),
                false => self.field.clone(),
            },
            array,
            flags: self.flags,
        }
    }

    /// The column as Arrow has it: bytes that stand for booleans become bits.
    fn arrows(&self) -> (Field, ArrayRef) {
        match self.array.as_primitive_opt::<UInt8Type>() {
            Some(bytes) if self.flags => {
                let bits: BooleanArray = bytes.iter().map(|byte| byte.map(|b| b != 0)).collect();
                let field = self.field.clone().with_data_type(DataType::Boolean);
                (field, Arc::new(bits))
            }
            _ => (self.field.clone(), self.array()),
        }
    }

    /// The column's values.
    pub fn array(&self) -> ArrayRef {
        ArrayRef::clone(&self.array)
    }
}

#[pymethods]
impl Column {
    fn __len__(&self) -> usize {
        self.array.len()
    }

    /// The column's name.
    #[getter]
    fn name(&self) -> &str {
        self.field.name()
    }

    /// Columns of lists with the same number have the same lists; None for others.
    #[getter]
    fn group(&self) -> Option<u32> {
        self.field.metadata().get(LISTS)?.parse().ok()
    }

    /// Whether its numbers are booleans, 0 or 1.
    #[getter]
    fn flags(&self) -> bool {
        self.flags
    }

    /// Whether values may be missing, which the type does not tell.
    #[getter]
    fn optional(&self) -> bool {
        self.field.is_nullable()
    }

    /// How many values are missing.
    #[getter]
    fn null_count(&self) -> usize {
        self.array.null_count()
    }

    /// The bytes that its values take.
    #[getter]
    fn nbytes(&self) -> PyResult<usize> {
        self.array
            .to_data()
            .get_slice_memory_size()
            .map_err(runtime)
    }

    /// The column as nodes with plain buffers, see [`crate::nodes::node`].
    fn nodes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        nodes::node(py, &self.array, self.field.is_nullable(), self.flags)
    }

    /// Builds a column from nodes, see [`crate::building::built`].
    #[new]
    fn made(name: &str, node: &Bound<'_, PyAny>) -> PyResult<Self> {
        let Built { array, nullable } = built(node)?;
        let field = Field::new(name, array.data_type().clone(), nullable);
        Ok(Self::new(field, array))
    }

    /// `length` values from `start` on, on the same memory.
    fn slice(&self, start: usize, length: usize) -> PyResult<Self> {
        match start.checked_add(length) {
            Some(stop) if stop <= self.array.len() => {
                Ok(self.with(self.array.slice(start, length), false))
            }
            _ => Err(PyIndexError::new_err("a column ends before the slice does")),
        }
    }

    /// The values at these places, bytes of 64-bit integers; missing at negative ones.
    fn take(&self, py: Python<'_>, places: PyBuffer<i64>) -> PyResult<Self> {
        let places = places.to_vec(py)?;
        let found = taken(&self.array, &places).map_err(runtime)?;
        Ok(self.with(found, places.iter().any(|place| *place < 0)))
    }

    /// Columns of one Arrow type, one after another; at least one.
    #[staticmethod]
    fn joined(columns: Vec<PyRef<'_, Self>>) -> PyResult<Self> {
        let Some(first) = columns.first() else {
            return Err(PyValueError::new_err("there are no columns to join"));
        };
        let kind = first.array.data_type();
        if columns.iter().any(|each| each.array.data_type() != kind) {
            return Err(PyTypeError::new_err("the columns have different types"));
        }
        let arrays: Vec<&dyn Array> = columns.iter().map(|each| &*each.array).collect();
        let array = concat(&arrays).map_err(runtime)?;
        let is_nullable = columns.iter().any(|each| each.field.is_nullable());
        Ok(first.with(array, is_nullable))
    }

    /// The column in Arrow's format for transport, bools as such.
    fn dumps<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let (field, array) = self.arrows();
        let schema = Arc::new(Schema::new(vec![field]));
        let mut writer = StreamWriter::try_new(Vec::new(), &schema).map_err(runtime)?;
        let batch = RecordBatch::try_new(schema, vec![array]).map_err(runtime)?;
        writer.write(&batch).map_err(runtime)?;
        Ok(PyBytes::new(py, &writer.into_inner().map_err(runtime)?))
    }

    /// What `dumps` gave, or any stream of batches in this format with one column.
    #[staticmethod]
    fn loads(data: &[u8]) -> PyResult<Self> {
        let mut reader = StreamReader::try_new(Cursor::new(data), None).map_err(runtime)?;
        let schema = reader.schema();
        let ([field], Some(batch)) = (
            &schema.fields()[..],
            reader.next().transpose().map_err(runtime)?,
        ) else {
            return Err(PyValueError::new_err("this is not one column"));
        };
        Ok(Self::new(
            field.as_ref().clone(),
            Arc::clone(batch.column(0)),
        ))
    }

    fn __reduce__<'py>(
        slf: Bound<'py, Self>,
    ) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        let py = slf.py();
        let loads = py.get_type::<Self>().getattr("loads")?;
        Ok((loads, (slf.get().dumps(py)?,)))
    }

    /// A pair of capsules: "arrow_schema" and "arrow_array".
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_array__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<(Bound<'py, PyCapsule>, Bound<'py, PyCapsule>)> {
        let _ = requested_schema; // the protocol lets a producer that cannot cast ignore it
        let (field, array) = self.arrows();
        let (array, _) = ffi::to_ffi(&array.to_data()).map_err(runtime)?;
        let schema = FFI_ArrowSchema::try_from(&field).map_err(runtime)?;
        Ok((
            PyCapsule::new_with_value(py, schema, c"arrow_schema")?,
            PyCapsule::new_with_value(py, array, c"arrow_array")?,
        ))
    }
}

fn runtime(error: arrow_schema::ArrowError) -> PyErr {
    PyRuntimeError::new_err(error.to_string())
}
