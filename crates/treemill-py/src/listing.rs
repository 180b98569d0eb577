//! A table's columns as `show` and Python's readers list them, of trees and RNTuples alike.

use crate::fields;
use crate::schema::dtype;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use treemill_format::layout::Layout;
use treemill_format::tree::Branch;
use treemill_query::DType;
use treemill_read::rntuple::NTupleFile;
use treemill_read::{Table, TreeFile};

/// One branch or field.
struct Listed<'a> {
    name: &'a str,
    /// With its parents' names, where names alone are not unique.
    path: String,
    title: &'a str,
    cpp_type: &'a str,
    /// Why it cannot be read, where it cannot.
    reason: Option<String>,
    shape: Described,
    /// The branch that holds its number of items, where there is one.
    counter: Option<&'a str>,
    /// Whether a column above it holds the same data.
    is_member: bool,
    total_bytes: u64,
    zip_bytes: u64,
    /// Baskets, or pages.
    baskets: usize,
}

/// How a column reads.
pub struct Described {
    pub kind: &'static str,
    pub dtype: Option<DType>,
    /// Of lists and arrays of what is no number: what the items are, in words.
    pub item: Option<String>,
    pub len: Option<u64>,
}

impl Described {
    const UNSUPPORTED: Described = Described {
        kind: "unsupported",
        dtype: None,
        item: None,
        len: None,
    };
    const GROUP: &'static str = "group";

    /// `list[float32]`, `float32[3]`, `string` …
    pub fn words(self) -> String {
        let dtype = self.dtype.map_or("?", DType::name);
        let item = self.item.unwrap_or_else(|| dtype.to_owned());
        match (self.kind, self.len) {
            ("number", _) => item,
            ("list", _) => format!("list[{item}]"),
            ("array", Some(len)) => format!("{item}[{len}]"),
            (kind, _) => kind.to_owned(),
        }
    }
}

/// All columns, parents before their children, as dicts.
pub fn columns<'py>(py: Python<'py>, table: &Table) -> PyResult<Bound<'py, PyList>> {
    let list = PyList::empty(py);
    let mut first = None;
    match table {
        Table::Tree(file) => {
            for (index, branch) in file.tree().branches.iter().enumerate() {
                list.append(listed_branch(file, index, branch).dict(py, &mut first)?)?;
            }
        }
        Table::NTuple(file) => {
            for (index, field) in file.fields().iter().enumerate() {
                list.append(
                    listed_field(file, index, &field.name, !field.is_top()).dict(py, &mut first)?,
                )?;
            }
        }
    }
    Ok(list)
}

impl Listed<'_> {
    /// Made over a copy of the `first`: a dict that has all its keys need not grow.
    fn dict<'py>(
        &self,
        py: Python<'py>,
        first: &mut Option<Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let item = match first {
            Some(first) => first.copy()?,
            None => PyDict::new(py),
        };
        let is_group = self.shape.kind == Described::GROUP;
        item.set_item(intern!(py, "name"), self.name)?;
        item.set_item(intern!(py, "path"), &self.path)?;
        item.set_item(intern!(py, "title"), self.title)?;
        item.set_item(intern!(py, "cpp_type"), self.cpp_type)?;
        item.set_item(intern!(py, "supported"), self.reason.is_none())?;
        item.set_item(
            intern!(py, "reason"),
            self.reason.as_ref().filter(|_| !is_group),
        )?;
        item.set_item(intern!(py, "kind"), self.shape.kind)?;
        item.set_item(intern!(py, "dtype"), self.shape.dtype.map(DType::name))?;
        item.set_item(intern!(py, "item"), &self.shape.item)?;
        item.set_item(intern!(py, "len"), self.shape.len)?;
        item.set_item(intern!(py, "counter"), self.counter)?;
        item.set_item(intern!(py, "is_member"), self.is_member)?;
        item.set_item(intern!(py, "total_bytes"), self.total_bytes)?;
        item.set_item(intern!(py, "zip_bytes"), self.zip_bytes)?;
        item.set_item(intern!(py, "baskets"), self.baskets)?;
        first.get_or_insert_with(|| item.clone());
        Ok(item)
    }
}

fn listed_branch<'a>(file: &'a TreeFile, index: usize, branch: &'a Branch) -> Listed<'a> {
    let reason = file.readable(index).err().map(|e| e.message);
    Listed {
        name: &branch.name,
        path: file.path(index),
        title: &branch.title,
        cpp_type: &branch.cpp_type,
        shape: described_branch(branch, reason.is_none()),
        reason,
        counter: file.counter_name(index),
        is_member: false,
        total_bytes: branch.total_bytes,
        zip_bytes: branch.zip_bytes,
        baskets: branch.baskets.len() + branch.embedded.len(),
    }
}

fn listed_field<'a>(
    file: &'a NTupleFile,
    index: usize,
    name: &'a str,
    is_member: bool,
) -> Listed<'a> {
    let shape = file.arrow_field(index).and_then(|_| file.shape(index));
    let (total_bytes, zip_bytes, pages) = file.bytes(index);
    Listed {
        name,
        path: name.to_owned(),
        title: fields::title(file, index),
        cpp_type: fields::cpp_type(file, index),
        shape: shape
            .as_ref()
            .map_or(Described::UNSUPPORTED, fields::describe),
        reason: shape.err().map(|e| e.message),
        counter: None,
        is_member,
        total_bytes,
        zip_bytes,
        baskets: pages,
    }
}

fn described_branch(branch: &Branch, is_readable: bool) -> Described {
    let described = described(&branch.layout);
    match is_readable || described.kind == Described::GROUP {
        true => described,
        false => Described {
            kind: Described::UNSUPPORTED.kind,
            ..described
        },
    }
}

fn described(layout: &Layout) -> Described {
    let (kind, item, len) = match layout {
        Layout::Number(_) | Layout::Bits => ("number", Some(layout), None),
        Layout::Array { item, len } => ("array", Some(&**item), Some(u64::from(*len))),
        Layout::Counted { item, .. } | Layout::Vector { item, .. } => ("list", Some(&**item), None),
        Layout::Clones(clones) => ("list", Some(&clones.item), None),
        Layout::Objects(objects) => ("list", Some(&objects.item), None),
        Layout::String { .. } | Layout::CharStar => ("string", None, None),
        Layout::Record(members) if members.is_empty() => (Described::GROUP, None, None),
        Layout::Record(_) | Layout::Object(_) => ("record", None, None),
        Layout::Pointer(_) => ("optional", None, None),
        Layout::Sized { .. } | Layout::Absent { .. } | Layout::Unsupported { .. } => {
            ("unsupported", None, None)
        }
    };
    let dtype = item.and_then(dtype);
    Described {
        kind,
        dtype,
        item: item
            .filter(|_| dtype.is_none())
            .map(|item| described(item).words()),
        len,
    }
}
