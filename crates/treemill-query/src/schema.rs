//! The columns and their types: all that the compiler knows about data. Knows neither files nor branches'
//! layouts.

use crate::limits::LISTS_IN_LISTS;
use std::collections::HashMap;

/// The columns of a dataset, in the dataset's order.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Schema {
    /// The columns; a name that comes twice means the first.
    pub fields: Vec<Field>,
    /// Names that mean none of several columns, with the names of these.
    pub shared: HashMap<String, Vec<String>>,
}

/// One column.
#[derive(Debug, Clone, PartialEq)]
pub struct Field {
    /// The name, as expressions use it.
    pub name: String,
    /// Other names that expressions may use.
    pub also: Vec<String>,
    /// What one entry of it holds.
    pub column_type: ColumnType,
    /// Whether there may be nulls in it: values that are missing. A list that is null has no items.
    pub nullable: bool,
}

/// What one entry of a column holds.
#[derive(Debug, Clone, PartialEq)]
pub enum ColumnType {
    /// One number: an Arrow primitive or boolean array.
    Scalar(DType),
    /// Any number of them: an Arrow list array with 32-bit offsets.
    List {
        /// Type of the items.
        item: DType,
        /// Name of the column that counts them, where there is one: columns with the same counter
        /// have the same number of items in every entry.
        counter: Option<String>,
    },
    /// Lists of lists of them, of arrays of them, of lists of lists …: Arrow list arrays one in the
    /// other, with 32-bit offsets or of fixed size.
    Lists {
        /// Type of the items.
        item: DType,
        /// Name of the column that counts the outermost list's items, where there is one.
        counter: Option<String>,
        /// The lists below the outermost, from outside in: how many items each always has, or `None`
        /// where they may have any number.
        below: Vec<Option<u32>>,
    },
    /// Always `len` of them: an Arrow fixed-size list array.
    Array {
        /// Type of the items.
        item: DType,
        /// How many.
        len: u32,
    },
    /// Always `len` lists or arrays of them: an Arrow fixed-size list array of others.
    Arrays {
        /// Type of the items.
        item: DType,
        /// How many.
        len: u32,
        /// The lists below, as those of [`ColumnType::Lists`].
        below: Vec<Option<u32>>,
    },
    /// A string: an Arrow string or binary array.
    Str,
    /// Something that expressions cannot use; the type's name, for messages.
    Other(String),
}

/// The type of a number, or of an item of a list, as stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DType {
    Bool,
    I8,
    I16,
    I32,
    I64,
    U8,
    U16,
    U32,
    U64,
    F32,
    F64,
    /// Strings as items of lists; a column of strings is [`ColumnType::Str`].
    Str,
}

impl DType {
    /// Whether it is an integer, of any width.
    pub fn is_integer(self) -> bool {
        !matches!(self, Self::Bool | Self::F32 | Self::F64 | Self::Str)
    }

    /// numpy's name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Bool => "bool",
            Self::I8 => "int8",
            Self::I16 => "int16",
            Self::I32 => "int32",
            Self::I64 => "int64",
            Self::U8 => "uint8",
            Self::U16 => "uint16",
            Self::U32 => "uint32",
            Self::U64 => "uint64",
            Self::F32 => "float32",
            Self::F64 => "float64",
            Self::Str => "string",
        }
    }
}

impl ColumnType {
    /// The type of lists of what this one holds; `None` where expressions cannot use such lists.
    pub fn listed(self, counter: Option<String>) -> Option<Self> {
        let (item, below) = self.nested()?;
        Some(match below.is_empty() {
            true => Self::List { item, counter },
            false => Self::Lists {
                item,
                counter,
                below,
            },
        })
    }

    /// The type of arrays of `len` of what this one holds; `None` where expressions cannot use such arrays.
    pub fn arrayed(self, len: u32) -> Option<Self> {
        let (item, below) = self.nested()?;
        Some(match below.is_empty() {
            true => Self::Array { item, len },
            false => Self::Arrays { item, len, below },
        })
    }

    /// What it holds, and in which lists; `None` where there can be no others around them.
    fn nested(self) -> Option<(DType, Vec<Option<u32>>)> {
        let (item, outer, mut below) = match self {
            Self::Scalar(item) => return Some((item, Vec::new())),
            Self::Str => return Some((DType::Str, Vec::new())),
            Self::List { item, .. } => (item, None, Vec::new()),
            Self::Lists { item, below, .. } => (item, None, below),
            Self::Array { item, len } => (item, Some(len), Vec::new()),
            Self::Arrays { item, len, below } => (item, Some(len), below),
            Self::Other(_) => return None,
        };
        below.insert(0, outer);
        (below.len() <= LISTS_IN_LISTS).then_some((item, below))
    }

    /// Type of the items; `None` of what expressions cannot use.
    pub fn item(&self) -> Option<DType> {
        match self {
            Self::Scalar(item)
            | Self::List { item, .. }
            | Self::Lists { item, .. }
            | Self::Array { item, .. }
            | Self::Arrays { item, .. } => Some(*item),
            Self::Str => Some(DType::Str),
            Self::Other(_) => None,
        }
    }

    /// The name of the column that counts a list's items.
    pub(crate) fn counter(&self) -> Option<&str> {
        match self {
            Self::List { counter, .. } | Self::Lists { counter, .. } => counter.as_deref(),
            _ => None,
        }
    }

    /// Whether it is lists whose number of items differs from entry to entry.
    pub(crate) fn is_list(&self) -> bool {
        matches!(self, Self::List { .. } | Self::Lists { .. })
    }
}

impl Schema {
    /// The schema of these columns.
    pub fn new(fields: Vec<Field>) -> Self {
        let shared = HashMap::new();
        Self { fields, shared }
    }

    /// All columns, with their places. Who walks through them for each of many names needs quadratic time.
    pub(crate) fn columns(&self) -> impl Iterator<Item = (usize, &Field)> {
        let columns = self.fields.iter().enumerate();
        #[cfg(test)]
        let columns = columns.inspect(|_| walked::one_more());
        columns
    }

    /// All names of the columns, with the columns' places.
    pub(crate) fn names(&self) -> impl Iterator<Item = (&str, usize)> {
        self.columns().flat_map(|(place, field)| {
            let names = std::iter::once(&field.name).chain(&field.also);
            names.map(move |name| (name.as_str(), place))
        })
    }
}

impl Field {
    /// A column without nulls.
    pub fn new(name: impl Into<String>, column_type: ColumnType) -> Self {
        Self {
            name: name.into(),
            also: Vec::new(),
            column_type,
            nullable: false,
        }
    }

    /// Sets the other names that expressions may use.
    #[must_use]
    pub fn also(self, names: impl Iterator<Item = String>) -> Self {
        let also = names.collect();
        Self { also, ..self }
    }

    /// Sets whether the column may have nulls.
    #[must_use]
    pub fn nullable(self, nullable: bool) -> Self {
        Self { nullable, ..self }
    }
}

impl std::fmt::Display for ColumnType {
    /// Writes the type as messages show it: `float32`, `list of float32`, `string`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Scalar(item) => f.write_str(item.name()),
            Self::List { item, .. } => write!(f, "list of {}", item.name()),
            Self::Lists { item, below, .. } => {
                f.write_str("list of ")?;
                write_below(f, *item, below)
            }
            Self::Array { item, len } => write!(f, "array of {len} {}", item.name()),
            Self::Arrays { item, len, below } => {
                write!(f, "array of {len} ")?;
                write_below(f, *item, below)
            }
            Self::Str => f.write_str("string"),
            Self::Other(name) => f.write_str(name),
        }
    }
}

/// `lists of arrays of 3 float32`
fn write_below(
    f: &mut std::fmt::Formatter<'_>,
    item: DType,
    below: &[Option<u32>],
) -> std::fmt::Result {
    for len in below {
        match len {
            None => f.write_str("lists of ")?,
            Some(len) => write!(f, "arrays of {len} ")?,
        }
    }
    f.write_str(item.name())
}

/// Columns by name; those that are called by their dimensions, `fVtx[3]`, also without.
pub(crate) fn index(schema: &Schema) -> HashMap<&str, usize> {
    let mut found = HashMap::with_capacity(schema.fields.len());
    for (i, field) in schema.columns() {
        found.entry(field.name.as_str()).or_insert(i);
    }
    for (name, i) in schema.names() {
        found.entry(name).or_insert(i);
    }
    for (name, i) in schema.names() {
        if let Some((name, dims)) = name.split_once('[')
            && dims.ends_with(']')
            && !name.is_empty()
        {
            found.entry(name).or_insert(i);
        }
    }
    found
}

/// How many columns, definitions of columns and parts of conditions a test's thread has come by in search of some.
#[cfg(test)]
pub(crate) mod walked {
    use std::cell::Cell;

    thread_local! {
        static WALKED: Cell<usize> = const { Cell::new(0) };
    }

    pub(crate) fn one_more() {
        WALKED.set(WALKED.get() + 1);
    }

    /// Their number since it was last asked for.
    pub(crate) fn since() -> usize {
        WALKED.replace(0)
    }
}
