//! Locators: where in the file a block lies. Knows nothing of what the block is.
//!
//! Source: RNTuple binary format specification 1.0, section "Locators and Envelope Links".

use super::cursor::Cursor;
use crate::error::{Result, malformed, unsupported};
use std::ops::Range;

/// The type of a locator whose size has 64 bits.
const LARGE: u32 = 0x01;

/// A block's place, as it is stored (compressed or not).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Locator {
    /// First byte in the file.
    pub offset: u64,
    /// Bytes stored.
    pub size: u64,
}

impl Locator {
    /// The block's bytes in the file.
    #[must_use]
    pub fn bytes(&self) -> Range<u64> {
        self.offset..self.offset.saturating_add(self.size)
    }

    /// Reads a locator and moves past it.
    ///
    /// # Errors
    /// `Unsupported` for places that are not in a file.
    pub(super) fn parse(cursor: &mut Cursor<'_>) -> Result<Locator> {
        let start = cursor.position();
        let head = cursor.i32()?;
        if let Ok(size) = u64::try_from(head) {
            let offset = cursor.u64()?;
            return Ok(Locator { offset, size });
        }
        let head = head.unsigned_abs();
        let length = (head & 0xffff) as usize;
        let kind = head >> 24;
        // The length counts the four bytes that were just read.
        let Some(length) = length.checked_sub(4) else {
            return Err(malformed(
                format!("a locator is too short: it has {length} bytes"),
                start,
            ));
        };
        let mut payload = Cursor::new(cursor.take(length)?);
        if kind != LARGE {
            return Err(unsupported(format!(
                "an RNTuple locator of type {kind:#04x}"
            )));
        }
        let large = payload.u64().and_then(|size| {
            Ok(Locator {
                size,
                offset: payload.u64()?,
            })
        });
        large.map_err(|_| malformed("a large locator is too short", start))
    }
}

/// An envelope's place and its size when uncompressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EnvelopeLink {
    /// The place of the stored bytes.
    pub locator: Locator,
    /// Bytes when uncompressed; not verified.
    pub length: u64,
}

impl EnvelopeLink {
    pub(super) fn parse(cursor: &mut Cursor<'_>) -> Result<EnvelopeLink> {
        let length = cursor.u64()?;
        Ok(EnvelopeLink {
            locator: Locator::parse(cursor)?,
            length,
        })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::arithmetic_side_effects)]
    use super::*;

    fn large(kind: u32, length: u32, size: u64, offset: u64) -> Vec<u8> {
        let head = -i32::try_from(kind << 24 | length).unwrap();
        let mut bytes = head.to_le_bytes().to_vec();
        bytes.extend(size.to_le_bytes());
        bytes.extend(offset.to_le_bytes());
        bytes.extend([0xee; 4]);
        bytes
    }

    #[test]
    fn both_forms() {
        let mut bytes = 300_i32.to_le_bytes().to_vec();
        bytes.extend(5_000_u64.to_le_bytes());
        let locator = Locator::parse(&mut Cursor::new(&bytes)).unwrap();
        assert_eq!(locator.bytes(), 5_000..5_300);

        let bytes = large(1, 20, 6_000_000_000, 7_000_000_000);
        let mut cursor = Cursor::new(&bytes);
        let locator = Locator::parse(&mut cursor).unwrap();
        assert_eq!(locator.bytes(), 7_000_000_000..13_000_000_000);
        assert_eq!(cursor.position(), 20);
    }

    #[test]
    fn a_longer_locator_is_passed_over_whole() {
        let bytes = large(1, 24, 1, 2);
        let mut cursor = Cursor::new(&bytes);
        Locator::parse(&mut cursor).unwrap();
        assert_eq!(cursor.remaining(), 0);
    }

    #[test]
    fn other_places_are_unsupported_and_short_ones_malformed() {
        use crate::error::FormatError::{Malformed, Unsupported};
        let parse = |bytes: &[u8]| Locator::parse(&mut Cursor::new(bytes)).unwrap_err();
        assert!(matches!(parse(&large(2, 20, 1, 2)), Unsupported { .. }));
        assert!(matches!(parse(&large(1, 12, 1, 2)), Malformed { .. }));
        assert!(matches!(parse(&large(1, 2, 1, 2)), Malformed { .. }));
        assert!(matches!(parse(&large(1, 99, 1, 2)), Malformed { .. }));
        assert!(matches!(parse(&i32::MIN.to_le_bytes()), Malformed { .. }));
    }
}
