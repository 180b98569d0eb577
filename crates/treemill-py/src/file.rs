//! Files and trees (RNTuples too): what they hold, and whole columns of a range.

use crate::arrow::Column;
use crate::control::Control;
use crate::errors::read_error;
use crate::interrupt::interruptible;
use crate::listing;
use crate::remote::marks;
use pyo3::exceptions::PyUserWarning;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList};
use std::ops::Range;
use std::sync::Arc;
use treemill_engine::Catalog;
use treemill_read::{Ahead, Counters, ReadError, Reader, Table, stored_bytes};
use treemill_source::{Request, Source, SourceError};

/// A UUID as RFC 9562 writes it.
pub fn uuid(bytes: [u8; 16]) -> String {
    let bits = u128::from_be_bytes(bytes);
    let part = |shift: u32| (bits >> shift) & 0xffff;
    let (first, last) = (bits >> 96, bits & 0xffff_ffff_ffff);
    format!(
        "{first:08x}-{:04x}-{:04x}-{:04x}-{last:012x}",
        part(80),
        part(64),
        part(48)
    )
}

/// A file of this machine, or one on a server.
fn source(path: &str) -> Result<Arc<dyn Source>, SourceError> {
    match is_far(path) {
        true => treemill_remote::open(path),
        false => treemill_remote::mounts::open(path),
    }
}

/// A file on a server that was opened and described in the background.
fn described(url: &str) -> Option<Arc<treemill_read::File>> {
    treemill_remote::described(url)?.downcast().ok()
}

/// Whether the name is that of a file on a server.
fn is_far(name: &str) -> bool {
    name.contains("://")
}

/// Reads, detached from the GIL. If servers may have to be waited for, Ctrl-C ends the wait.
fn waited<T: Send + 'static>(
    py: Python<'_>,
    is_far: bool,
    read: impl FnOnce() -> T + Send + 'static,
) -> PyResult<T> {
    match is_far {
        true => interruptible(py, read),
        false => Ok(py.detach(read)),
    }
}

/// Warns the user, from any thread; not while Python ends.
fn warn(message: &str) {
    let _ = Python::try_attach(|py| {
        let category = py.get_type::<PyUserWarning>();
        let text = std::ffi::CString::new(message).unwrap_or_default();
        // A user who turns warnings into errors gets it printed: no call of the user's is there to raise it.
        if let Err(error) = PyErr::warn(py, &category, &text, 1) {
            error.write_unraisable(py, None);
        }
    });
}

/// An open ROOT file.
#[pyclass(frozen)]
pub struct File {
    inner: Arc<treemill_read::File>,
}

#[pymethods]
impl File {
    /// `replicas`: the addresses of a file that lies at several; `path` is its logical name then. `assumed`: whether a file on
    /// a server is taken for what this process has seen last, until it answers.
    #[new]
    #[pyo3(signature = (path, replicas=Vec::new(), *, assumed=false))]
    fn new(py: Python<'_>, path: String, replicas: Vec<String>, assumed: bool) -> PyResult<Self> {
        let is_far = is_far(&path) || !replicas.is_empty();
        if is_far
            && replicas.is_empty()
            && let Some(inner) = described(&path)
        {
            return Ok(Self { inner });
        }
        waited(py, is_far, move || {
            let known = assumed
                .then(|| treemill_remote::open_assumed(&path))
                .flatten();
            let source = match (known, replicas.as_slice()) {
                (Some(known), _) => Ok(known),
                (None, []) => source(&path),
                _ => treemill_remote::open_replicas(&path, &replicas, Box::new(warn)),
            };
            let source = source.map_err(ReadError::source)?;
            treemill_read::File::open(source)
        })?
        .map(|inner| Self { inner })
        .map_err(|e| read_error(py, &e))
    }

    /// The name, as it was given.
    #[getter]
    fn path(&self) -> &str {
        self.inner.source().name()
    }

    /// Bytes, and marks of the state in which the file was opened, as `remote_stat` gives them; None if that may have been
    /// told by another server, which has other marks of the same file.
    #[getter]
    fn state(&self) -> (u64, Option<Vec<u64>>) {
        let source = self.inner.source();
        let identity = source.identity().filter(|_| !source.info().may_move);
        (source.size(), identity.map(marks))
    }

    /// The file's UUID as RFC 9562 writes it; None if its header has none.
    #[getter]
    fn uuid(&self) -> Option<String> {
        self.inner.uuid().map(uuid)
    }

    /// The bytes of these ranges, in one vectored read, for other readers of the format.
    fn read<'py>(
        &self,
        py: Python<'py>,
        ranges: Vec<(u64, u64)>,
    ) -> PyResult<Vec<Bound<'py, PyBytes>>> {
        let source = Arc::clone(self.inner.source());
        let is_far = !source.costs().is_near();
        let filled = waited(py, is_far, move || {
            let wanted = ranges
                .into_iter()
                .map(|(start, stop)| Request::new(start..stop));
            let mut requests: Vec<Request> = wanted.collect();
            source.read(&mut requests).map(|()| requests)
        })?
        .map_err(|e| read_error(py, &ReadError::source(e)))?;
        let bytes = filled
            .iter()
            .map(|request| PyBytes::new(py, &request.buffer));
        Ok(bytes.collect())
    }

    /// All trees and RNTuples, those in directories too: dicts of path, cycle, class and title.
    fn trees<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let list = PyList::empty(py);
        for tree in self.inner.tables() {
            let item = PyDict::new(py);
            item.set_item("path", tree.path)?;
            item.set_item("cycle", tree.cycle)?;
            item.set_item("class", tree.class)?;
            item.set_item("title", tree.title)?;
            list.append(item)?;
        }
        Ok(list)
    }

    /// The tree or RNTuple of that path; `;cycle` may follow, else it is the newest.
    fn tree(&self, py: Python<'_>, name: String) -> PyResult<Tree> {
        let inner = Arc::clone(&self.inner);
        let table = match inner.known_table(&name) {
            Some(table) => Ok(table),
            None => waited(py, !inner.source().costs().is_near(), move || {
                inner.table(&name)
            })?,
        };
        table
            .map(|table| Tree {
                catalog: Catalog::new(table),
            })
            .map_err(|e| read_error(py, &e))
    }
}

/// A tree or an RNTuple of an open file.
#[pyclass(frozen)]
pub struct Tree {
    pub catalog: Catalog,
}

#[pymethods]
impl Tree {
    #[getter]
    fn name(&self) -> &str {
        self.table().name()
    }

    #[getter]
    fn title(&self) -> &str {
        self.table().title()
    }

    #[getter]
    fn num_entries(&self) -> u64 {
        self.table().entries()
    }

    /// First entries of its clusters.
    #[getter]
    fn clusters(&self) -> Vec<u64> {
        self.table().clusters()
    }

    /// Names and expressions of TTree::SetAlias.
    #[getter]
    fn aliases<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let dict = PyDict::new(py);
        if let Table::Tree(file) = self.table() {
            for (name, expression) in &file.tree().aliases {
                dict.set_item(name, expression)?;
            }
        }
        Ok(dict)
    }

    /// The two expressions of TTree::BuildIndex; None without an index.
    #[getter]
    fn index(&self) -> Option<(String, String)> {
        match self.table() {
            Table::Tree(file) => file.tree().index.clone(),
            Table::NTuple(_) => None,
        }
    }

    /// What TTree::SetWeight has set; 1 without that.
    #[getter]
    fn weight(&self) -> f64 {
        match self.table() {
            Table::Tree(file) => file.tree().weight,
            Table::NTuple(_) => 1.0,
        }
    }

    /// Whether the entries are in another order than those of the tree that they come from, as
    /// TTree::kEntriesReshuffled says.
    #[getter]
    fn is_reshuffled(&self) -> bool {
        match self.table() {
            Table::Tree(file) => file.tree().is_reshuffled,
            Table::NTuple(_) => false,
        }
    }

    /// (alias, tree, file) of TTree::AddFriend, the file as it was given.
    #[getter]
    fn friends(&self) -> Vec<(String, String, String)> {
        let friends = match self.table() {
            Table::Tree(file) => file.tree().friends.as_slice(),
            Table::NTuple(_) => &[],
        };
        let named = friends.iter().cloned();
        named
            .map(|friend| (friend.alias, friend.tree, friend.file))
            .collect()
    }

    /// All branches or fields, parents before their children, as dicts.
    fn branches<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        listing::columns(py, self.table())
    }

    /// One Arrow column for each name, of the entries `[start, stop)`. Bytes are counted in
    /// `control`, if one is given. `flags`: booleans may come as numbers of a byte, 0 or 1, which
    /// `Column.flags` tells.
    #[pyo3(signature = (names, start, stop, control=None, *, flags=false))]
    fn read(
        &self,
        py: Python<'_>,
        names: Vec<String>,
        start: u64,
        stop: u64,
        control: Option<&Control>,
        flags: bool,
    ) -> PyResult<Vec<Column>> {
        let counters = control.map(|c| Arc::clone(&c.inner().counters));
        let table = self.table().clone();
        let is_far = !table.source().costs().is_near();
        waited(py, is_far, move || {
            columns(&table, &names, start..stop, flags, counters)
        })?
        .map_err(|e| read_error(py, &e))
    }

    /// Asks for the bytes of the entries `[start, stop)` of columns that will be read later, without waiting; names
    /// of which there are no columns are left out. What was asked for is kept as long as the answer is; None if the
    /// file is a near one. `most`: only of the lightest columns, which have at most this number of bytes together.
    /// What is sent is counted in `control`.
    #[pyo3(signature = (names, start, stop, control=None, *, most=None))]
    fn ask(
        &self,
        py: Python<'_>,
        names: Vec<String>,
        start: u64,
        stop: u64,
        control: Option<&Control>,
        most: Option<u64>,
    ) -> Option<Asked> {
        let counters = control.map(|c| Arc::clone(&c.inner().counters));
        let counters = counters.unwrap_or_default();
        let asked = py.detach(|| {
            let (table, columns, entries) = (self.table(), self.found(&names), start..stop);
            match most {
                None => Ahead::of(table, &columns, &entries, &counters),
                Some(most) => Ahead::of_lightest(table, &columns, &entries, most, &counters),
            }
        });
        asked.map(|ahead| Asked { _ahead: ahead })
    }

    /// The bytes that should be in flight or wait for their use; 0 if the file is a near one.
    fn ahead(&self) -> u64 {
        Ahead::bytes(self.table())
    }

    /// The stored bytes that the entries `[start, stop)` of columns need.
    fn bytes_of(&self, py: Python<'_>, names: Vec<String>, start: u64, stop: u64) -> u64 {
        py.detach(|| stored_bytes(self.table(), &self.found(&names), &(start..stop)))
    }
}

/// Bytes that were asked for, until it goes.
#[pyclass(frozen)]
pub struct Asked {
    _ahead: Ahead,
}

impl Tree {
    /// The numbers of those of the columns that the tree has.
    fn found(&self, names: &[String]) -> Vec<usize> {
        let found = names.iter().filter_map(|name| self.table().find(name).ok());
        found.collect()
    }

    fn table(&self) -> &Table {
        self.catalog.table()
    }
}

fn columns(
    table: &Table,
    names: &[String],
    range: Range<u64>,
    flags: bool,
    counters: Option<Arc<Counters>>,
) -> Result<Vec<Column>, ReadError> {
    let indices = names
        .iter()
        .map(|name| table.find(name))
        .collect::<Result<Vec<_>, _>>()?;
    let mut reader =
        Reader::new(table.clone(), &indices)?.with_counters(counters.unwrap_or_default());
    if flags {
        reader = reader.with_bytes_for_booleans();
    }
    let all: Vec<usize> = (0..indices.len()).collect();
    reader.ask(&all, range.clone())?; // in one go
    let mut columns = Vec::with_capacity(indices.len());
    for (column, (&index, name)) in indices.iter().zip(names).enumerate() {
        let field = table.arrow_field(index)?.with_name(name);
        columns.push(Column::new(field, reader.read(column, range.clone())?));
    }
    Ok(columns)
}
