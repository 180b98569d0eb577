//! Results of bookings as Python objects: numbers, tuples, dicts of numpy arrays, Arrow columns.

use crate::arrow::Column;
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes, PyDict};
use treemill_query::{NamedArray, Number, Outcome, Values};

/// One booking's result.
pub fn convert(py: Python<'_>, outcome: Outcome) -> PyResult<Py<PyAny>> {
    match outcome {
        Outcome::Hist {
            shape,
            values,
            variances,
            fills,
        } => {
            let made = PyDict::new(py);
            made.set_item("kind", "hist")?;
            made.set_item("values", array(py, &values, &shape)?)?;
            let variances = variances.as_ref().map(|v| array(py, v, &shape));
            made.set_item("variances", variances.transpose()?)?;
            made.set_item("fills", fills)?;
            made.into_py_any(py)
        }
        Outcome::Profile {
            shape,
            weights,
            weights_squared,
            means,
            deltas,
            sums,
            sums_of_squares,
            fills,
        } => {
            let made = PyDict::new(py);
            made.set_item("kind", "profile")?;
            made.set_item("weights", array(py, &weights, &shape)?)?;
            made.set_item("weights_squared", array(py, &weights_squared, &shape)?)?;
            made.set_item("means", array(py, &means, &shape)?)?;
            made.set_item("deltas", array(py, &deltas, &shape)?)?;
            made.set_item("sums", array(py, &sums, &shape)?)?;
            made.set_item("sums_of_squares", array(py, &sums_of_squares, &shape)?)?;
            made.set_item("fills", fills)?;
            made.into_py_any(py)
        }
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

/// A numpy array of doubles that owns its memory.
fn array<'py>(py: Python<'py>, values: &[f64], shape: &[usize]) -> PyResult<Bound<'py, PyAny>> {
    let bytes: Vec<u8> = values.iter().flat_map(|v| v.to_ne_bytes()).collect();
    py.import("numpy")?
        .call_method1("frombuffer", (PyByteArray::new(py, &bytes), "f8"))?
        .call_method1("reshape", (shape.to_vec(),))
}
