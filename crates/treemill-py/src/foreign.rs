//! Columns that a Python object provides (`treemill.data.foreign.Foreign`): its schema, and its values as Arrow
//! arrays. When they are asked for, the engine decides.

use crate::arrow::Column;
use arrow_array::ArrayRef;
use arrow_schema::{Field, Schema};
use pyo3::prelude::*;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;
use treemill_engine::{Cause, Foreign, Provider};

/// The module whose `column_of` makes columns of other arrays.
const COLUMNS: &str = "treemill.data.columns";

/// Key of a field's metadata by which the engine knows the column that counts a list's items.
const COUNTER: &str = "treemill.counter";

/// A Python object whose `read(name, start, stop)` gives values of columns.
pub struct Object(Py<PyAny>);

/// The columns of a Python object, which is asked for its schema.
pub fn foreign(object: Bound<'_, PyAny>) -> PyResult<Foreign> {
    let fields = object.call_method0("schema")?;
    let fields = fields.try_iter()?.map(|field| described(&field?));
    let schema = Schema::new(fields.collect::<PyResult<Vec<Field>>>()?);
    Ok(Foreign::new(
        Box::new(Object::new(object)),
        Arc::new(schema),
    ))
}

impl Object {
    /// Takes a Python object.
    pub fn new(object: Bound<'_, PyAny>) -> Self {
        Self(object.unbind())
    }
}

impl Provider for Object {
    fn read(&self, name: &str, entries: Range<u64>) -> Result<ArrayRef, Cause> {
        let array: PyResult<ArrayRef> = Python::attach(|py| {
            let arguments = (name, entries.start, entries.end);
            array_of(&self.0.bind(py).call_method1("read", arguments)?)
        });
        Ok(array?)
    }
}

/// Converts a `treemill.data.foreign.Field`.
fn described(field: &Bound<'_, PyAny>) -> PyResult<Field> {
    let name = field.getattr("name")?.extract::<String>()?;
    let counter = field.getattr("counter")?.extract::<Option<String>>()?;
    let is_nullable = field.getattr("nullable")?.extract()?;
    let empty = array_of(&field.getattr("empty")?)?;
    let metadata = counter.map(|counter| (COUNTER.to_owned(), counter));
    let made = Field::new(name, empty.data_type().clone(), is_nullable);
    Ok(made.with_metadata(HashMap::from_iter(metadata)))
}

/// The values of a column, or of what `treemill.data.columns` makes one of.
fn array_of(given: &Bound<'_, PyAny>) -> PyResult<ArrayRef> {
    if let Ok(ours) = given.cast::<Column>() {
        return Ok(ours.get().array());
    }
    let columns = given.py().import(COLUMNS)?;
    let made = columns.call_method1("column_of", (given,))?;
    Ok(made.cast::<Column>()?.get().array())
}
