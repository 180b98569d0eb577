//! Columns that a Python object provides (`treemill.foreign.Foreign`): its schema, and its values as Arrow
//! arrays. When they are asked for, the engine decides.

use crate::arrow::Column;
use arrow_array::ArrayRef;
use arrow_ipc::reader::StreamReader;
use arrow_schema::ArrowError;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use std::io::Cursor;
use std::ops::Range;
use std::sync::Arc;
use treemill_engine::{Cause, Foreign, Provider};

/// The module whose `packed` and `packed_schema` write Arrow's IPC format.
const PACKER: &str = "treemill.foreign";

/// A Python object whose `read(name, start, stop)` gives values of columns.
pub struct Object(Py<PyAny>);

/// The columns of a Python object, which is asked for its schema.
pub fn foreign(object: Bound<'_, PyAny>) -> PyResult<Foreign> {
    let py = object.py();
    let schema = object.call_method0("schema")?;
    let packed = py
        .import(PACKER)?
        .call_method1("packed_schema", (schema,))?
        .extract::<PyBackedBytes>()?;
    let reader = StreamReader::try_new(Cursor::new(&*packed), None).map_err(wrong)?;
    Ok(Foreign::new(Box::new(Object::new(object)), reader.schema()))
}

impl Object {
    /// Of this object.
    pub fn new(object: Bound<'_, PyAny>) -> Self {
        Self(object.unbind())
    }
}

impl Provider for Object {
    fn read(&self, name: &str, entries: Range<u64>) -> Result<ArrayRef, Cause> {
        let array: PyResult<ArrayRef> = Python::attach(|py| {
            let arguments = (name, entries.start, entries.end);
            let given = self.0.bind(py).call_method1("read", arguments)?;
            if let Ok(ours) = given.cast::<Column>() {
                return Ok(ours.get().array());
            }
            let packer = py.import(PACKER)?;
            let packed = packer.call_method1("packed", (given,))?;
            unpack(&packed.extract::<PyBackedBytes>()?)
        });
        Ok(array?)
    }
}

/// The only column of the only batch.
fn unpack(packed: &[u8]) -> PyResult<ArrayRef> {
    let mut reader = StreamReader::try_new(Cursor::new(packed), None).map_err(wrong)?;
    let batch = reader.next().transpose().map_err(wrong)?;
    batch
        .filter(|batch| batch.num_columns() == 1)
        .map(|batch| Arc::clone(batch.column(0)))
        .ok_or_else(|| PyValueError::new_err("a foreign column came without values"))
}

fn wrong(error: ArrowError) -> PyErr {
    PyValueError::new_err(format!("a foreign column: {error}"))
}
