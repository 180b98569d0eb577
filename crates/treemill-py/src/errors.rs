//! Rust's errors as the classes of `treemill.errors`, with their places as attributes.

use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use treemill_engine::EngineError;
use treemill_query::QueryError;
use treemill_read::{ErrorKind, ReadError};

/// A reading error as `SourceError`, `FormatError`, `UnsupportedError` or `QueryError` (an unknown name).
pub fn read_error(py: Python<'_>, error: &ReadError) -> PyErr {
    let class = match error.kind {
        ErrorKind::Source => "SourceError",
        ErrorKind::Format => "FormatError",
        ErrorKind::Unsupported => "UnsupportedError",
        ErrorKind::NotFound => "QueryError",
    };
    raise(py, class, &error.message, |places| {
        places.set_item("file", &error.file)?;
        places.set_item("branch", error.branch.as_deref())?;
        places.set_item("entries", error.entries.as_ref().map(|r| (r.start, r.end)))?;
        places.set_item("offset", error.offset)
    })
}

/// A query's error, with the expression and the place in it.
pub fn query_error(py: Python<'_>, error: &QueryError) -> PyErr {
    raise(py, "QueryError", &error.message, |places| {
        places.set_item("text", error.text.as_deref())?;
        places.set_item("span", error.span)?;
        places.set_item("column", error.column.as_deref())?;
        places.set_item("suggestions", error.suggestions.as_ref())
    })
}

/// An error of a bound query; one that a Python object has raised as it was.
pub fn engine_error(py: Python<'_>, error: EngineError) -> PyErr {
    match error {
        EngineError::Query(e) => query_error(py, &e),
        EngineError::Read(e) => read_error(py, &e),
        EngineError::Misfit(message) => PyValueError::new_err(message),
        EngineError::Provider(e) => match e.downcast::<PyErr>() {
            Ok(e) => *e,
            Err(e) => PyRuntimeError::new_err(e.to_string()),
        },
    }
}

fn raise(
    py: Python<'_>,
    class: &str,
    message: &str,
    places: impl FnOnce(&Bound<'_, PyDict>) -> PyResult<()>,
) -> PyErr {
    let made = || -> PyResult<PyErr> {
        let keywords = PyDict::new(py);
        places(&keywords)?;
        let class = py.import("treemill.errors")?.getattr(class)?;
        Ok(PyErr::from_value(class.call((message,), Some(&keywords))?))
    };
    made().unwrap_or_else(|error| error)
}
