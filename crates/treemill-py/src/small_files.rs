//! Small files in one call, for Python: what it gives of each, and what it gets.

use crate::arrow::Column;
use crate::partial::{Partial, columns};
use pyo3::prelude::*;
use treemill_engine::{Constant, Done, Ended};

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

/// Rows from one entry on: pairs of a booking's index and its columns.
pub type Rows = (u64, Vec<(usize, Vec<Column>)>);

/// The partials, which are none if no part was run; the entries of each part that was run; how many of the last one's were run; by
/// the parts' places, the rows that they have, nothing if no part has any; and why it has ended.
pub type FilesRun = (
    Vec<Py<Partial>>,
    Vec<u64>,
    u64,
    Vec<Vec<Rows>>,
    &'static str,
);

/// What was run, for Python.
pub fn files_run(partials: Vec<Py<Partial>>, done: Vec<Done>, ended: &Ended) -> FilesRun {
    let entries = done.iter().map(|done| done.entries).collect();
    let reached = done.last().map_or(0, |done| done.reached);
    let has_rows = done.iter().any(|done| !done.rows.is_empty());
    let mut rows = Vec::new();
    for done in done.into_iter().filter(|_| has_rows) {
        let pieces = done.rows.into_iter();
        rows.push(pieces.map(|(at, rows)| (at, columns(rows))).collect());
    }
    let word = match ended {
        Ended::Well => "",
        Ended::Refused => "refused",
        Ended::Full => "full",
        Ended::Failed(_) => "failed",
    };
    (partials, entries, reached, rows, word)
}
