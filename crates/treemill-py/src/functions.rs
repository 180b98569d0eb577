//! Functions that expressions call and that come from documents of the user's: corrections. What models are made of is
//! in `models.rs`.

use crate::limits::SPECIALISED_ROWS;
use crate::own_functions::Own;
use pyo3::buffer::PyBuffer;
use pyo3::exceptions::{PyKeyError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use std::collections::BTreeMap;
use std::sync::Arc;
use treemill_functions::corrections::{Argument, Constant, Correction, CorrectionSet, Kind};
use treemill_functions::{EvaluationError, LoadError, LoadErrorKind};
use treemill_query::{Collection, Function, Provided};

/// What a query takes for an id of its expressions.
#[pyclass(frozen)]
pub struct Functions {
    provided: Provided,
}

#[pymethods]
impl Functions {
    /// A function of the user's own: an object that `treemill/functions` makes. `parts`: others that belong to it, by
    /// what stands in brackets, `f["name"](x)`.
    #[staticmethod]
    #[pyo3(signature = (object, parts=None))]
    fn own(object: Py<PyAny>, parts: Option<BTreeMap<String, Py<PyAny>>>) -> Self {
        let function = |object| -> Arc<dyn Function> { Arc::new(Own::new(object)) };
        let itself = function(object);
        let parts = parts.unwrap_or_default();
        let provided = match parts.is_empty() {
            true => Provided::One(itself),
            false => Provided::Many(Arc::new(Collection {
                itself: Some(itself),
                functions: parts
                    .into_iter()
                    .map(|(name, part)| (name, function(part)))
                    .collect(),
                parts: BTreeMap::new(),
            })),
        };
        Self { provided }
    }
}

impl Functions {
    pub fn new(provided: Provided) -> Self {
        Self { provided }
    }

    pub fn provided(&self) -> Provided {
        self.provided.clone()
    }
}

/// Name, type and description of an input or output.
type Described = (String, &'static str, String);

/// A document of corrections.
#[pyclass(frozen)]
pub struct Corrections {
    set: CorrectionSet,
}

/// The values of one argument from Python.
enum Values {
    Real(Vec<f64>),
    Integer(Vec<i64>),
    Text(String),
}

#[pymethods]
impl Corrections {
    /// `content` is the JSON text, not compressed.
    #[new]
    fn new(py: Python<'_>, content: &[u8]) -> PyResult<Self> {
        py.detach(|| CorrectionSet::parse(content))
            .map(|set| Self { set })
            .map_err(|e| load_error(py, &e))
    }

    #[getter]
    fn description(&self) -> &str {
        self.set.description()
    }

    /// Names of the corrections, or of the compounds.
    fn names(&self, compound: bool) -> Vec<String> {
        self.all(compound).keys().cloned().collect()
    }

    /// Description, version, inputs and output of one.
    #[allow(clippy::type_complexity)]
    fn describe(
        &self,
        name: &str,
        compound: bool,
    ) -> PyResult<(String, Option<i32>, Vec<Described>, Described)> {
        let found = self.one(name, compound)?;
        let described = |variable: &treemill_functions::corrections::Variable| {
            let name = variable.name.clone();
            (name, variable.kind.name(), variable.description.clone())
        };
        Ok((
            found.description().to_owned(),
            found.version(),
            found.inputs().iter().map(described).collect(),
            described(found.output()),
        ))
    }

    /// All functions of the set, for a query.
    fn functions(&self) -> Functions {
        let provided = treemill_engine::corrections(&self.set);
        Functions { provided }
    }

    /// One, for a query.
    fn function(&self, name: &str, compound: bool) -> PyResult<Functions> {
        let provided = treemill_engine::correction(self.one(name, compound)?);
        Ok(Functions { provided })
    }

    /// Writes values into `out`, a buffer of doubles. Arguments are a string, a number, or a buffer of doubles
    /// or 64-bit integers as the input's type is.
    fn evaluate(
        &self,
        py: Python<'_>,
        name: &str,
        compound: bool,
        arguments: Vec<pyo3::Bound<'_, PyAny>>,
        out: PyBuffer<f64>,
    ) -> PyResult<()> {
        let correction = self.one(name, compound)?;
        let mut values = Vec::with_capacity(arguments.len());
        for (i, argument) in arguments.iter().enumerate() {
            let kind = correction.inputs().get(i).map(|input| input.kind);
            values.push(values_of(argument, kind)?);
        }
        let rows = out.item_count();
        let found = py.detach(|| evaluated(correction, &values, rows));
        let found = found.map_err(|e| query_error(py, correction.name(), &e))?;
        out.copy_from_slice(py, &found)
    }
}

impl Corrections {
    fn all(&self, compound: bool) -> &BTreeMap<String, Arc<Correction>> {
        match compound {
            true => self.set.compounds(),
            false => self.set.corrections(),
        }
    }

    fn one(&self, name: &str, compound: bool) -> PyResult<&Arc<Correction>> {
        let found = self.all(compound).get(name);
        found.ok_or_else(|| PyKeyError::new_err(name.to_owned()))
    }
}

fn values_of(argument: &pyo3::Bound<'_, PyAny>, kind: Option<Kind>) -> PyResult<Values> {
    let py = argument.py();
    if let Ok(text) = argument.extract::<String>() {
        return Ok(Values::Text(text));
    }
    match kind {
        Some(Kind::Integer) => match PyBuffer::<i64>::get(argument) {
            Ok(buffer) => Ok(Values::Integer(buffer.to_vec(py)?)),
            Err(_) => Ok(Values::Integer(vec![argument.extract()?])),
        },
        Some(Kind::Real) => match PyBuffer::<f64>::get(argument) {
            Ok(buffer) => Ok(Values::Real(buffer.to_vec(py)?)),
            Err(_) => Ok(Values::Real(vec![argument.extract()?])),
        },
        _ => Err(PyTypeError::new_err("a string is wanted here")),
    }
}

fn evaluated(
    correction: &Correction,
    values: &[Values],
    rows: usize,
) -> Result<Vec<f64>, EvaluationError> {
    let texts: Vec<[&[u8]; 1]> = values
        .iter()
        .map(|values| match values {
            Values::Text(text) => [text.as_bytes()],
            _ => [&[] as &[u8]],
        })
        .collect();
    let arguments: Vec<Argument<'_>> = values
        .iter()
        .zip(&texts)
        .map(|(values, text)| match values {
            Values::Real(values) => Argument::Real(values),
            Values::Integer(values) => Argument::Integer(values),
            Values::Text(_) => Argument::Text(text),
        })
        .collect();
    let mut out = vec![0.0; rows];
    if rows < SPECIALISED_ROWS {
        correction.evaluate(&arguments, &mut out)?;
        return Ok(out);
    }
    let constant = |values: &Values| match values {
        Values::Real(values) => match values.as_slice() {
            [only] => Some(Constant::Real(*only)),
            _ => None,
        },
        Values::Integer(values) => match values.as_slice() {
            [only] => Some(Constant::Integer(*only)),
            _ => None,
        },
        Values::Text(text) => Some(Constant::Text(text.as_bytes().to_vec())),
    };
    let constants: Vec<Option<Constant>> = values.iter().map(constant).collect();
    correction
        .specialised(&constants)?
        .evaluate(&arguments, &mut out)?;
    Ok(out)
}

/// The error of a document or a model that cannot be read.
pub fn load_error(py: Python<'_>, error: &LoadError) -> PyErr {
    let class = match error.kind {
        LoadErrorKind::Malformed => "FormatError",
        LoadErrorKind::Unsupported => "UnsupportedError",
    };
    raised(py, class, error.message.clone())
}

fn query_error(py: Python<'_>, name: &str, error: &EvaluationError) -> PyErr {
    raised(py, "QueryError", format!("{name}: {}", error.message))
}

/// One of treemill's errors.
pub fn raised(py: Python<'_>, class: &str, message: String) -> PyErr {
    let made = || {
        py.import("treemill.errors")?
            .getattr(class)?
            .call1((message.clone(),))
    };
    match made() {
        Ok(error) => PyErr::from_value(error),
        Err(_) => PyValueError::new_err(message),
    }
}
