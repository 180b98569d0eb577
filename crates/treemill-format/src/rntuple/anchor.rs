//! The anchor: the `ROOT::RNTuple` object in the file's directory, from which all else is found. Reads the
//! object's bytes; the caller finds and decompresses its key.
//!
//! Source: RNTuple binary format specification 1.0, section "ROOT File embedding". Being an
//! ordinary ROOT object, it is big-endian and begins with a byte count and a class version.

use super::cursor::Cursor;
use super::locator::{EnvelopeLink, Locator};
use crate::error::{Result, malformed, unsupported};
use crate::marks::BYTE_COUNT;
use xxhash_rust::xxh3::xxh3_64;

/// The class name of an anchor's key.
pub const CLASS: &str = "ROOT::RNTuple";

/// The epoch of the format that this reader knows; epoch 0 was before the first release.
const EPOCH: u16 = 1;

/// Byte count and class version before the anchor's own fields.
const OBJECT_HEADER: usize = 6;

/// Bytes of the fields of version 1.0: later versions may append more.
const FIELDS: usize = 64;

/// Where an RNTuple's header and footer lie.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Anchor {
    /// Version of the format that the writer knew: epoch, major, minor, patch.
    pub version: [u16; 4],
    /// The header envelope.
    pub header: EnvelopeLink,
    /// The footer envelope.
    pub footer: EnvelopeLink,
    /// The most bytes of one key; longer blocks are written in several.
    pub max_key_size: u64,
}

impl Anchor {
    /// Reads an anchor's uncompressed object, its byte count and version included.
    ///
    /// # Errors
    /// `Malformed` if it is cut short or its checksum is wrong; `Unsupported` for versions
    /// before the format's release, and for later epochs.
    pub fn parse(object: &[u8]) -> Result<Anchor> {
        let Some((head, fields)) = object.split_at_checked(OBJECT_HEADER) else {
            return Err(malformed("the RNTuple's anchor is cut short", 0));
        };
        let count = u32::from_be_bytes(Cursor::new(head).array()?);
        let counted = usize::try_from(count & !BYTE_COUNT).unwrap_or(usize::MAX);
        // The byte count does not count its own four bytes.
        let object_len = counted.saturating_add(4);
        if count & BYTE_COUNT == 0 || object_len > object.len() {
            return Err(malformed(
                format!(
                    "the RNTuple's anchor announces {object_len} bytes where {} are left",
                    object.len()
                ),
                0,
            ));
        }
        let mut cursor = Cursor::new(fields);
        let mut small = || cursor.array().map(u16::from_be_bytes);
        let version = [small()?, small()?, small()?, small()?];
        let [epoch, ..] = version;
        if epoch != EPOCH {
            return Err(unsupported(format!(
                "an RNTuple of the format's epoch {epoch} (version {})",
                version.map(|v| v.to_string()).join(".")
            )));
        }
        // The checksum follows the counted bytes.
        let fields = object.get(OBJECT_HEADER..object_len).unwrap_or_default();
        let stored = object.get(object_len..).and_then(<[u8]>::first_chunk::<8>);
        let (true, Some(stored)) = (fields.len() >= FIELDS, stored) else {
            return Err(malformed("the RNTuple's anchor is cut short", 0));
        };
        let (found, stored) = (xxh3_64(fields), u64::from_be_bytes(*stored));
        if found != stored {
            return Err(malformed(
                format!(
                    "the RNTuple anchor's checksum is {found:016x}, and {stored:016x} is stored"
                ),
                object_len,
            ));
        }
        let mut number = || cursor.array().map(u64::from_be_bytes);
        let mut link = || -> Result<EnvelopeLink> {
            Ok(EnvelopeLink {
                locator: Locator {
                    offset: number()?,
                    size: number()?,
                },
                length: number()?,
            })
        };
        let (header, footer) = (link()?, link()?);
        Ok(Anchor {
            version,
            header,
            footer,
            max_key_size: number()?,
        })
    }
}

#[cfg(test)]
mod tests {
    #![allow(
        clippy::unwrap_used,
        clippy::arithmetic_side_effects,
        clippy::indexing_slicing
    )]
    use super::*;
    use crate::error::FormatError;

    fn anchor(epoch: u16, more: &[u8]) -> Vec<u8> {
        let mut fields: Vec<u8> = [epoch, 0, 1, 0]
            .iter()
            .flat_map(|v| v.to_be_bytes())
            .collect();
        for number in [200_u64, 30, 90, 400, 40, 120, 1 << 30] {
            fields.extend(number.to_be_bytes());
        }
        fields.extend(more);
        let checksum = xxh3_64(&fields);
        let count = BYTE_COUNT | u32::try_from(fields.len() + 2).unwrap();
        let mut object = count.to_be_bytes().to_vec();
        object.extend(2_u16.to_be_bytes());
        object.extend(fields);
        object.extend(checksum.to_be_bytes());
        object
    }

    #[test]
    fn anchors_of_this_and_of_later_versions() {
        for more in [&b""[..], b"appended"] {
            let anchor = Anchor::parse(&anchor(1, more)).unwrap();
            assert_eq!(anchor.version, [1, 0, 1, 0]);
            assert_eq!(anchor.header.locator.bytes(), 200..230);
            assert_eq!(anchor.footer.locator.bytes(), 400..440);
            assert_eq!((anchor.header.length, anchor.footer.length), (90, 120));
            assert_eq!(anchor.max_key_size, 1 << 30);
        }
    }

    #[test]
    fn other_epochs_are_unsupported() {
        for epoch in [0, 2] {
            let error = Anchor::parse(&anchor(epoch, b"")).unwrap_err();
            assert!(matches!(error, FormatError::Unsupported { .. }), "{error}");
        }
    }

    #[test]
    fn damage_is_found() {
        let good = anchor(1, b"");
        for i in 0..good.len() {
            assert!(Anchor::parse(&good[..i]).is_err(), "cut to {i}");
            // The class version (bytes 4 and 5) says nothing about the fields.
            if i != 4 && i != 5 {
                let mut bad = good.clone();
                bad[i] ^= 0x10;
                assert!(Anchor::parse(&bad).is_err(), "byte {i}");
            }
        }
    }
}
