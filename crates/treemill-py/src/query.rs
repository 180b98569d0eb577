//! Queries: compiled against a tree, run over packets of it, detached from the GIL.

use crate::control::Control;
use crate::errors::{query_error, read_error};
use crate::file::Tree;
use crate::foreign::{Block, Foreign, Provider};
use crate::members::member;
use crate::origin::{Offer, Origin, Origins};
use crate::partial::Partial;
use arrow_array::{ArrayRef, UInt32Array};
use arrow_select::take::take;
use pyo3::prelude::*;
use std::error::Error;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use treemill_query::spec::Spec;
use treemill_query::{Columns, ProcessError, QueryError, Scratch};
use treemill_read::{Batch, Counters, ErrorKind, Options, ReadError, Reader, Table};

/// Rows that a partial may hold before they are to be taken out, in bytes, about.
const MOST_ROW_BYTES: usize = 32 << 20;

/// A query as data, not yet bound to a tree.
#[pyclass(frozen)]
pub struct Query {
    spec: Spec,
}

#[pymethods]
impl Query {
    /// `spec` is the JSON form of `treemill_query::spec::Spec`.
    #[new]
    fn new(py: Python<'_>, spec: &str) -> PyResult<Self> {
        serde_json::from_str(spec)
            .map(|spec| Self { spec })
            .map_err(|e| query_error(py, &not_a_query(&e)))
    }

    /// Compiles it against the columns of a tree, and those that `foreign`, a
    /// `treemill.foreign.Foreign`, adds to them. `rescue` is asked for values of branches, by their
    /// paths, that turn out to be unsupported when they are read.
    #[pyo3(signature = (tree, foreign=None, rescue=None))]
    fn bind(
        &self,
        py: Python<'_>,
        tree: &Tree,
        foreign: Option<pyo3::Bound<'_, PyAny>>,
        rescue: Option<pyo3::Bound<'_, PyAny>>,
    ) -> PyResult<Bound> {
        let foreign = foreign.map(Foreign::new).transpose()?;
        let rescue = rescue.map(Provider::new);
        py.detach(|| Bound::new(&self.spec, tree, foreign, rescue))
            .map_err(|e| e.raise(py))
    }
}

/// A query bound to one tree. Any number of threads may run packets of it.
#[pyclass(frozen)]
pub struct Bound {
    query: treemill_query::Query,
    tree: Table,
    foreign: Option<Foreign>,
    rescue: Option<Provider>,
    origins: Origins,
    /// Readers and buffers that no packet uses at the moment.
    idle: Mutex<Vec<State>>,
    /// Whether the last packet of the file was given out and done.
    is_read: AtomicBool,
}

/// What one running packet needs; kept for the next.
struct State {
    reader: Reader,
    scratch: Scratch,
    counters: Arc<Counters>,
}

#[pymethods]
impl Bound {
    /// Columns that the query reads, in the order in which it first needs them.
    #[getter]
    fn columns(&self) -> Vec<String> {
        self.query.columns().to_vec()
    }

    /// Whether most of what the columns' baskets or pages hold is remembered: then packets that share
    /// one do not decompress it twice.
    fn is_remembered(&self, py: Python<'_>) -> bool {
        py.detach(|| self.tree.is_remembered(&self.origins.branches))
    }

    /// What it does, in words, as JSON: see `treemill_query::Explanation`.
    fn explain(&self) -> PyResult<String> {
        serde_json::to_string(&self.query.explain())
            .map_err(|e| pyo3::exceptions::PyRuntimeError::new_err(e.to_string()))
    }

    /// An empty partial of this query.
    fn partial(&self) -> Partial {
        Partial::new(self.query.partial())
    }

    /// Adds the entries `[start, stop)` to the partial. Returns the entry before which it ended:
    /// `stop`, or an earlier one after `control.stop()`, or where rows have filled their room and are
    /// to be taken out before it goes on. After an error the partial holds an
    /// unknown part of the range and must be thrown away.
    fn run(
        &self,
        py: Python<'_>,
        start: u64,
        stop: u64,
        partial: &Partial,
        control: &Control,
    ) -> PyResult<u64> {
        py.detach(|| self.packet(start, stop, &mut partial.lock(), control))
            .map_err(|e| e.raise(py))
    }
}

impl Bound {
    fn new(
        spec: &Spec,
        tree: &Tree,
        foreign: Option<Foreign>,
        rescue: Option<Provider>,
    ) -> Result<Self, Failure> {
        let offer = Offer::new(tree.known(), foreign.as_ref());
        let query = treemill_query::Query::compile(spec, &offer.schema)?;
        let origins = offer.origins(query.columns())?;
        for &branch in &origins.branches {
            tree.inner.arrow_field(branch)?;
        }
        Ok(Self {
            query,
            tree: tree.inner.clone(),
            foreign,
            rescue,
            origins,
            idle: Mutex::default(),
            is_read: AtomicBool::new(false),
        })
    }

    fn packet(
        &self,
        start: u64,
        stop: u64,
        partial: &mut treemill_query::Partial,
        control: &Control,
    ) -> Result<u64, Failure> {
        let mut state = self.state(control)?;
        let mut blocks: Vec<Block> = Vec::new();
        blocks.resize_with(self.origins.blocks(), Block::default);
        let mut rescued: Vec<Block> = Vec::new();
        let mut batches = state.reader.batches(start..stop, Options::default())?;
        let mut reached = start;
        while !control.stopped() {
            let Some(batch) = batches.next_batch() else {
                break;
            };
            let end = batch.entries().end;
            let mut columns = BatchColumns {
                batch,
                of: self,
                blocks: &mut blocks,
                rescued: &mut rescued,
                stop,
            };
            self.query
                .process(&mut columns, partial, &mut state.scratch)?;
            reached = end;
            if partial.row_bytes() > MOST_ROW_BYTES {
                break;
            }
        }
        self.keep(state, stop);
        Ok(reached)
    }

    /// Keeps what a packet needed for the file's next packet. After the file's last one, whoever
    /// reads another file has the memory: sessions remember queries for longer than that.
    fn keep(&self, state: State, stop: u64) {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        idle.push(state);
        if stop >= self.tree.entries() {
            self.is_read.store(true, Ordering::Relaxed);
        }
        if self.is_read.load(Ordering::Relaxed) {
            for state in idle.drain(..) {
                state.scratch.leave();
            }
        }
    }

    fn state(&self, control: &Control) -> Result<State, ReadError> {
        let idle = self
            .idle
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .pop();
        match idle {
            Some(state) if Arc::ptr_eq(&state.counters, &control.counters) => Ok(state),
            _ => Ok(State {
                reader: Reader::new(self.tree.clone(), &self.origins.branches)?
                    .with_counters(Arc::clone(&control.counters))
                    .with_bytes_for_booleans(),
                scratch: Scratch::again(),
                counters: Arc::clone(&control.counters),
            }),
        }
    }
}

/// A batch of the reader, and the foreign columns beside it, as the query's columns.
struct BatchColumns<'a> {
    batch: Batch<'a>,
    of: &'a Bound,
    blocks: &'a mut [Block],
    /// By the reader's columns, as far as one was needed.
    rescued: &'a mut Vec<Block>,
    /// Where the packet ends.
    stop: u64,
}

impl BatchColumns<'_> {
    /// A branch of the tree, all of the batch or some rows; one that turns out to be unsupported,
    /// from who rescues such.
    fn own(
        &mut self,
        branch: usize,
        rows: Option<&[u32]>,
    ) -> Result<ArrayRef, Box<dyn Error + Send + Sync>> {
        let found = match rows {
            None => self.batch.column(branch),
            Some(rows) => self.batch.column_at(branch, rows),
        };
        let error = match found {
            Ok(array) => return Ok(array),
            Err(error) => error,
        };
        let index = self.of.origins.branches.get(branch).copied();
        let (Some(index), Some(rescue), Table::Tree(file), ErrorKind::Unsupported) =
            (index, &self.of.rescue, &self.of.tree, error.kind)
        else {
            return Err(error.into());
        };
        if self.rescued.len() <= branch {
            self.rescued.resize_with(branch + 1, Block::default);
        }
        let (path, entries) = (file.path(index), self.batch.entries());
        let block = &mut self.rescued[branch];
        let array = rescue.read(&path, block, entries, self.stop)?;
        Ok(match rows {
            None => array,
            Some(rows) => take(&array, &UInt32Array::from(rows.to_vec()), None)?,
        })
    }
}

impl Columns for BatchColumns<'_> {
    fn rows(&self) -> usize {
        self.batch.rows()
    }

    fn first(&self) -> u64 {
        self.batch.entries().start
    }

    fn column(&mut self, index: usize) -> Result<ArrayRef, Box<dyn Error + Send + Sync>> {
        match self.of.origins.columns.get(index) {
            Some(Origin::Own(branch, path)) => {
                let array = self.own(*branch, None)?;
                member(&array, path).ok_or_else(|| format!("column {index} is no record").into())
            }
            Some(&Origin::Foreign(column)) => {
                let (Some(foreign), Some(block)) = (&self.of.foreign, self.blocks.get_mut(index))
                else {
                    return Err(format!("no foreign column {column}").into());
                };
                Ok(foreign.read(column, block, self.batch.entries(), self.stop)?)
            }
            None => Err(format!("no column {index}").into()),
        }
    }

    fn can_pick(&self, index: usize) -> bool {
        // Members of one record are read together, for all entries.
        matches!(
            self.of.origins.columns.get(index),
            Some(Origin::Own(_, path)) if path.is_empty()
        )
    }

    fn column_at(
        &mut self,
        index: usize,
        rows: &[u32],
    ) -> Result<ArrayRef, Box<dyn Error + Send + Sync>> {
        match self.of.origins.columns.get(index) {
            Some(Origin::Own(branch, path)) if path.is_empty() => self.own(*branch, Some(rows)),
            _ => Err(format!("column {index} comes for whole batches").into()),
        }
    }
}

/// serde_json goes no deeper than this, so that no text can exhaust the stack.
const DEEPEST: usize = 127;

fn not_a_query(error: &serde_json::Error) -> QueryError {
    let message = error.to_string();
    QueryError::new(match message.contains("recursion limit") {
        true => format!("the query is nested more than {DEEPEST} levels deep"),
        false => format!("not a query: {message}"),
    })
}

/// Why a query could not be bound or run.
enum Failure {
    Query(QueryError),
    Read(ReadError),
    /// From a foreign column, as Python raised it.
    Foreign(PyErr),
    Other(String),
}

impl Failure {
    fn raise(&self, py: Python<'_>) -> PyErr {
        match self {
            Self::Query(e) => query_error(py, e),
            Self::Read(e) => read_error(py, e),
            Self::Foreign(e) => e.clone_ref(py),
            Self::Other(message) => pyo3::exceptions::PyRuntimeError::new_err(message.clone()),
        }
    }
}

impl From<QueryError> for Failure {
    fn from(error: QueryError) -> Self {
        Self::Query(error)
    }
}

impl From<ReadError> for Failure {
    fn from(error: ReadError) -> Self {
        Self::Read(error)
    }
}

impl From<ProcessError> for Failure {
    fn from(error: ProcessError) -> Self {
        match error {
            ProcessError::Query(e) => Self::Query(e),
            ProcessError::TooMany { message } => Self::Query(QueryError::new(message)),
            ProcessError::Column(e) => match e.downcast::<ReadError>() {
                Ok(e) => Self::Read(*e),
                Err(e) => match e.downcast::<PyErr>() {
                    Ok(e) => Self::Foreign(*e),
                    Err(e) => Self::Other(e.to_string()),
                },
            },
        }
    }
}
