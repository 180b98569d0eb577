//! Partials: what a worker has accumulated, as Python holds, sends and reads them.

use crate::errors::query_error;
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes, PyDict};
use std::sync::{Mutex, MutexGuard, PoisonError};
use treemill_query::{Number, Outcome};

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
    /// Adds another partial of the same query.
    fn merge(&self, py: Python<'_>, other: &Self) -> PyResult<()> {
        if std::ptr::eq(self, other) {
            return Err(pyo3::exceptions::PyValueError::new_err(
                "a partial cannot be merged with itself",
            ));
        }
        py.detach(|| {
            // Never two locks at once: two threads may merge in opposite directions.
            let other = other.lock().clone();
            self.lock().merge(&other)
        })
        .map_err(|e| query_error(py, &e))
    }

    /// For transport between processes.
    fn dumps<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = py
            .detach(|| self.lock().to_bytes())
            .map_err(|e| query_error(py, &e))?;
        Ok(PyBytes::new(py, &bytes))
    }

    #[staticmethod]
    fn loads(py: Python<'_>, data: &[u8]) -> PyResult<Self> {
        treemill_query::Partial::from_bytes(data)
            .map(Self::new)
            .map_err(|e| query_error(py, &e))
    }

    /// One result per booking, in their order.
    fn results(&self, py: Python<'_>) -> PyResult<Vec<Py<PyAny>>> {
        let outcomes = py.detach(|| self.lock().results());
        outcomes.iter().map(|o| outcome(py, o)).collect()
    }
}

fn outcome(py: Python<'_>, outcome: &Outcome) -> PyResult<Py<PyAny>> {
    match outcome {
        Outcome::Hist {
            shape,
            values,
            variances,
        } => {
            let hist = PyDict::new(py);
            hist.set_item("kind", "hist")?;
            hist.set_item("values", array(py, values, shape)?)?;
            let variances = variances.as_ref().map(|v| array(py, v, shape));
            hist.set_item("variances", variances.transpose()?)?;
            hist.into_py_any(py)
        }
        Outcome::Count(n) => n.into_py_any(py),
        Outcome::Sum(n) => number(py, n),
        Outcome::Mean(mean) => mean.into_py_any(py),
        Outcome::Min(n) | Outcome::Max(n) => n.map_or_else(|| Ok(py.None()), |n| number(py, &n)),
        Outcome::Extent(None) => Ok(py.None()),
        Outcome::Extent(Some((low, high, n))) => {
            (number(py, low)?, number(py, high)?, *n).into_py_any(py)
        }
    }
}

fn number(py: Python<'_>, n: &Number) -> PyResult<Py<PyAny>> {
    match n {
        Number::Bool(b) => b.into_py_any(py),
        Number::Int(i) => i.into_py_any(py),
        Number::Float(f) => f.into_py_any(py),
    }
}

/// A numpy array of doubles that owns its memory.
fn array<'py>(py: Python<'py>, values: &[f64], shape: &[usize]) -> PyResult<Bound<'py, PyAny>> {
    let bytes: Vec<u8> = values.iter().flat_map(|v| v.to_ne_bytes()).collect();
    py.import("numpy")?
        .call_method1("frombuffer", (PyByteArray::new(py, &bytes), "f8"))?
        .call_method1("reshape", (shape.to_vec(),))
}
