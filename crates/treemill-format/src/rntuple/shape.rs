//! A field for a reader: which columns make up its values, and how. Pure description, made by [`super::tree`]
//! and followed by the decoder.

use super::element::Element;
use std::cmp::Ordering;

/// C++ integers. `char` has a sign on all platforms that ROOT has releases for.
const INTEGERS: [(&str, Native); 10] = [
    ("char", Native::I8),
    ("std::byte", Native::U8),
    ("std::int8_t", Native::I8),
    ("std::uint8_t", Native::U8),
    ("std::int16_t", Native::I16),
    ("std::uint16_t", Native::U16),
    ("std::int32_t", Native::I32),
    ("std::uint32_t", Native::U32),
    ("std::int64_t", Native::I64),
    ("std::uint64_t", Native::U64),
];

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
    /// The narrowest type that holds all values of a field exactly; `None` for what is no number, and
    /// for elements that ROOT would have to convert with a loss. Integers of the declared type's width
    /// go by the declared type's sign, as in ROOT, whose elements of `char` say nothing of it. Quantised
    /// values are no finer than the declared type.
    #[must_use]
    pub fn of(element: Element, cpp_type: &str) -> Option<Native> {
        let stored = match element {
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
        };
        let declared = INTEGERS.iter().find(|(name, _)| *name == cpp_type);
        match (declared.map(|(_, native)| *native), stored.integer()) {
            (None, _) | (_, None) => Some(stored),
            (Some(declared), Some((stored_bits, stored_sign))) => {
                let (bits, has_sign) = declared.integer()?;
                match bits.cmp(&stored_bits) {
                    Ordering::Equal => Some(declared),
                    Ordering::Greater if has_sign || !stored_sign => Some(stored),
                    _ => None,
                }
            }
        }
    }

    /// Bits of an integer, and whether it has a sign.
    fn integer(self) -> Option<(u32, bool)> {
        Some(match self {
            Native::I8 => (8, true),
            Native::U8 => (8, false),
            Native::I16 => (16, true),
            Native::U16 => (16, false),
            Native::I32 => (32, true),
            Native::U32 => (32, false),
            Native::I64 => (64, true),
            Native::U64 => (64, false),
            Native::Bool | Native::F32 | Native::F64 => return None,
        })
    }

    /// The type that holds the values of both, if one of the two does.
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
        /// The type that it is decoded to.
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
        /// Its alternatives; tags count from 1, and 0 is none of them.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_go_by_the_declared_sign() {
        for (element, declared, expected) in [
            (Element::U8, "char", Some(Native::I8)),
            (Element::U8, "std::byte", Some(Native::U8)),
            (Element::I8, "char", Some(Native::I8)),
            (Element::I8, "std::uint8_t", Some(Native::U8)),
            (Element::U32, "std::int32_t", Some(Native::I32)),
            (Element::I64, "std::uint64_t", Some(Native::U64)),
            // The declared type is wider than the stored one: the stored type is kept if its values fit.
            (Element::I32, "std::int64_t", Some(Native::I32)),
            (Element::U32, "std::int64_t", Some(Native::U32)),
            (Element::I32, "std::uint64_t", None),
            (Element::I64, "std::int32_t", None),
            // A bitset's, and what is not in the table.
            (Element::Bit, "std::bitset<7>", Some(Native::Bool)),
            (Element::U8, "", Some(Native::U8)),
            (Element::F32, "double", Some(Native::F32)),
        ] {
            assert_eq!(
                Native::of(element, declared),
                expected,
                "{element:?} as {declared}"
            );
        }
    }
}
