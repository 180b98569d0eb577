//! Partials: what a worker has accumulated, as Python holds, sends and reads them.

use crate::arrow::Column;
use crate::bins::Bins;
use crate::errors::query_error;
use crate::outcome::{column, convert};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyBytes;
use std::sync::{Mutex, MutexGuard, PoisonError};
use treemill_query::{NamedArray, QueryError};

/// Accumulators of a query's bookings.
#[pyclass(frozen)]
pub struct Partial {
    inner: Mutex<treemill_query::Partial>,
}

impl Partial {
    pub fn new(inner: treemill_query::Partial) -> Self {
        Self {
            inner: Mutex::new(inner),
        }
    }

    pub fn lock(&self) -> MutexGuard<'_, treemill_query::Partial> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[pymethods]
impl Partial {
    /// Adds another partial of the same query, which is empty of bookings then and must not be used.
    fn merge(&self, py: Python<'_>, other: &Self) -> PyResult<()> {
        if std::ptr::eq(self, other) {
            return Err(pyo3::exceptions::PyValueError::new_err(
                "a partial cannot be merged with itself",
            ));
        }
        py.detach(|| {
            // Never two locks at once: two threads may merge in opposite directions.
            let taken = std::mem::take(&mut *other.lock());
            let merged = self.lock().merge(&taken);
            if merged.is_err() {
                *other.lock() = taken;
            }
            merged
        })
        .map_err(|e| query_error(py, &e))
    }

    /// The partial as bytes, for transport between processes, after others.
    #[pyo3(signature = (before=None))]
    fn dumps<'py>(&self, py: Python<'py>, before: Option<&[u8]>) -> PyResult<Bound<'py, PyBytes>> {
        let before = before.unwrap_or(&[]);
        let size = py
            .detach(|| self.lock().bytes_size())
            .map_err(|e| query_error(py, &e))?;
        // Written where they stay: large results are not there once more.
        PyBytes::new_with(py, before.len().saturating_add(size), |to| {
            let (first, rest) = to.split_at_mut(before.len());
            first.copy_from_slice(before);
            py.detach(|| self.lock().write_bytes(rest))
                .map_err(|e| query_error(py, &e))
        })
    }

    /// Rebuilds a partial from the bytes of its `dumps`, which begin at `first`.
    #[staticmethod]
    #[pyo3(signature = (data, first=0))]
    fn loads(py: Python<'_>, data: &[u8], first: usize) -> PyResult<Self> {
        let data = data.get(first..).unwrap_or(&[]);
        py.detach(|| treemill_query::Partial::from_bytes(data))
            .map(Self::new)
            .map_err(|e| query_error(py, &e))
    }

    /// The bytes of a partial of each booking alone, in their order: what is remembered of one
    /// does not depend on the others.
    fn dumps_each<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyBytes>>> {
        let parts = py.detach(|| {
            let parts = self.lock().parts();
            parts
                .iter()
                .map(treemill_query::Partial::to_bytes)
                .collect::<Result<Vec<_>, _>>()
        });
        let parts = parts.map_err(|e| query_error(py, &e))?;
        Ok(parts.iter().map(|bytes| PyBytes::new(py, bytes)).collect())
    }

    /// The partial of all bookings of these bytes, as `dumps` and `dumps_each` write them, one
    /// after another.
    #[staticmethod]
    fn joined(py: Python<'_>, parts: Vec<PyBackedBytes>) -> PyResult<Self> {
        let joined = py.detach(|| {
            let loaded = parts
                .iter()
                .map(|each| treemill_query::Partial::from_bytes(each));
            let loaded = loaded.collect::<Result<Vec<_>, _>>()?;
            Ok(treemill_query::Partial::joined(
                &loaded.iter().collect::<Vec<_>>(),
            ))
        });
        joined.map(Self::new).map_err(|e| query_error(py, &e))
    }

    /// One result per booking, in their order: `Bins` of histograms and profiles. They share the memory of large ones
    /// with this partial, until more is merged into it.
    fn results(&self, py: Python<'_>) -> PyResult<Vec<Py<PyAny>>> {
        let (bins, others) = py.detach(|| {
            let inner = self.lock();
            let others = inner.other_results();
            let bins: Vec<_> = (0..others.len()).map(|number| inner.bins(number)).collect();
            (bins, others)
        });
        let results = bins.into_iter().zip(others);
        results
            .map(|found| match found {
                (Some(bins), _) => Ok(Py::new(py, Bins::new(bins))?.into_any()),
                (None, Some(outcome)) => convert(py, outcome),
                (None, None) => Ok(py.None()),
            })
            .collect()
    }

    /// Whether it is to be merged into another one before more is added: lists of what was filled into large histograms
    /// have taken their room.
    #[getter]
    fn is_full(&self) -> bool {
        self.lock().is_full()
    }

    /// The rows kept since they were last taken: pairs of a booking's index and its columns. They
    /// must be taken before the partial is merged or sent.
    fn take_rows(&self, py: Python<'_>) -> PyResult<Vec<(usize, Vec<Column>)>> {
        numbered(py, py.detach(|| self.lock().take_rows()))
    }

    /// The types that rows have in the file for which the partial was made: pairs of a booking's index
    /// and its columns without rows.
    fn row_types(&self, py: Python<'_>) -> PyResult<Vec<(usize, Vec<Column>)>> {
        numbered(py, self.lock().row_types())
    }
}

fn numbered(
    py: Python<'_>,
    found: Result<Vec<(usize, Vec<NamedArray>)>, QueryError>,
) -> PyResult<Vec<(usize, Vec<Column>)>> {
    found.map(columns).map_err(|e| query_error(py, &e))
}

/// Rows or types of rows, by the booking's index, as Python gets them.
pub fn columns(found: Vec<(usize, Vec<NamedArray>)>) -> Vec<(usize, Vec<Column>)> {
    let columns = |arrays: Vec<NamedArray>| arrays.into_iter().map(column).collect();
    found
        .into_iter()
        .map(|(booking, arrays)| (booking, columns(arrays)))
        .collect()
}
