//! Rust's errors as Python's, by their kind, with their places as attributes.

use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::path::Path;
use treemill_engine::{EngineError, EngineErrorKind};
use treemill_query::{QueryError, QueryErrorKind};
use treemill_read::{ErrorKind, ReadError};

/// The Python class of each kind of error: its module and its name.
fn class(kind: EngineErrorKind) -> (&'static str, &'static str) {
    const TREEMILL: &str = "treemill.errors";
    const PYTHON: &str = "builtins";
    match kind {
        EngineErrorKind::Read(kind) => match kind {
            ErrorKind::Source => (TREEMILL, "SourceError"),
            ErrorKind::Format => (TREEMILL, "FormatError"),
            ErrorKind::Truncated => (TREEMILL, "TruncatedError"),
            ErrorKind::Unsupported => (TREEMILL, "UnsupportedError"),
            ErrorKind::NotFound => (TREEMILL, "QueryError"),
        },
        EngineErrorKind::Query(kind) => match kind {
            QueryErrorKind::Query => (TREEMILL, "QueryError"),
            QueryErrorKind::Column => (TREEMILL, "QueryError"),
            QueryErrorKind::Data => (TREEMILL, "QueryError"),
            QueryErrorKind::Limit => (TREEMILL, "QueryError"),
            QueryErrorKind::Partial => (TREEMILL, "QueryError"),
            QueryErrorKind::Internal => (TREEMILL, "QueryError"),
        },
        EngineErrorKind::Misfit => (PYTHON, "ValueError"),
        EngineErrorKind::Provider => (PYTHON, "RuntimeError"),
    }
}

/// A reading error, with the file and the place in it.
pub fn read_error(py: Python<'_>, error: &ReadError) -> PyErr {
    let kind = EngineErrorKind::Read(error.kind);
    raise(py, kind, &error.message, |places| {
        places.set_item("file", &error.file)?;
        places.set_item("branch", error.branch.as_deref())?;
        places.set_item("entries", error.entries.as_ref().map(|r| (r.start, r.end)))?;
        places.set_item("offset", error.offset)
    })
}

/// The error of a file that cannot be read.
pub fn source_error(py: Python<'_>, message: &str, file: &Path) -> PyErr {
    let kind = EngineErrorKind::Read(ErrorKind::Source);
    raise(py, kind, message, |places| {
        places.set_item("file", file.to_string_lossy())
    })
}

/// A query's error, with the expression and the place in it.
pub fn query_error(py: Python<'_>, error: &QueryError) -> PyErr {
    let kind = EngineErrorKind::Query(error.kind);
    raise(py, kind, &error.message, |places| {
        places.set_item("text", error.text.as_deref())?;
        places.set_item("span", error.span)?;
        places.set_item("column", error.column.as_deref())?;
        places.set_item("suggestions", error.suggestions.as_ref())
    })
}

/// An error of a bound query. An exception that a Python object raised stays as it was.
pub fn engine_error(py: Python<'_>, error: EngineError) -> PyErr {
    let kind = error.kind();
    match error {
        EngineError::Query(e) => query_error(py, &e),
        EngineError::Read(e) => read_error(py, &e),
        EngineError::Misfit(message) => raise(py, kind, &message, |_| Ok(())),
        EngineError::Provider(e) => match e.downcast::<PyErr>() {
            Ok(e) => *e,
            Err(e) => raise(py, kind, &e.to_string(), |_| Ok(())),
        },
    }
}

fn raise(
    py: Python<'_>,
    kind: EngineErrorKind,
    message: &str,
    places: impl FnOnce(&Bound<'_, PyDict>) -> PyResult<()>,
) -> PyErr {
    let made = || -> PyResult<PyErr> {
        let keywords = PyDict::new(py);
        places(&keywords)?;
        let (module, name) = class(kind);
        let class = py.import(module)?.getattr(name)?;
        Ok(PyErr::from_value(class.call((message,), Some(&keywords))?))
    };
    made().unwrap_or_else(|error| error)
}
