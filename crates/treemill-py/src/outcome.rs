//! Results of bookings without bins as Python objects: numbers, tuples, Arrow columns.

use crate::arrow::Column;
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use treemill_query::{NamedArray, Number, Outcome, Values};

/// The result of one booking without bins.
pub fn convert(py: Python<'_>, outcome: Outcome) -> PyResult<Py<PyAny>> {
    match outcome {
        // These are given as `Bins`.
        Outcome::Hist { .. } | Outcome::Profile { .. } => Ok(py.None()),
        Outcome::Count(n) => n.into_py_any(py),
        Outcome::Weights([sum, squares]) => (sum, squares).into_py_any(py),
        Outcome::Sum(n) => number(py, &n),
        Outcome::Mean(mean) => mean.into_py_any(py),
        Outcome::Min(n) | Outcome::Max(n) => n.map_or_else(|| Ok(py.None()), |n| number(py, &n)),
        Outcome::Extent(None) => Ok(py.None()),
        Outcome::Extent(Some((low, high, n))) => {
            (number(py, &low)?, number(py, &high)?, n).into_py_any(py)
        }
        Outcome::Moments {
            n,
            weights,
            weights_squared,
            mean,
            deltas,
        } => (n, weights, weights_squared, mean, deltas).into_py_any(py),
        Outcome::Unique(Values::Numbers(numbers)) => {
            let numbers: Vec<Py<PyAny>> = numbers
                .iter()
                .map(|n| number(py, n))
                .collect::<PyResult<_>>()?;
            numbers.into_py_any(py)
        }
        Outcome::Unique(Values::Strings(strings)) => {
            let strings: Vec<Bound<'_, PyBytes>> =
                strings.iter().map(|s| PyBytes::new(py, s)).collect();
            strings.into_py_any(py)
        }
        Outcome::Quantiles(found) => found.into_py_any(py),
        Outcome::Rows(columns) => {
            let columns: Vec<Column> = columns.into_iter().map(column).collect();
            columns.into_py_any(py)
        }
    }
}

/// A named array as a column.
pub fn column((field, array): NamedArray) -> Column {
    Column::new(field, array)
}

fn number(py: Python<'_>, n: &Number) -> PyResult<Py<PyAny>> {
    match n {
        Number::Bool(b) => b.into_py_any(py),
        Number::Int(i) => i.into_py_any(py),
        Number::Float(f) => f.into_py_any(py),
    }
}
