//! Queries: bound to trees, run over packets of them, detached from the GIL.

use crate::beside::Beside;
use crate::control::Control;
use crate::errors::{engine_error, query_error};
use crate::file::Tree;
use crate::foreign::{Object, foreign};
use crate::functions::Functions;
use crate::near_files::{Local, NearFiles};
use crate::partial::Partial;
use crate::small_files::{FilesRun, Value, files_run};
use pyo3::prelude::*;
use std::collections::HashMap;
use std::iter::repeat;
use std::sync::Arc;
use std::time::Duration;
use treemill_engine::{Part, Provider, Specification, Sum, Turn};

/// A query as data, not yet bound to a tree.
#[pyclass(frozen)]
pub struct Query {
    specification: Specification,
}

#[pymethods]
impl Query {
    /// `spec` is the JSON form of `treemill_query::spec::Spec`.
    /// `functions`: what its expressions call that is no function of the language, by id.
    #[new]
    #[pyo3(signature = (spec, functions=None))]
    fn new(
        py: Python<'_>,
        spec: &str,
        functions: Option<HashMap<String, PyRef<'_, Functions>>>,
    ) -> PyResult<Self> {
        let given = functions.unwrap_or_default().into_iter();
        let given = given
            .map(|(id, functions)| (id, functions.provided()))
            .collect();
        Specification::parse(spec)
            .map(|specification| Self {
                specification: specification.with_functions(given),
            })
            .map_err(|e| query_error(py, &e))
    }

    /// Compiles it against the columns of a tree, and those that `foreign`, a
    /// `treemill.data.foreign.Foreign`, adds to them. `rescue` is asked for values of branches, by their
    /// paths, that turn out to be unsupported when they are read.
    #[pyo3(signature = (tree, foreign=None, rescue=None))]
    fn bind(
        &self,
        py: Python<'_>,
        tree: &Tree,
        foreign: Option<pyo3::Bound<'_, PyAny>>,
        rescue: Option<pyo3::Bound<'_, PyAny>>,
    ) -> PyResult<Bound> {
        let foreign = foreign.map(self::foreign).transpose()?;
        let rescue = rescue.map(|object| Box::new(Object::new(object)) as Box<dyn Provider>);
        let specification = &self.specification;
        py.detach(|| treemill_engine::Bound::new(specification, &tree.catalog, foreign, rescue))
            .map(|inner| Bound {
                inner: Arc::new(inner),
            })
            .map_err(|e| engine_error(py, e))
    }

    /// Runs small files of this machine, or small parts of them, in order, and adds them to `partial`, or to a new one; `apart`: to
    /// a new one for each. Each is its number among `near`, the first entry and the entry before which it ends, which is the last one if there is none.
    /// `constants`: by the files' places, what all entries of each have in columns that are not its own; nothing if there are
    /// none. `beside`: what files lack or have friends for. No file is begun after `seconds`, and none with more than `most` entries. Gives the partials, what was done (see
    /// `FilesRun`), and why it has ended: "", or that the partial is `"full"`, the next file is `"refused"`, or it has `"failed"`,
    /// after which the partial must be thrown away.
    #[pyo3(signature = (near, spans, most, seconds, partial, control, constants=Vec::new(), beside=None, *, apart=false))]
    #[expect(clippy::too_many_arguments)]
    fn run_files(
        &self,
        py: Python<'_>,
        near: &NearFiles,
        spans: Vec<(usize, u64, Option<u64>)>,
        most: u64,
        seconds: f64,
        partial: Option<Py<Partial>>,
        control: &Control,
        constants: Vec<Vec<(String, Value)>>,
        beside: Option<&Beside>,
        apart: bool,
    ) -> PyResult<FilesRun> {
        let owned = |(name, value): (String, Value)| (name, value.constant());
        let constants: Vec<Vec<_>> = constants
            .into_iter()
            .map(|file| file.into_iter().map(owned).collect())
            .collect();
        let nothing = Beside::default();
        let beside = beside.unwrap_or(&nothing).inner();
        let time = Duration::try_from_secs_f64(seconds).unwrap_or_default();
        let turn = Turn {
            most_entries: most,
            time,
        };
        let known = partial.as_ref().map(|partial| partial.get());
        let run = py.detach(|| {
            let mut lock = known.map(Partial::lock);
            let constants = constants
                .iter()
                .map(Vec::as_slice)
                .chain(repeat([].as_slice()));
            let parts = spans.iter().zip(constants);
            let parts = parts.map(|(&(number, first, stop), constants)| Part {
                number,
                first,
                stop,
                constants,
            });
            treemill_engine::run_files(
                &self.specification,
                (&Local, near.inner()),
                parts,
                beside,
                turn,
                match apart {
                    true => Sum::Each,
                    false => Sum::One(lock.as_deref_mut()),
                },
                control.inner(),
            )
        });
        let made = run.made.into_iter();
        let made = made.map(|made| Py::new(py, Partial::new(made)));
        let partials = partial.into_iter().map(Ok).chain(made);
        Ok(files_run(
            partials.collect::<PyResult<_>>()?,
            run.done,
            &run.ended,
        ))
    }
}

/// A query bound to one tree. Any number of threads may run packets of it.
#[pyclass(frozen)]
pub struct Bound {
    inner: Arc<treemill_engine::Bound>,
}

#[pymethods]
impl Bound {
    /// Columns that the query reads, in the order in which it first needs them.
    #[getter]
    fn columns(&self) -> Vec<String> {
        self.inner.query().columns().to_vec()
    }

    /// Whether most of what the columns' baskets or pages hold is remembered: then packets that share
    /// one do not decompress it twice.
    fn is_remembered(&self, py: Python<'_>) -> bool {
        py.detach(|| self.inner.is_remembered())
    }

    /// The number of baskets or pages of the file's column that has the fewest; 1 without columns.
    fn fewest_baskets(&self, py: Python<'_>) -> usize {
        py.detach(|| self.inner.fewest_baskets())
    }

    /// What it does, in words, as JSON: see `treemill_query::Explanation`.
    fn explain(&self) -> PyResult<String> {
        serde_json::to_string(&self.inner.query().explain())
            .map_err(|e| pyo3::exceptions::PyRuntimeError::new_err(e.to_string()))
    }

    /// An empty partial of this query.
    fn partial(&self) -> Partial {
        Partial::new(self.inner.query().partial())
    }

    /// Asks for the bytes of the entries `[start, stop)`, which will be run later, without waiting. Does nothing if the
    /// file is a near one. What is sent is counted in `control`, if one is given.
    #[pyo3(signature = (start, stop, control=None))]
    fn prefetch(&self, py: Python<'_>, start: u64, stop: u64, control: Option<&Control>) {
        let unused = treemill_engine::Control::default();
        let control = control.map_or(&unused, Control::inner);
        py.detach(|| self.inner.prefetch(start..stop, control));
    }

    /// Drops what `prefetch` has asked for: these entries will not be run here.
    fn forget(&self, py: Python<'_>, start: u64, stop: u64) {
        py.detach(|| self.inner.forget(&(start..stop)));
    }

    /// Whether the file's last packet is done, no other one runs, and nothing was asked for that is not used.
    fn is_spent(&self) -> bool {
        self.inner.is_spent()
    }

    /// The bytes that should be in flight or wait for their use; 0 if the file is a near one.
    #[pyo3(signature = (*, opens=false))]
    fn ahead(&self, opens: bool) -> u64 {
        self.inner.ahead(opens)
    }

    /// The stored bytes that the entries `[start, stop)` need, if all pass the filters.
    fn bytes_of(&self, py: Python<'_>, start: u64, stop: u64) -> u64 {
        py.detach(|| self.inner.bytes_of(&(start..stop)))
    }

    /// Adds the entries `[start, stop)` to the partial. Returns the entry before which it ended:
    /// `stop`, or an earlier one after `control.stop()`, when rows have filled their room and are
    /// to be taken out before it goes on, or when the partial is full and is to be merged. After an error the partial holds an
    /// unknown part of the range and must be thrown away.
    fn run(
        &self,
        py: Python<'_>,
        start: u64,
        stop: u64,
        partial: &Partial,
        control: &Control,
    ) -> PyResult<u64> {
        py.detach(|| {
            self.inner
                .run(start..stop, &mut partial.lock(), control.inner())
        })
        .map_err(|e| engine_error(py, e))
    }
}
