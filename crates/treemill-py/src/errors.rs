//! Rust's errors as Python's, by their kind, with their places as attributes.

use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::path::Path;
use treemill_engine::{EngineError, EngineErrorKind};
use treemill_query::{QueryError, QueryErrorKind};
use treemill_read::{Cause, ErrorKind, ReadError};
use treemill_source::{SourceError, SourceErrorKind};

const TREEMILL: &str = "treemill.errors";
const PYTHON: &str = "builtins";

/// A class of Python's: its module and its name.
type Class = (&'static str, &'static str);

/// The Python class of each kind of error.
fn class(kind: EngineErrorKind) -> Class {
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

/// A reading error, with the file and the place in it; of a source's error also its kind.
pub fn read_error(py: Python<'_>, error: &ReadError) -> PyErr {
    let kind = match error.cause.as_deref() {
        Some(Cause::Source(SourceError { kind, .. })) => Some(*kind),
        _ => None,
    };
    let class = match kind {
        Some(SourceErrorKind::Changed) => (TREEMILL, "ChangedError"),
        _ => class(EngineErrorKind::Read(error.kind)),
    };
    raise(py, class, &error.message, |places| {
        if let Some(kind) = kind {
            places.set_item("kind", kind.name())?;
        }
        places.set_item("file", &error.file)?;
        places.set_item("branch", error.branch.as_deref())?;
        places.set_item("entries", error.entries.as_ref().map(|r| (r.start, r.end)))?;
        places.set_item("offset", error.offset)
    })
}

/// The error of a file that cannot be read.
pub fn source_error(py: Python<'_>, message: &str, file: &Path) -> PyErr {
    let class = class(EngineErrorKind::Read(ErrorKind::Source));
    raise(py, class, message, |places| {
        places.set_item("file", file.to_string_lossy())
    })
}

/// A query's error, with the expression and the place in it.
pub fn query_error(py: Python<'_>, error: &QueryError) -> PyErr {
    let class = class(EngineErrorKind::Query(error.kind));
    raise(py, class, &error.message, |places| {
        places.set_item("text", error.text.as_deref())?;
        places.set_item("span", error.span)?;
        places.set_item("column", error.column.as_deref())?;
        places.set_item("suggestions", error.suggestions.as_ref())
    })
}

/// An error of a bound query. An exception that a Python object raised stays as it was.
pub fn engine_error(py: Python<'_>, error: EngineError) -> PyErr {
    let class = class(error.kind());
    match error {
        EngineError::Query(e) => query_error(py, &e),
        EngineError::Read(e) => read_error(py, &e),
        EngineError::Misfit(message) => raise(py, class, &message, |_| Ok(())),
        EngineError::Provider(e) => match e.downcast::<PyErr>() {
            Ok(e) => *e,
            Err(e) => raise(py, class, &e.to_string(), |_| Ok(())),
        },
    }
}

fn raise(
    py: Python<'_>,
    (module, name): Class,
    message: &str,
    places: impl FnOnce(&Bound<'_, PyDict>) -> PyResult<()>,
) -> PyErr {
    let made = || -> PyResult<PyErr> {
        let keywords = PyDict::new(py);
        places(&keywords)?;
        let class = py.import(module)?.getattr(name)?;
        Ok(PyErr::from_value(class.call((message,), Some(&keywords))?))
    };
    made().unwrap_or_else(|error| error)
}
