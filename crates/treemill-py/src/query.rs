//! Queries: bound to trees, run over packets of them, detached from the GIL.

use crate::arrow::Column;
use crate::control::Control;
use crate::errors::{engine_error, query_error};
use crate::file::{Device, Seen, Tree, uuid};
use crate::foreign::{Object, foreign};
use crate::functions::Functions;
use crate::partial::{Partial, columns};
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use std::collections::HashMap;
use std::iter::repeat;
use std::sync::Arc;
use std::time::Duration;
use treemill_engine::{Constant, Done, Ended, Files, Part, Provider, Specification, Turn};
use treemill_source::{Identity, Source, SourceError};

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

    /// Runs small files of this machine, or small parts of them, in order, and adds them to `partial`, or to a new one. Each is a
    /// path, a tree's name, the first entry and the entry before which it ends, which is the last one if there is none.
    /// `constants`: by the files' places, what all entries of each have in columns that are not its own; nothing if there are
    /// none. No file is begun after `seconds`, and none with more than `most` entries. Gives the partial, what was done (see
    /// `DoneFile`), and why it has ended: "", or that the partial is `"full"`, the next file is `"refused"`, or it has `"failed"`,
    /// after which the partial must be thrown away.
    #[pyo3(signature = (files, most, seconds, partial, control, constants=Vec::new()))]
    #[expect(clippy::too_many_arguments)]
    fn run_files<'py>(
        &self,
        py: Python<'py>,
        files: Vec<(String, String, u64, Option<u64>)>,
        most: u64,
        seconds: f64,
        partial: Option<Py<Partial>>,
        control: &Control,
        constants: Vec<Vec<(String, Value)>>,
    ) -> PyResult<FilesRun<'py>> {
        let owned = |(name, value): (String, Value)| (name, value.constant());
        let constants: Vec<Vec<_>> = constants
            .into_iter()
            .map(|file| file.into_iter().map(owned).collect())
            .collect();
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
            let parts = files.iter().zip(constants);
            let parts = parts.map(|((path, table, first, stop), constants)| Part {
                path,
                table,
                first: *first,
                stop: *stop,
                constants,
            });
            treemill_engine::run_files(
                &self.specification,
                &Local,
                parts,
                turn,
                lock.as_deref_mut(),
                control.inner(),
            )
        });
        let partial = match run.made {
            Some(made) => Some(Py::new(py, Partial::new(made))?),
            None => partial,
        };
        let word = match run.ended {
            Ended::Well => "",
            Ended::Refused => "refused",
            Ended::Full => "full",
            Ended::Failed(_) => "failed",
        };
        Ok((partial, done_files(py, run.done)?, word))
    }
}

/// A constant of a file, of which all that are possible are tried in this order: a bool is a number, too.
#[derive(FromPyObject)]
enum Value {
    Bool(bool),
    Signed(i64),
    Unsigned(u64),
    Real(f64),
    Text(String),
}

impl Value {
    fn constant(self) -> Constant {
        match self {
            Value::Bool(value) => Constant::Bool(value),
            Value::Signed(value) => Constant::Signed(value),
            Value::Unsigned(value) => Constant::Unsigned(value),
            Value::Real(value) => Constant::Real(value),
            Value::Text(value) => Constant::Text(value),
        }
    }
}

/// A part of a file that was run: its entries, how many of them were run, the rows that they have, the file's size, what it was
/// (`treemill.data.identity.Identity`), and its UUID.
type DoneFile<'py> = (
    u64,
    u64,
    Vec<Rows>,
    pyo3::Bound<'py, PyTuple>,
    Seen<'py>,
    Option<String>,
);

/// Rows from one entry on: pairs of a booking's index and its columns.
type Rows = (u64, Vec<(usize, Vec<Column>)>);

/// The partial, what was done, and why it has ended.
type FilesRun<'py> = (Option<Py<Partial>>, Vec<DoneFile<'py>>, &'static str);

/// Files that were run. Many of them have the same sizes, and are on one device: these are made once.
fn done_files(py: Python<'_>, done: Vec<Done>) -> PyResult<Vec<DoneFile<'_>>> {
    let mut size = None;
    let mut device = Device::default();
    let files = done.into_iter().map(|done| {
        let sizes = (done.table_entries, done.clusters);
        let known = size.take().filter(|(known, _)| *known == sizes);
        let (sizes, object) = match known {
            Some(known) => known,
            None => {
                let clusters = PyTuple::new(py, &sizes.1)?;
                let object = (sizes.0, clusters).into_pyobject(py)?;
                (sizes, object)
            }
        };
        size = Some((sizes, object.clone()));
        let rows = done.rows.into_iter().map(|(at, rows)| (at, columns(rows)));
        Ok((
            done.entries,
            done.reached,
            rows.collect(),
            object,
            device.seen(py, &done.identity)?,
            done.uuid.map(uuid),
        ))
    });
    files.collect()
}

/// Files of this machine.
struct Local;

impl Files for Local {
    fn open(&self, path: &str) -> Result<Arc<dyn Source>, SourceError> {
        treemill_remote::mounts::open(path)
    }

    fn identity(&self, path: &str) -> Option<Identity> {
        treemill_source::Local::identity_at(path)
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
