//! The header of a TClonesArray that was stored whole, and the class of its items, which only the array itself
//! names. Pure; knows no layouts of items.
//!
//! Source: ROOT's `TClonesArray::Streamer`.

use crate::enclosed::{Expected, object, own_members};
use crate::error::Result;
use crate::layout::Before;

/// Name of the class.
pub const CLONES: &str = "TClonesArray";

/// The version in use since ROOT 3.
const EXPECTED: Expected = Expected {
    name: CLONES,
    version: 4,
};
/// fBits: the items' members lie member by member (TClonesArray: kBypassStreamer).
const BY_MEMBER: u32 = 1 << 12;

/// An array up to its items.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Head<'a> {
    /// The items' class and its version, `Hit;3`.
    pub class: &'a [u8],
    /// Whether the items lie member by member; else one after another, each after a byte that says
    /// whether it is there.
    pub by_member: bool,
    /// How many items.
    pub count: usize,
    /// The items' bytes.
    pub body: &'a [u8],
}

/// Reads the array at the front of `bytes`, which are moved past it; `None` if it is a pointer to
/// nothing.
///
/// # Errors
/// `Malformed` if the bytes break off; `Unsupported` if something else lies there.
pub fn head<'a>(before: &Before, bytes: &mut &'a [u8]) -> Result<Option<Head<'a>>> {
    object(before, EXPECTED, bytes, |mut r| {
        let bits = own_members(&mut r)?;
        let class = r.string()?;
        let count = r.count()?;
        let _lower_bound = r.i32()?;
        Ok(Head {
            class,
            by_member: bits & BY_MEMBER != 0,
            count,
            body: r.bytes().get(r.position()..).unwrap_or_default(),
        })
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::indexing_slicing)]
    use super::*;
    use crate::marks::NEW_CLASS;

    /// An array of two items of two bytes each, as ROOT 6 writes it.
    fn stored(bits: u32) -> Vec<u8> {
        let mut body = vec![0, 4, 0, 1, 0, 0, 0, 0];
        body.extend(bits.to_be_bytes());
        body.extend(b"\x04Hits\x05Hit;3");
        body.extend([0, 0, 0, 2, 0, 0, 0, 0, 9, 8, 7, 6]);
        let mut bytes = (0x4000_0000 | body.len() as u32).to_be_bytes().to_vec();
        bytes.extend(body);
        bytes
    }

    #[test]
    fn an_array_says_its_items_class_and_order() {
        let mut bytes = stored(BY_MEMBER);
        bytes.push(1);
        let mut rest = bytes.as_slice();
        let found = head(&Before::Nothing, &mut rest).unwrap().unwrap();
        assert_eq!((found.class, found.by_member), (&b"Hit;3"[..], true));
        assert_eq!((found.count, found.body), (2, &[9, 8, 7, 6][..]));
        assert_eq!(rest, [1]);
        let bytes = stored(0);
        let found = head(&Before::Nothing, &mut bytes.as_slice()).unwrap();
        assert!(!found.unwrap().by_member);
    }

    #[test]
    fn pointers_and_names_before_it_are_passed_over() {
        let mut named = b"\x0cTClonesArray\0".to_vec();
        let before = Before::Exactly(named.clone());
        named.extend(stored(0));
        assert_eq!(head(&before, &mut &named[..]).unwrap().unwrap().count, 2);
        named[1] = b'X';
        assert!(head(&before, &mut &named[..]).is_err());

        let mut inner = NEW_CLASS.to_be_bytes().to_vec();
        inner.extend(b"TClonesArray\0");
        inner.extend(stored(0));
        let mut pointer = (0x4000_0000 | inner.len() as u32).to_be_bytes().to_vec();
        pointer.extend(inner);
        pointer.push(5);
        let mut rest = &pointer[..];
        assert_eq!(head(&Before::Pointer, &mut rest).unwrap().unwrap().count, 2);
        assert_eq!(rest, [5]);
        let mut null = &[0, 0, 0, 0, 5][..];
        assert_eq!(head(&Before::Pointer, &mut null).unwrap(), None);
        assert_eq!(null, [5]);
    }

    #[test]
    fn every_cut_and_changed_byte_is_an_error_or_another_array() {
        let bytes = stored(BY_MEMBER);
        for len in 0..bytes.len() {
            assert!(head(&Before::Nothing, &mut &bytes[..len]).is_err());
        }
        for at in 0..bytes.len() {
            for value in 0..=255 {
                let mut changed = bytes.clone();
                changed[at] = value;
                let _ = head(&Before::Nothing, &mut &changed[..]);
                let _ = head(&Before::Pointer, &mut &changed[..]);
            }
        }
    }
}
