//! Arrow arrays handed to Python without a copy, by the Arrow C data interface's PyCapsule protocol
//! (https://arrow.apache.org/docs/format/CDataInterface/PyCapsuleInterface.html).

use crate::nodes;
use arrow_array::{Array, ArrayRef, ffi};
use arrow_schema::ffi::FFI_ArrowSchema;
use arrow_schema::{DataType, Field};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use treemill_query::LISTS;

/// One decoded column; `pyarrow.array(column)` takes it.
#[pyclass(frozen)]
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

    /// Its values.
    pub fn array(&self) -> ArrayRef {
        ArrayRef::clone(&self.array)
    }
}

#[pymethods]
impl Column {
    fn __len__(&self) -> usize {
        self.array.len()
    }

    /// Its name.
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

    /// The column as nodes with plain buffers, see [`crate::nodes::node`]; None where there are none.
    fn nodes<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        match self.field.is_nullable() {
            true => Ok(None),
            false => nodes::node(py, &self.array, self.flags),
        }
    }

    /// A pair of capsules: "arrow_schema" and "arrow_array".
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_array__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<(Bound<'py, PyCapsule>, Bound<'py, PyCapsule>)> {
        let _ = requested_schema; // the protocol lets a producer that cannot cast ignore it
        let (array, _) = ffi::to_ffi(&self.array.to_data()).map_err(runtime)?;
        let schema = FFI_ArrowSchema::try_from(&self.field).map_err(runtime)?;
        Ok((
            PyCapsule::new_with_value(py, schema, c"arrow_schema")?,
            PyCapsule::new_with_value(py, array, c"arrow_array")?,
        ))
    }
}

fn runtime(error: arrow_schema::ArrowError) -> PyErr {
    PyRuntimeError::new_err(error.to_string())
}
