//! Files as bytes, wherever they lie, of which nothing is made.

use crate::control::Control;
use crate::errors::read_error;
use pyo3::prelude::*;
use std::sync::Arc;
use std::time::{Duration, Instant};
use treemill_read::ReadError;
use treemill_source::{Blocks, Source, drain};

/// An open file of any kind.
#[pyclass(frozen)]
pub struct Stored {
    source: Arc<dyn Source>,
}

#[pymethods]
impl Stored {
    #[new]
    fn new(py: Python<'_>, path: &str) -> PyResult<Self> {
        py.detach(|| match path.contains("://") {
            true => treemill_remote::open_bare(path),
            false => treemill_remote::mounts::open_bare(path),
        })
        .map(|source| Self { source })
        .map_err(|e| read_error(py, &ReadError::source(e)))
    }

    /// Bytes in all.
    #[getter]
    fn size(&self) -> u64 {
        self.source.size()
    }

    /// Whether it is read without a server.
    #[getter]
    fn is_near(&self) -> bool {
        self.source.costs().is_near()
    }

    /// Reads the bytes `[start, stop)` in blocks, of which as many as fit into `window` bytes are on their way, and
    /// keeps nothing. It ends early after this number of seconds, or when `control` is stopped. Gives the bytes
    /// that were read, and how many seconds each block took.
    #[pyo3(signature = (start, stop, block, window=0, seconds=None, control=None))]
    #[allow(clippy::too_many_arguments)]
    fn drain(
        &self,
        py: Python<'_>,
        start: u64,
        stop: u64,
        block: u64,
        window: u64,
        seconds: Option<f64>,
        control: Option<&Control>,
    ) -> PyResult<(u64, Vec<f64>)> {
        let limit =
            seconds.map(|s| Duration::try_from_secs_f64(s.max(0.0)).unwrap_or(Duration::MAX));
        let blocks = Blocks {
            range: start..stop,
            block,
            window,
        };
        let began = Instant::now();
        let goes_on = || {
            let is_stopped = control.is_some_and(|control| control.inner().stopped());
            !is_stopped && limit.is_none_or(|limit| began.elapsed() < limit)
        };
        let mut took = Vec::new();
        py.detach(|| {
            drain(&*self.source, &blocks, goes_on, |_, time| {
                took.push(time.as_secs_f64());
            })
        })
        .map(|bytes| (bytes, took))
        .map_err(|e| read_error(py, &ReadError::source(e)))
    }
}
