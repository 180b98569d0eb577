//! Envelopes: blocks of metadata with a type, a length and a checksum. Knows no contents.
//!
//! Source: RNTuple binary format specification 1.0, sections "Envelopes" and "Feature Flags".

use super::cursor::Cursor;
use crate::error::{Result, malformed, unsupported};
use xxhash_rust::xxh3::xxh3_64;

/// Bytes of a checksum.
const CHECKSUM: usize = 8;

/// The contents of an envelope, by its type ID.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Header = 1,
    Footer = 2,
    PageList = 3,
}

/// An envelope whose checksum was right.
pub(super) struct Envelope<'a> {
    pub(super) payload: Cursor<'a>,
    pub(super) checksum: u64,
}

/// Opens an envelope's uncompressed bytes.
///
/// # Errors
/// `Malformed` if type, length or checksum are not what they should be.
pub(super) fn open(bytes: &[u8], kind: Kind) -> Result<Envelope<'_>> {
    let Some((content, stored)) = bytes.split_last_chunk::<CHECKSUM>() else {
        return Err(malformed(
            format!(
                "the {kind:?} envelope is too short: it has {} bytes",
                bytes.len()
            ),
            0,
        ));
    };
    let checksum = u64::from_le_bytes(*stored);
    let found = xxh3_64(content);
    if found != checksum {
        return Err(malformed(
            format!(
                "the {kind:?} envelope's checksum is {found:016x}, and {checksum:016x} is stored"
            ),
            content.len(),
        ));
    }
    let mut payload = Cursor::new(content);
    let head = payload.u64()?;
    let (id, length) = (head & 0xffff, head >> 16);
    if id != kind as u64 {
        return Err(malformed(
            format!("an envelope of type {id} stands in the place of the {kind:?} envelope"),
            0,
        ));
    }
    if length != bytes.len() as u64 {
        return Err(malformed(
            format!(
                "the {kind:?} envelope announces {length} bytes and has {}",
                bytes.len()
            ),
            2,
        ));
    }
    Ok(Envelope { payload, checksum })
}

/// Passes over the feature flags: none is defined yet, so that any that is set is one that this
/// reader does not know, and must not go on.
pub(super) fn check_feature_flags(cursor: &mut Cursor<'_>) -> Result<()> {
    let mut word = 0_usize;
    loop {
        let flags = cursor.i64()?;
        let known = flags & i64::MAX;
        if known != 0 {
            let bit = word
                .saturating_mul(63)
                .saturating_add(known.trailing_zeros() as usize);
            return Err(unsupported(format!(
                "an RNTuple with the feature flag {bit}"
            )));
        }
        if flags >= 0 {
            return Ok(());
        }
        word = word.saturating_add(1);
    }
}

/// An envelope around `payload`, for tests.
#[cfg(test)]
pub(super) fn seal(kind: Kind, payload: &[u8]) -> Vec<u8> {
    let length = (payload.len() as u64).saturating_add(16);
    let mut bytes = (length << 16 | kind as u64).to_le_bytes().to_vec();
    bytes.extend(payload);
    let checksum = xxh3_64(&bytes);
    bytes.extend(checksum.to_le_bytes());
    bytes
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::indexing_slicing)]
    use super::*;
    use crate::error::FormatError;

    #[test]
    fn an_envelope_opens_only_whole_and_as_what_it_is() {
        let bytes = seal(Kind::Footer, b"payload");
        let mut open_well = open(&bytes, Kind::Footer).unwrap();
        assert_eq!(open_well.payload.take(7).unwrap(), b"payload");
        assert_eq!(open_well.payload.remaining(), 0);
        assert!(open(&bytes, Kind::Header).is_err());
        assert!(open(&bytes[..bytes.len() - 1], Kind::Footer).is_err());
        for i in 0..bytes.len() {
            let mut broken = bytes.clone();
            broken[i] ^= 1;
            assert!(open(&broken, Kind::Footer).is_err(), "byte {i}");
        }
        assert!(open(&[], Kind::Footer).is_err());
    }

    #[test]
    fn a_wrong_length_is_malformed_though_the_checksum_is_right() {
        let mut bytes = (99_u64 << 16 | 2).to_le_bytes().to_vec();
        let checksum = xxh3_64(&bytes);
        bytes.extend(checksum.to_le_bytes());
        assert!(open(&bytes, Kind::Footer).is_err());
    }

    #[test]
    fn unknown_features_stop_the_reader() {
        let flags = |words: &[i64]| {
            let bytes: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
            check_feature_flags(&mut Cursor::new(&bytes))
        };
        assert_eq!(flags(&[0]), Ok(()));
        assert_eq!(flags(&[i64::MIN, i64::MIN, 0]), Ok(()));
        let unknown = |bit: u32| {
            Err(FormatError::Unsupported {
                what: format!("an RNTuple with the feature flag {bit}"),
            })
        };
        assert_eq!(flags(&[4]), unknown(2));
        assert_eq!(flags(&[i64::MIN, 1]), unknown(63));
        assert!(flags(&[i64::MIN]).is_err());
    }
}
