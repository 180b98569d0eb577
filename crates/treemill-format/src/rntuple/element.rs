//! The table of column types: a column's elements and how they are stored. Pure description; `decode` follows
//! it.
//!
//! Source: RNTuple binary format specification 1.0, section "Column Description".

use crate::error::{Result, unsupported};

/// One element of a column.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Element {
    /// One bit; pages hold eight to a byte, the least significant first.
    Bit,
    /// Unsigned integers of 8 bits; also bytes and characters, whose sign the declared type says.
    U8,
    I8,
    I16,
    U16,
    I32,
    U32,
    I64,
    U64,
    /// IEEE 754 half precision.
    F16,
    F32,
    F64,
    /// The end of a collection's items, counted from the cluster's start, 32 bits.
    Index32,
    /// An index like the one above, with 64 bits.
    Index64,
    /// An index of 64 bits and a tag of 32: which of a variant's alternatives, 1 being the first.
    Switch,
    /// The leading bits of an IEEE 754 single, `bits` of them.
    Truncated {
        /// 10 to 31.
        bits: u8,
    },
    /// `min + stored * (max - min) / (2^bits - 1)`.
    Quantized {
        /// 1 to 32.
        bits: u8,
        /// The value stored as 0.
        min: f64,
        /// The value stored as all ones.
        max: f64,
    },
}

/// A column's type: its element, and whether pages are split (all first bytes of the elements come
/// first, then all second bytes, …). In split pages, signed integers are zigzag encoded, and
/// indices are differences to the one before.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Encoding {
    /// The stored element.
    pub element: Element,
    /// Whether the bytes are split.
    pub split: bool,
}

/// Type number, bits on storage, element, split. The two types of variable width are not here.
const TYPES: [(u16, u16, Element, bool); 28] = [
    (0x00, 1, Element::Bit, false),
    (0x01, 8, Element::U8, false), // Byte
    (0x02, 8, Element::U8, false), // Char
    (0x03, 8, Element::I8, false),
    (0x04, 8, Element::U8, false),
    (0x05, 16, Element::I16, false),
    (0x06, 16, Element::U16, false),
    (0x07, 32, Element::I32, false),
    (0x08, 32, Element::U32, false),
    (0x09, 64, Element::I64, false),
    (0x0a, 64, Element::U64, false),
    (0x0b, 16, Element::F16, false),
    (0x0c, 32, Element::F32, false),
    (0x0d, 64, Element::F64, false),
    (0x0e, 32, Element::Index32, false),
    (0x0f, 64, Element::Index64, false),
    (0x10, 96, Element::Switch, false),
    (0x11, 16, Element::I16, true),
    (0x12, 16, Element::U16, true),
    (0x13, 32, Element::I32, true),
    (0x14, 32, Element::U32, true),
    (0x15, 64, Element::I64, true),
    (0x16, 64, Element::U64, true),
    (0x17, 16, Element::F16, true),
    (0x18, 32, Element::F32, true),
    (0x19, 64, Element::F64, true),
    (0x1a, 32, Element::Index32, true),
    (0x1b, 64, Element::Index64, true),
];

/// Real32Trunc and Real32Quant.
const TRUNCATED: u16 = 0x1c;
const QUANTIZED: u16 = 0x1d;

impl Encoding {
    /// The encoding of a column of type `number` with `bits` on storage and this range of values.
    ///
    /// # Errors
    /// `Unsupported` by number for types of later versions.
    pub(super) fn of(number: u16, bits: u16, range: Option<(f64, f64)>) -> Result<Encoding> {
        let unknown = || {
            unsupported(format!(
                "an RNTuple column of type {number:#04x} with {bits} bits"
            ))
        };
        let narrow = u8::try_from(bits).map_err(|_| unknown())?;
        let element = match (number, narrow, range) {
            (TRUNCATED, 10..=31, _) => Element::Truncated { bits: narrow },
            (QUANTIZED, 1..=32, Some((min, max))) if min.is_finite() && max.is_finite() => {
                Element::Quantized {
                    bits: narrow,
                    min,
                    max,
                }
            }
            _ => {
                let known = TYPES
                    .iter()
                    .find(|known| (known.0, known.1) == (number, bits));
                let (_, _, element, split) = *known.ok_or_else(unknown)?;
                return Ok(Encoding { element, split });
            }
        };
        Ok(Encoding {
            element,
            split: false,
        })
    }

    /// Bits of one element in a page.
    #[must_use]
    pub fn bits(&self) -> u64 {
        match self.element {
            Element::Bit => 1,
            Element::U8 | Element::I8 => 8,
            Element::I16 | Element::U16 | Element::F16 => 16,
            Element::I32 | Element::U32 | Element::F32 | Element::Index32 => 32,
            Element::I64 | Element::U64 | Element::F64 | Element::Index64 => 64,
            Element::Switch => 96,
            Element::Truncated { bits } | Element::Quantized { bits, .. } => u64::from(bits),
        }
    }

    /// Bytes of a page of `elements`, uncompressed.
    #[must_use]
    pub fn page_bytes(&self, elements: u32) -> usize {
        let bits = self.bits().saturating_mul(u64::from(elements));
        usize::try_from(bits.div_ceil(8)).unwrap_or(usize::MAX)
    }

    /// Whether elements are ends of a collection's items.
    #[must_use]
    pub fn is_index(&self) -> bool {
        matches!(self.element, Element::Index32 | Element::Index64)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn the_table_agrees_with_the_elements_sizes() {
        for (number, bits, element, split) in TYPES {
            let encoding = Encoding::of(number, bits, None).unwrap();
            assert_eq!(encoding, Encoding { element, split });
            assert_eq!(encoding.bits(), u64::from(bits));
            assert!(Encoding::of(number, bits.wrapping_add(1), None).is_err());
        }
        assert!(Encoding::of(0x1e, 32, None).is_err());
    }

    #[test]
    fn widths_that_vary_are_bounded() {
        assert_eq!(Encoding::of(TRUNCATED, 10, None).unwrap().page_bytes(3), 4);
        assert!(Encoding::of(TRUNCATED, 9, None).is_err());
        assert!(Encoding::of(TRUNCATED, 32, None).is_err());
        let range = Some((-1.0, 1.0));
        assert_eq!(Encoding::of(QUANTIZED, 32, range).unwrap().page_bytes(2), 8);
        assert!(Encoding::of(QUANTIZED, 33, range).is_err());
        assert!(Encoding::of(QUANTIZED, 0, range).is_err());
        assert!(Encoding::of(QUANTIZED, 8, None).is_err());
        assert!(Encoding::of(QUANTIZED, 8, Some((0.0, f64::NAN))).is_err());
    }
}
