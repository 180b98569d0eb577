//! Models of boosted trees, for queries and for arrays.

use crate::functions::{Functions, load_error, raised};
use pyo3::buffer::PyBuffer;
use pyo3::prelude::*;
use std::sync::Arc;
use treemill_functions::trees::{Model, Output};

/// A model of boosted trees.
#[pyclass(frozen)]
pub struct BoostedTrees {
    model: Arc<Model>,
}

#[pymethods]
impl BoostedTrees {
    /// `content` is what the library has written, not compressed; `library`: `xgboost` or `lightgbm`.
    #[new]
    fn new(py: Python<'_>, content: &[u8], library: &str) -> PyResult<Self> {
        let read = match library {
            "lightgbm" => Model::from_lightgbm,
            _ => Model::from_xgboost,
        };
        let model = py.detach(|| read(content));
        let model = Arc::new(model.map_err(|e| load_error(py, &e))?);
        Ok(Self { model })
    }

    #[getter]
    fn library(&self) -> &'static str {
        self.model.library()
    }

    #[getter]
    fn features(&self) -> Vec<String> {
        self.model.features().to_vec()
    }

    #[getter]
    fn is_named(&self) -> bool {
        self.model.is_named()
    }

    #[getter]
    fn objective(&self) -> &str {
        self.model.objective()
    }

    #[getter]
    fn trees(&self) -> usize {
        self.model.trees()
    }

    #[getter]
    fn best_round(&self) -> Option<usize> {
        self.model.best_round()
    }

    /// How many outputs there are.
    fn outputs(&self, raw: bool) -> usize {
        self.model.outputs(raw)
    }

    /// The model as functions of a query: all outputs, or the one of a number.
    fn functions(&self, raw: bool, number: Option<usize>) -> Functions {
        Functions::new(match number {
            None => treemill_engine::model(&self.model, raw),
            Some(number) => treemill_engine::model_output(&self.model, Output { number, raw }),
        })
    }

    /// Writes values into `out`, a buffer of doubles. Arguments are numbers, or buffers of doubles of its length.
    fn evaluate(
        &self,
        py: Python<'_>,
        raw: bool,
        number: usize,
        arguments: Vec<pyo3::Bound<'_, PyAny>>,
        out: PyBuffer<f64>,
    ) -> PyResult<()> {
        let mut values = Vec::with_capacity(arguments.len());
        for argument in &arguments {
            values.push(match PyBuffer::<f64>::get(argument) {
                Ok(buffer) => buffer.to_vec(py)?,
                Err(_) => vec![argument.extract()?],
            });
        }
        let mut found = vec![0.0; out.item_count()];
        let done = py.detach(|| {
            let given: Vec<&[f64]> = values.iter().map(Vec::as_slice).collect();
            self.model
                .evaluate(&given, Output { number, raw }, &mut found)
        });
        done.map_err(|e| raised(py, "QueryError", e.message))?;
        out.copy_from_slice(py, &found)
    }
}
