//! What small files have beside their own columns, as Python says it.

use crate::arrow::Column;
use crate::near_files::NearFiles;
use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::sync::Arc;
use treemill_engine::{DefaultColumn, DefaultValue, FriendColumn, Joined};

/// What all files of a run have beside their own columns.
#[pyclass(frozen)]
#[derive(Default)]
pub struct Beside {
    inner: treemill_engine::Beside,
}

/// A column that files may lack: its name; what it holds then, one entry, or one list with one item if it has a counter; whether
/// values may be missing; and the counter, which says how many items each entry has. Without a value such files are refused.
type Default<'py> = (String, Option<PyRef<'py, Column>>, bool, Option<String>);

/// A column of a friend: its name in the query and in the friend, no values of it, whether some may be missing, and its counter's
/// name in the query; then what files of the friend hold that lack it, as of a column that files may lack, if they hold anything.
type OfFriend<'py> = (
    String,
    String,
    PyRef<'py, Column>,
    bool,
    Option<String>,
    Option<(PyRef<'py, Column>, Option<String>)>,
);

/// A friend: its columns, its files, and the first entries of the files that it is joined to and of its own, with the end of the
/// last ones.
type Friend<'py> = (
    Vec<OfFriend<'py>>,
    PyRef<'py, NearFiles>,
    Vec<u64>,
    Vec<u64>,
);

#[pymethods]
impl Beside {
    #[new]
    fn new(defaults: Vec<Default<'_>>, friends: Vec<Friend<'_>>) -> PyResult<Self> {
        let defaults = defaults.into_iter().map(default);
        let mut inner = treemill_engine::Beside {
            defaults: defaults.collect::<PyResult<_>>()?,
            ..treemill_engine::Beside::default()
        };
        for (columns, files, ours, theirs) in friends {
            let columns = columns.into_iter().map(of_friend);
            inner.friends.push(columns.collect::<PyResult<_>>()?);
            let files = files.inner().clone();
            inner.joined.push(Joined::new(files, ours, theirs));
        }
        Ok(Self { inner })
    }
}

impl Beside {
    /// For the engine.
    pub fn inner(&self) -> &treemill_engine::Beside {
        &self.inner
    }
}

fn default((name, column, is_nullable, counter): Default<'_>) -> PyResult<DefaultColumn> {
    let value = column.map(|column| value(&name, &column, is_nullable, counter));
    let value = value.transpose()?;
    Ok(DefaultColumn { name, value })
}

fn value(
    name: &str,
    column: &Column,
    is_nullable: bool,
    counter: Option<String>,
) -> PyResult<DefaultValue> {
    let value = column.array();
    let value = match counter {
        None => Some(value),
        Some(_) => items(&value),
    };
    let value = value.filter(|value| value.len() == 1);
    let value = value.ok_or_else(|| PyValueError::new_err(format!("{name} is no value")))?;
    Ok(DefaultValue {
        value,
        is_nullable,
        counter,
    })
}

/// The items of a list of one entry.
fn items(array: &ArrayRef) -> Option<ArrayRef> {
    let found = array.as_list_opt::<i64>();
    let found = found
        .filter(|list| list.len() == 1)
        .map(|list| list.value(0));
    let short = || array.as_list_opt::<i32>().filter(|list| list.len() == 1);
    found.or_else(|| Some(short()?.value(0)))
}

fn of_friend(
    (name, column, empty, is_nullable, counter, default): OfFriend<'_>,
) -> PyResult<FriendColumn> {
    let kind: ArrayRef = Arc::clone(&empty.array());
    let default = default.map(|(default, counter)| value(&column, &default, is_nullable, counter));
    let default = default.transpose()?;
    let kind = kind.data_type();
    Ok(FriendColumn::new(
        &name,
        &column,
        kind,
        is_nullable,
        counter,
        default,
    ))
}
