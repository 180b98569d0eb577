//! What columns there are and of which types: all that the compiler knows about data. It knows
//! neither files nor branches' layouts.

use std::collections::HashMap;

/// The columns of a dataset, in the dataset's order.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Schema {
    /// Its columns; a name that comes twice means the first.
    pub fields: Vec<Field>,
}

/// One column.
#[derive(Debug, Clone, PartialEq)]
pub struct Field {
    /// Its name, as expressions use it.
    pub name: String,
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
    /// Lists of lists of them, or of lists of lists …: Arrow list arrays one in the other, all with
    /// 32-bit offsets, or fixed-size list arrays in place of some.
    Lists {
        /// Type of the items.
        item: DType,
        /// Name of the column that counts the outermost list's items, where there is one.
        counter: Option<String>,
        /// How many lists are one in the other below the outermost: 1 of lists of lists.
        below: u8,
    },
    /// Always `len` of them: an Arrow fixed-size list array.
    Array {
        /// Type of the items.
        item: DType,
        /// How many.
        len: u32,
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
    /// Of items of lists; a column of strings is [`ColumnType::Str`].
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

/// Lists that are one in the other below the outermost.
const DEEPEST: u8 = 7;

impl ColumnType {
    /// Whether an entry holds several values.
    pub fn is_list(&self) -> bool {
        matches!(
            self,
            Self::List { .. } | Self::Lists { .. } | Self::Array { .. }
        )
    }

    /// The type of lists of what this one holds; `None` where expressions cannot use such lists.
    pub fn listed(self, counter: Option<String>) -> Option<Self> {
        let (item, below) = match self {
            Self::Scalar(item) => return Some(Self::List { item, counter }),
            Self::Str => {
                let item = DType::Str;
                return Some(Self::List { item, counter });
            }
            Self::List { item, .. } | Self::Array { item, .. } => (item, 1),
            Self::Lists { item, below, .. } if below < DEEPEST => (item, below + 1),
            Self::Lists { .. } | Self::Other(_) => return None,
        };
        Some(Self::Lists {
            item,
            counter,
            below,
        })
    }
}

impl Field {
    /// A column without nulls.
    pub fn new(name: impl Into<String>, column_type: ColumnType) -> Self {
        Self {
            name: name.into(),
            column_type,
            nullable: false,
        }
    }

    /// The same, with or without nulls.
    #[must_use]
    pub fn nullable(self, nullable: bool) -> Self {
        Self { nullable, ..self }
    }
}

impl std::fmt::Display for ColumnType {
    /// For messages: `float32`, `list of float32`, `string`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Scalar(item) => f.write_str(item.name()),
            Self::List { item, .. } => write!(f, "list of {}", item.name()),
            Self::Lists { item, below, .. } => {
                f.write_str("list of ")?;
                (0..*below).try_for_each(|_| f.write_str("lists of "))?;
                f.write_str(item.name())
            }
            Self::Array { item, len } => write!(f, "array of {len} {}", item.name()),
            Self::Str => f.write_str("string"),
            Self::Other(name) => f.write_str(name),
        }
    }
}

/// Columns by name.
pub(crate) fn index(schema: &Schema) -> HashMap<&str, usize> {
    let mut found = HashMap::with_capacity(schema.fields.len());
    for (i, field) in schema.fields.iter().enumerate() {
        found.entry(field.name.as_str()).or_insert(i);
    }
    found
}
