//! Files and trees (RNTuples too): what they hold, and whole columns of a range.

use crate::arrow::Column;
use crate::control::Control;
use crate::errors::read_error;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use std::sync::Arc;
use treemill_format::layout::Layout;
use treemill_format::tree::Branch;
use treemill_query::DType;
use treemill_read::rntuple::NTupleFile;
use treemill_read::{Counters, ReadError, Table, TreeFile};
use treemill_source::Local;

use crate::fields;
use crate::schema::dtype;

/// An open ROOT file.
#[pyclass(frozen)]
pub struct File {
    inner: Arc<treemill_read::File>,
}

#[pymethods]
impl File {
    #[new]
    fn new(py: Python<'_>, path: &str) -> PyResult<Self> {
        py.detach(|| {
            let source = Local::open(path).map_err(ReadError::source)?;
            treemill_read::File::open(Arc::new(source))
        })
        .map(|inner| Self { inner })
        .map_err(|e| read_error(py, &e))
    }

    /// Its name, as it was given.
    #[getter]
    fn path(&self) -> &str {
        self.inner.source().name()
    }

    /// All trees and RNTuples, those in directories too: dicts of path, cycle, class and title.
    fn trees<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let list = PyList::empty(py);
        for tree in self.inner.tables() {
            let item = PyDict::new(py);
            item.set_item(intern!(py, "path"), tree.path)?;
            item.set_item(intern!(py, "cycle"), tree.cycle)?;
            item.set_item(intern!(py, "class"), tree.class)?;
            item.set_item(intern!(py, "title"), tree.title)?;
            list.append(item)?;
        }
        Ok(list)
    }

    /// The tree or RNTuple of that path; `;cycle` may follow, else it is the newest.
    fn tree(&self, py: Python<'_>, name: &str) -> PyResult<Tree> {
        py.detach(|| self.inner.table(name))
            .map(|inner| Tree { inner })
            .map_err(|e| read_error(py, &e))
    }
}

/// A tree or an RNTuple of an open file.
#[pyclass(frozen)]
pub struct Tree {
    pub inner: Table,
}

#[pymethods]
impl Tree {
    #[getter]
    fn name(&self) -> &str {
        self.inner.name()
    }

    #[getter]
    fn title(&self) -> &str {
        self.inner.title()
    }

    #[getter]
    fn num_entries(&self) -> u64 {
        self.inner.entries()
    }

    /// First entries of its clusters.
    #[getter]
    fn clusters(&self) -> Vec<u64> {
        self.inner.clusters()
    }

    /// Names and expressions of TTree::SetAlias.
    #[getter]
    fn aliases<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let dict = PyDict::new(py);
        if let Table::Tree(file) = &self.inner {
            for (name, expression) in &file.tree().aliases {
                dict.set_item(name, expression)?;
            }
        }
        Ok(dict)
    }

    /// All branches or fields, parents before their children, as dicts.
    fn branches<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        match &self.inner {
            Table::Tree(file) => branches(py, file),
            Table::NTuple(file) => ntuple_fields(py, file),
        }
    }

    /// One Arrow column for each name, of the entries `[start, stop)`. Bytes are counted in
    /// `control`, if one is given.
    #[pyo3(signature = (names, start, stop, control=None))]
    fn read(
        &self,
        py: Python<'_>,
        names: Vec<String>,
        start: u64,
        stop: u64,
        control: Option<&Control>,
    ) -> PyResult<Vec<Column>> {
        let counters = control.map(|c| Arc::clone(&c.counters));
        py.detach(|| self.columns(&names, start, stop, counters))
            .map_err(|e| read_error(py, &e))
    }
}

impl Tree {
    fn columns(
        &self,
        names: &[String],
        start: u64,
        stop: u64,
        counters: Option<Arc<Counters>>,
    ) -> Result<Vec<Column>, ReadError> {
        let indices = names
            .iter()
            .map(|name| self.inner.find(name))
            .collect::<Result<Vec<_>, _>>()?;
        let mut reader = self
            .inner
            .reader(&indices)?
            .with_counters(counters.unwrap_or_default());
        let mut columns = Vec::with_capacity(indices.len());
        for (column, (&index, name)) in indices.iter().zip(names).enumerate() {
            let field = self.inner.arrow_field(index)?.with_name(name);
            columns.push(Column::new(field, reader.read(column, start..stop)?));
        }
        Ok(columns)
    }
}

fn branches<'py>(py: Python<'py>, file: &TreeFile) -> PyResult<Bound<'py, PyList>> {
    let list = PyList::empty(py);
    for (index, branch) in file.tree().branches.iter().enumerate() {
        let reason = file.readable(index).err().map(|e| e.message);
        let shape = Shape::of(branch, reason.is_none());
        let item = PyDict::new(py);
        item.set_item(intern!(py, "name"), &branch.name)?;
        item.set_item(intern!(py, "path"), file.path(index))?;
        item.set_item(intern!(py, "title"), &branch.title)?;
        item.set_item(intern!(py, "cpp_type"), &branch.cpp_type)?;
        item.set_item(intern!(py, "supported"), reason.is_none())?;
        item.set_item(
            intern!(py, "reason"),
            reason.filter(|_| shape.kind != "group"),
        )?;
        item.set_item(intern!(py, "kind"), shape.kind)?;
        item.set_item(intern!(py, "dtype"), shape.dtype.map(DType::name))?;
        item.set_item(intern!(py, "len"), shape.len)?;
        item.set_item(intern!(py, "counter"), &branch.counter)?;
        item.set_item(intern!(py, "is_member"), false)?;
        item.set_item(intern!(py, "total_bytes"), branch.total_bytes)?;
        item.set_item(intern!(py, "zip_bytes"), branch.zip_bytes)?;
        item.set_item(
            intern!(py, "baskets"),
            branch.baskets.len() + branch.embedded.len(),
        )?;
        list.append(item)?;
    }
    Ok(list)
}

fn ntuple_fields<'py>(py: Python<'py>, file: &NTupleFile) -> PyResult<Bound<'py, PyList>> {
    let list = PyList::empty(py);
    for (index, field) in file.fields().iter().enumerate() {
        let shape = file
            .arrow_field(index)
            .and_then(|_| file.shape(index))
            .map_err(|e| e.message);
        let described = shape.as_ref().map(fields::describe);
        let (kind, dtype, len) = described.unwrap_or(("unsupported", None, None));
        let (total_bytes, zip_bytes, pages) = file.bytes(index);
        let item = PyDict::new(py);
        item.set_item(intern!(py, "name"), &field.name)?;
        item.set_item(intern!(py, "path"), &field.name)?;
        item.set_item(intern!(py, "title"), fields::title(file, index))?;
        item.set_item(intern!(py, "cpp_type"), fields::cpp_type(file, index))?;
        item.set_item(intern!(py, "supported"), shape.is_ok())?;
        item.set_item(intern!(py, "reason"), shape.as_ref().err())?;
        item.set_item(intern!(py, "kind"), kind)?;
        item.set_item(intern!(py, "dtype"), dtype.map(DType::name))?;
        item.set_item(intern!(py, "len"), len)?;
        item.set_item(intern!(py, "counter"), py.None())?;
        item.set_item(intern!(py, "is_member"), !field.is_top())?;
        item.set_item(intern!(py, "total_bytes"), total_bytes)?;
        item.set_item(intern!(py, "zip_bytes"), zip_bytes)?;
        item.set_item(intern!(py, "baskets"), pages)?;
        list.append(item)?;
    }
    Ok(list)
}

/// How a branch reads, for `show`.
struct Shape {
    kind: &'static str,
    dtype: Option<DType>,
    len: Option<u32>,
}

impl Shape {
    fn of(branch: &Branch, supported: bool) -> Self {
        let (kind, item, len) = match &branch.layout {
            Layout::Number(_) => ("number", Some(&branch.layout), None),
            Layout::Array { item, len } => ("array", Some(&**item), Some(*len)),
            Layout::Counted { item, .. } | Layout::Vector { item, .. } => {
                ("list", Some(&**item), None)
            }
            Layout::String { .. } => ("string", None, None),
            Layout::Record(members) if members.is_empty() => ("group", None, None),
            Layout::Record(_) | Layout::Object(_) => ("record", None, None),
            Layout::Bits => ("number", Some(&branch.layout), None),
            Layout::Sized { .. } => ("unsupported", None, None),
            Layout::Unsupported { .. } => ("unsupported", None, None),
        };
        Self {
            kind: if supported || kind == "group" {
                kind
            } else {
                "unsupported"
            },
            dtype: item.and_then(dtype),
            len,
        }
    }
}
