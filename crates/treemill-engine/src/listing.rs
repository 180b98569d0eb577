//! A table's columns as `show` and Python's readers list them, of trees and RNTuples alike.

use crate::arrow_types::column_type;
use crate::members::{Member, are_records, members};
use crate::ntuple_columns::{self, cpp_type, title};
use crate::tree_columns::dtype;
use arrow_schema::DataType;
use treemill_format::layout::Layout;
use treemill_format::rntuple::Shape;
use treemill_format::tree::Branch;
use treemill_query::{ColumnType, DType};
use treemill_read::rntuple::NTupleFile;
use treemill_read::{ReadError, Table, TreeFile};

/// One branch or field.
#[derive(Debug)]
pub struct Listed<'a> {
    pub name: &'a str,
    /// Other names that mean it.
    pub also: Vec<&'a str>,
    /// The path, with its parents' names if names alone are not unique.
    pub path: String,
    /// The path of the branch that it lies in.
    pub parent: Option<String>,
    pub title: &'a str,
    pub cpp_type: &'a str,
    /// The reason why it cannot be read, if it cannot.
    pub reason: Option<String>,
    pub shape: Described,
    /// How the names of what expressions can use go on: `.fX` for a member of its records, `""` for itself.
    pub usable: Vec<String>,
    /// The same of what they cannot use.
    pub unusable: Vec<String>,
    /// The branch that holds its number of items, if there is one.
    pub counter: Option<&'a str>,
    /// Whether a column above it holds the same data.
    pub is_member: bool,
    pub total_bytes: u64,
    pub zip_bytes: u64,
    /// Baskets, or pages.
    pub baskets: usize,
}

/// How a column reads.
#[derive(Debug)]
pub struct Described {
    pub kind: &'static str,
    pub dtype: Option<DType>,
    /// The items of lists and arrays that hold no numbers, in words.
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

impl<'a> Listed<'a> {
    /// All columns of a table, parents before their children. Looks at every page that an RNTuple has.
    #[must_use]
    pub fn all(table: &'a Table) -> Vec<Self> {
        match table {
            Table::Tree(file) => {
                let branches = file.tree().branches.iter().enumerate();
                branches
                    .map(|(i, branch)| listed_branch(file, i, branch))
                    .collect()
            }
            Table::NTuple(file) => {
                let fields = file.fields().iter().enumerate();
                let listed =
                    fields.map(|(i, field)| listed_field(file, i, &field.name, !field.is_top()));
                listed.collect()
            }
        }
    }

    /// Whether it only holds others together.
    #[must_use]
    pub fn is_group(&self) -> bool {
        self.shape.kind == Described::GROUP
    }
}

fn listed_branch<'a>(file: &'a TreeFile, index: usize, branch: &'a Branch) -> Listed<'a> {
    let reason = file.readable(index).err().map(ReadError::into_reason);
    let (usable, unusable) = used(file, index, &branch.layout);
    Listed {
        name: file.name(index),
        also: file.names(index).skip(1).collect(),
        path: file.path(index),
        parent: branch.parent.map(|parent| file.path(parent)),
        title: &branch.title,
        cpp_type: &branch.cpp_type,
        shape: described_branch(branch, reason.is_none()),
        usable,
        unusable,
        reason,
        counter: file.counter(index).map(|counter| file.name(counter)),
        is_member: false,
        total_bytes: branch.total_bytes,
        zip_bytes: branch.zip_bytes,
        baskets: branch.baskets.len().saturating_add(branch.embedded.len()),
    }
}

/// What expressions can use of a branch, and what they cannot use. Members of an RNTuple's records are
/// fields of their own.
fn used(file: &TreeFile, index: usize, layout: &Layout) -> (Vec<String>, Vec<String>) {
    match layout {
        Layout::Record(members) if members.is_empty() => return Default::default(),
        Layout::Number(_) | Layout::Bits | Layout::String { .. } | Layout::CharStar => {
            return (vec![String::new()], Vec::new());
        }
        _ => {}
    }
    let Ok(field) = file.arrow_field(index) else {
        return (Vec::new(), vec![String::new()]);
    };
    let is_usable = |member: &Member| !member.is_nullable && is_known(&member.kind);
    let found = members(field.data_type()).into_iter();
    let (usable, others): (Vec<_>, Vec<_>) = found.partition(is_usable);
    let names = |members: Vec<Member>| members.into_iter().map(|member| member.name);
    let (itself, unusable) = used_itself(field.data_type());
    (
        names(usable).chain(itself).collect(),
        names(others).chain(unusable).collect(),
    )
}

/// `""` if expressions can use the column itself, and `""` if they can use neither it nor members.
fn used_itself(kind: &DataType) -> (Option<String>, Option<String>) {
    match is_known(kind) {
        true => (Some(String::new()), None),
        false => (None, (!are_records(kind)).then(String::new)),
    }
}

fn is_known(kind: &DataType) -> bool {
    !matches!(column_type(kind, None), ColumnType::Other(_))
}

fn listed_field<'a>(
    file: &'a NTupleFile,
    index: usize,
    name: &'a str,
    is_member: bool,
) -> Listed<'a> {
    let field = file.arrow_field(index);
    let (usable, unusable) = match &field {
        Ok(field) => used_itself(field.data_type()),
        Err(_) => (None, Some(String::new())),
    };
    let shape = field.and_then(|_| file.shape(index));
    let (total_bytes, zip_bytes, pages) = file.bytes(index);
    Listed {
        name,
        also: Vec::new(),
        path: name.to_owned(),
        parent: None,
        title: title(file, index),
        cpp_type: cpp_type(file, index),
        shape: shape
            .as_ref()
            .map_or(Described::UNSUPPORTED, described_shape),
        usable: usable.into_iter().collect(),
        unusable: unusable.into_iter().collect(),
        reason: shape.err().map(ReadError::into_reason),
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

/// How a field reads, for `show`.
fn described_shape(shape: &Shape) -> Described {
    let (kind, dtype, len) = match shape {
        Shape::Number { .. } | Shape::Cardinality { .. } => {
            ("number", ntuple_columns::dtype(shape), None)
        }
        Shape::String { .. } => ("string", None, None),
        Shape::List { item, .. } => ("list", ntuple_columns::dtype(item), None),
        Shape::Array { item, len } => ("array", ntuple_columns::dtype(item), Some(*len)),
        Shape::Optional { item, .. } => ("optional", ntuple_columns::dtype(item), None),
        Shape::Record { .. } => ("record", None, None),
        Shape::Variant { .. } => ("variant", None, None),
    };
    let item = match shape {
        Shape::List { item, .. } | Shape::Array { item, .. } if dtype.is_none() => {
            Some(described_shape(item).words())
        }
        _ => None,
    };
    Described {
        kind,
        dtype,
        item,
        len,
    }
}
