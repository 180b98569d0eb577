//! What a field is, for a reader: which columns make up its values, and how. Pure description,
//! made by [`super::tree`], obeyed by the decoder.

use super::element::Element;

/// A number as decoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Native {
    Bool,
    I8,
    U8,
    I16,
    U16,
    I32,
    U32,
    I64,
    U64,
    F32,
    F64,
}

impl Native {
    /// The narrowest type that holds all values of an element exactly; `None` for what is no
    /// number. Quantised values are no finer than the type that the user declared.
    #[must_use]
    pub fn of(element: Element, cpp_type: &str) -> Option<Native> {
        Some(match element {
            Element::Bit => Native::Bool,
            Element::I8 => Native::I8,
            Element::U8 => Native::U8,
            Element::I16 => Native::I16,
            Element::U16 => Native::U16,
            Element::I32 => Native::I32,
            Element::U32 => Native::U32,
            Element::I64 => Native::I64,
            Element::U64 => Native::U64,
            Element::F16 | Element::F32 | Element::Truncated { .. } => Native::F32,
            Element::Quantized { .. } if cpp_type != "double" => Native::F32,
            Element::F64 | Element::Quantized { .. } => Native::F64,
            Element::Index32 | Element::Index64 | Element::Switch => return None,
        })
    }

    /// The type that holds the values of both, where one of the two does.
    #[must_use]
    pub fn and(self, other: Native) -> Option<Native> {
        match (self, other) {
            (Native::F32, Native::F64) | (Native::F64, Native::F32) => Some(Native::F64),
            _ => (self == other).then_some(self),
        }
    }
}

/// The columns of one field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Columns {
    /// Indices of physical columns: for each representation the same number of them, at least one.
    pub representations: Vec<Vec<usize>>,
    /// Elements of the first column for one entry, where that number is fixed; `None` below
    /// collections and variants.
    pub per_entry: Option<u64>,
}

/// How a field's values are made of columns.
#[derive(Debug, Clone, PartialEq)]
pub enum Shape {
    /// One element, one number.
    Number {
        /// One column.
        columns: Columns,
        /// What it is decoded to.
        native: Native,
    },
    /// The number of a collection's items, from the ends of its items.
    Cardinality {
        /// One column.
        columns: Columns,
        /// Whether decoded to 64 bits.
        is_wide: bool,
    },
    /// Text: the ends of the strings, and their bytes.
    String {
        /// Two columns.
        columns: Columns,
    },
    /// Any number of items.
    List {
        /// One column.
        columns: Columns,
        /// The items.
        item: Box<Shape>,
    },
    /// An item or none: `std::optional`.
    Optional {
        /// One column.
        columns: Columns,
        /// The item.
        item: Box<Shape>,
    },
    /// `len` items: arrays and bitsets.
    Array {
        /// How many; fits an i32.
        len: u64,
        /// The items.
        item: Box<Shape>,
    },
    /// Members; those of base classes come after a class's own.
    Record {
        /// Names and members. Tuples' members are called 0, 1, ….
        members: Vec<(String, Shape)>,
        /// Whether it is a `std::pair` or `std::tuple`.
        is_tuple: bool,
    },
    /// One of several.
    Variant {
        /// One column.
        columns: Columns,
        /// What it may be; tags count from 1, and 0 is none of them.
        alternatives: Vec<Shape>,
    },
}

impl Shape {
    /// The columns of this field and of all below it, each once.
    pub fn visit_columns<'a>(&'a self, visit: &mut impl FnMut(&'a Columns)) {
        match self {
            Shape::Number { columns, .. }
            | Shape::Cardinality { columns, .. }
            | Shape::String { columns } => visit(columns),
            Shape::List { columns, item } | Shape::Optional { columns, item } => {
                visit(columns);
                item.visit_columns(visit);
            }
            Shape::Array { item, .. } => item.visit_columns(visit),
            Shape::Record { members, .. } => {
                for (_, member) in members {
                    member.visit_columns(visit);
                }
            }
            Shape::Variant {
                columns,
                alternatives,
            } => {
                visit(columns);
                for alternative in alternatives {
                    alternative.visit_columns(visit);
                }
            }
        }
    }
}
