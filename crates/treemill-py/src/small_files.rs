//! Small files in one call, for Python: what it gives of each, and what it gets.

use crate::arrow::Column;
use crate::file::{Device, Seen, uuid};
use crate::partial::{Partial, columns};
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use std::sync::Arc;
use treemill_engine::{Constant, Done, Files, Is, look};
use treemill_read::Table;
use treemill_source::{Identity, Source, SourceError};

/// A constant of a file, of which all that are possible are tried in this order: a bool is a number, too.
#[derive(FromPyObject)]
pub enum Value {
    Bool(bool),
    Signed(i64),
    Unsigned(u64),
    Real(f64),
    Text(String),
}

impl Value {
    pub fn constant(self) -> Constant {
        match self {
            Value::Bool(value) => Constant::Bool(value),
            Value::Signed(value) => Constant::Signed(value),
            Value::Unsigned(value) => Constant::Unsigned(value),
            Value::Real(value) => Constant::Real(value),
            Value::Text(value) => Constant::Text(value),
        }
    }
}

/// A part of a file that was run: its entries, how many of them were run, the rows that they have, what the files of its friends
/// were, the file's size, what it was (`treemill.data.identity.Identity`), and its UUID.
pub type DoneFile<'py> = (
    u64,
    u64,
    Vec<Rows>,
    Vec<(Seen<'py>, Option<String>)>,
    pyo3::Bound<'py, PyTuple>,
    Seen<'py>,
    Option<String>,
);

/// Rows from one entry on: pairs of a booking's index and its columns.
pub type Rows = (u64, Vec<(usize, Vec<Column>)>);

/// The partial, what was done, and why it has ended.
pub type FilesRun<'py> = (Option<Py<Partial>>, Vec<DoneFile<'py>>, &'static str);

/// Files that were run. Many of them have the same sizes, and are on one device: these are made once.
pub fn done_files(py: Python<'_>, done: Vec<Done>) -> PyResult<Vec<DoneFile<'_>>> {
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
        let mut is = |is: Is| Ok((device.seen(py, &is.identity)?, is.uuid.map(uuid)));
        let friends = done.friends.into_iter().map(&mut is);
        let friends = friends.collect::<PyResult<_>>()?;
        let (seen, number) = is(done.is)?;
        let rows = rows.collect();
        Ok((
            done.entries,
            done.reached,
            rows,
            friends,
            object,
            seen,
            number,
        ))
    });
    files.collect()
}

/// Files of this machine.
pub struct Local;

impl Files for Local {
    fn open(&self, path: &str) -> Result<Arc<dyn Source>, SourceError> {
        treemill_remote::mounts::open(path)
    }

    fn identity(&self, path: &str) -> Option<Identity> {
        treemill_source::Local::identity_at(path)
    }
}

/// A file that was looked at: its size, what it is, its UUID, and whether its entries are in an order.
type LookedAt<'py> = (pyo3::Bound<'py, PyTuple>, Seen<'py>, Option<String>, bool);

/// Looks at the tables of files of this machine, each a path and the table's name, up to the first one that is unusual. `unordered`:
/// the title of tables whose entries are in no order.
#[pyfunction]
pub fn look_at_files<'py>(
    py: Python<'py>,
    files: Vec<(String, String)>,
    unordered: &str,
) -> PyResult<Vec<LookedAt<'py>>> {
    let looked = py.detach(|| {
        let parts = files
            .iter()
            .map(|(path, table)| (path.as_str(), table.as_str()));
        let kept = look(&Local, parts).map(|looked| {
            let table = &looked.table;
            let is_shuffled = match table {
                Table::Tree(file) => file.tree().is_reshuffled,
                Table::NTuple(_) => false,
            };
            let has_order = !is_shuffled && table.title() != unordered;
            (table.entries(), table.clusters(), looked.is, has_order)
        });
        kept.collect::<Vec<_>>()
    });
    let mut device = Device::default();
    let looked = looked
        .into_iter()
        .map(|(entries, clusters, is, has_order)| {
            let size = (entries, PyTuple::new(py, clusters)?).into_pyobject(py)?;
            let seen = device.seen(py, &is.identity)?;
            Ok((size, seen, is.uuid.map(uuid), has_order))
        });
    looked.collect()
}
