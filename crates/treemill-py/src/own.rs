//! Files that are read only if they are the user's own.

use crate::errors::source_error;
use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::fs::File;
use std::io::Read;
use std::path::PathBuf;
use treemill_source::own::{check, user};

/// The bytes of a file that says what this process is to run, such as pickled objects. `what`: what it is, for the error. Raises
/// SourceError if another user may have written it, OSError as `open` does.
#[pyfunction]
pub fn read_own<'py>(py: Python<'py>, path: PathBuf, what: &str) -> PyResult<Bound<'py, PyBytes>> {
    let read = || -> std::io::Result<_> {
        let mut file = File::open(&path)?;
        if let Err(why) = check(&path, &file.metadata()?, user()) {
            return Ok(Err(why));
        }
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        Ok(Ok(bytes))
    };
    match py.detach(read) {
        Ok(Ok(bytes)) => Ok(PyBytes::new(py, &bytes)),
        Ok(Err(why)) => {
            let message = format!(
                "{why}: {what} is not read, because it can make this process run what they wrote; {}",
                why.advice()
            );
            Err(source_error(py, &message, &why.path))
        }
        Err(error) => {
            let number = error.raw_os_error().unwrap_or_default();
            let words = py.import("os")?.call_method1("strerror", (number,))?;
            Err(PyOSError::new_err((number, words.unbind())))
        }
    }
}

/// Raises SourceError if another user may have put something into a file or folder of this path, and OSError as `stat` does.
/// `what`: what it is, for the error.
#[pyfunction]
pub fn check_own(py: Python<'_>, path: PathBuf, what: &str) -> PyResult<()> {
    let look = || std::fs::metadata(&path).map(|found| check(&path, &found, user()));
    match py.detach(look) {
        Ok(Ok(())) => Ok(()),
        Ok(Err(why)) => {
            let message = format!("{why}: {what} is not used; {}", why.advice());
            Err(source_error(py, &message, &why.path))
        }
        Err(error) => Err(error.into()),
    }
}
