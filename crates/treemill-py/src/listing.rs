//! A table's columns as the dicts that Python lists, and what the names of columns tell.

use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple};
use treemill_engine::Listed;
use treemill_query::DType;
use treemill_read::Table;

/// All columns, parents before their children, as dicts.
pub fn columns<'py>(py: Python<'py>, table: &Table) -> PyResult<Bound<'py, PyList>> {
    let listed = py.detach(|| Listed::all(table));
    let list = PyList::empty(py);
    let mut first = None;
    for column in &listed {
        list.append(dict(py, column, &mut first)?)?;
    }
    Ok(list)
}

/// Made over a copy of the `first`: a dict that has all its keys need not grow.
fn dict<'py>(
    py: Python<'py>,
    column: &Listed<'_>,
    first: &mut Option<Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyDict>> {
    let item = match first {
        Some(first) => first.copy()?,
        None => PyDict::new(py),
    };
    item.set_item(intern!(py, "name"), column.name)?;
    item.set_item(intern!(py, "also"), PyTuple::new(py, &column.also)?)?;
    item.set_item(intern!(py, "path"), &column.path)?;
    item.set_item(intern!(py, "parent"), &column.parent)?;
    item.set_item(intern!(py, "title"), column.title)?;
    item.set_item(intern!(py, "cpp_type"), column.cpp_type)?;
    item.set_item(intern!(py, "supported"), column.reason.is_none())?;
    item.set_item(
        intern!(py, "reason"),
        column.reason.as_ref().filter(|_| !column.is_group()),
    )?;
    item.set_item(intern!(py, "kind"), column.shape.kind)?;
    item.set_item(intern!(py, "dtype"), column.shape.dtype.map(DType::name))?;
    item.set_item(intern!(py, "item"), &column.shape.item)?;
    item.set_item(intern!(py, "len"), column.shape.len)?;
    item.set_item(intern!(py, "usable"), PyTuple::new(py, &column.usable)?)?;
    item.set_item(intern!(py, "unusable"), PyTuple::new(py, &column.unusable)?)?;
    item.set_item(intern!(py, "counter"), column.counter)?;
    item.set_item(intern!(py, "is_member"), column.is_member)?;
    item.set_item(intern!(py, "total_bytes"), column.total_bytes)?;
    item.set_item(intern!(py, "zip_bytes"), column.zip_bytes)?;
    item.set_item(intern!(py, "baskets"), column.baskets)?;
    first.get_or_insert_with(|| item.clone());
    Ok(item)
}

/// The collections that members of these names may refer to, by the names of all columns.
#[pyfunction]
pub fn referred(columns: Vec<String>, members: Vec<String>) -> Vec<String> {
    treemill_query::referred(&columns, &members)
        .into_iter()
        .collect()
}

/// The names that expressions may give to the collection that a column is of, in addition to the column's own.
#[pyfunction]
pub fn called(column: &str) -> Vec<String> {
    treemill_query::called(column)
}
