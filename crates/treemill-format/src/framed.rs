//! The headers of objects in data: byte counts with versions, and the words of pointers, which say whether
//! there is an object and how its class is named. Pure; knows no class, and no position in a record.
//!
//! Source: ROOT's `TBufferFile::ReadVersion` and `TBufferFile::WriteObjectAny`.

use crate::error::{FormatError, Result, malformed, unsupported};
use crate::marks::{BYTE_COUNT, CLASS, NEW_CLASS};

/// A header's contents: the version's bits, and the bytes that belong to the object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Frame<'a> {
    pub version: u16,
    pub body: &'a [u8],
}

/// Reads byte count and version, and moves `bytes` past all that they are about.
///
/// # Errors
/// `Malformed` if the bytes break off; `Unsupported` if there is no byte count.
pub fn frame<'a>(bytes: &mut &'a [u8]) -> Result<Frame<'a>> {
    let count = word(bytes)?;
    if count & BYTE_COUNT == 0 {
        return Err(unsupported("an object without a byte count"));
    }
    let mut body = counted(bytes, count)?;
    let version = u16::from_be_bytes(take(&mut body)?);
    Ok(Frame { version, body })
}

/// The target of a pointer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pointed<'a> {
    Null,
    /// An object that was written before.
    Again,
    /// An object: its bytes, of which [`class`] reads the first ones.
    Object(&'a [u8]),
}

impl<'a> Pointed<'a> {
    /// The object's bytes; `None` if there is none.
    ///
    /// # Errors
    /// `Unsupported` if it was written before: objects are not looked for elsewhere.
    pub fn object(self) -> Result<Option<&'a [u8]>> {
        match self {
            Pointed::Null => Ok(None),
            Pointed::Again => Err(twice()),
            Pointed::Object(body) => Ok(Some(body)),
        }
    }
}

/// Reads a pointer, and moves `bytes` past it and the object after it.
///
/// # Errors
/// `Malformed` if the bytes break off; `Unsupported` if there is no byte count.
pub fn pointed<'a>(bytes: &mut &'a [u8]) -> Result<Pointed<'a>> {
    match word(bytes)? {
        0 => Ok(Pointed::Null),
        place if place & (BYTE_COUNT | CLASS) == 0 => Ok(Pointed::Again),
        count if count & BYTE_COUNT != 0 && count != NEW_CLASS => {
            counted(bytes, count).map(Pointed::Object)
        }
        _ => Err(unsupported("a pointer without a byte count")),
    }
}

/// Reads how an object that is pointed to says its class, and moves `body` past that: its name, or `None` if
/// there is only the place of a name that was written before.
///
/// # Errors
/// `Malformed` if the bytes break off; `Unsupported` if it is an object that was written before.
pub fn class<'a>(body: &mut &'a [u8]) -> Result<Option<&'a [u8]>> {
    match word(body)? {
        NEW_CLASS => {
            let name = body.split(|byte| *byte == 0).next().unwrap_or_default();
            let Some(rest) = body.get(name.len().saturating_add(1)..) else {
                return Err(malformed("a class's name has no end", 0));
            };
            *body = rest;
            Ok(Some(name))
        }
        place if place & CLASS != 0 => Ok(None),
        _ => Err(twice()),
    }
}

fn twice() -> FormatError {
    unsupported("an object that is pointed to twice")
}

fn word(bytes: &mut &[u8]) -> Result<u32> {
    take(bytes).map(u32::from_be_bytes)
}

/// The first `N` bytes, which `bytes` is moved past; `None` if there are fewer.
#[inline]
pub fn front<const N: usize>(bytes: &mut &[u8]) -> Option<[u8; N]> {
    let (taken, rest) = bytes.split_first_chunk()?;
    *bytes = rest;
    Some(*taken)
}

fn take<const N: usize>(bytes: &mut &[u8]) -> Result<[u8; N]> {
    let left = bytes.len();
    front(bytes).ok_or_else(|| malformed(format!("{N} bytes are needed where {left} are left"), 0))
}

/// The bytes that a byte count announces; `bytes` are moved past them.
fn counted<'a>(bytes: &mut &'a [u8], count: u32) -> Result<&'a [u8]> {
    let len = (count & !BYTE_COUNT) as usize;
    let Some((body, rest)) = bytes.split_at_checked(len) else {
        let left = bytes.len();
        return Err(malformed(
            format!("an object announces {len} bytes where {left} are left"),
            0,
        ));
    };
    *bytes = rest;
    Ok(body)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::indexing_slicing)]
    use super::*;

    const AGAIN: [u8; 4] = [0, 0, 0, 66];
    const HIT: &[u8] = b"\x40\0\0\x0b\xff\xff\xff\xffHit\0abc";

    #[test]
    fn a_pointer_is_null_or_to_an_object_here_or_elsewhere() {
        for (bytes, expected) in [
            (&[0; 4][..], Pointed::Null),
            (&AGAIN, Pointed::Again),
            (HIT, Pointed::Object(&HIT[4..])),
        ] {
            let followed = [bytes, &[7]].concat();
            let mut rest = followed.as_slice();
            assert_eq!(pointed(&mut rest).unwrap(), expected);
            assert_eq!(rest, [7]);
        }
        assert_eq!(Pointed::Null.object().unwrap(), None);
        assert!(Pointed::Again.object().is_err());
        for uncounted in [0xffff_ffff_u32, 0x8000_0042] {
            let error = pointed(&mut &uncounted.to_be_bytes()[..]).unwrap_err();
            assert!(matches!(error, FormatError::Unsupported { .. }), "{error}");
        }
    }

    #[test]
    fn an_object_says_its_class_by_name_or_by_the_place_of_one() {
        let mut body = &HIT[4..];
        assert_eq!(class(&mut body).unwrap(), Some(&b"Hit"[..]));
        assert_eq!(body, b"abc");
        let mut body = &b"\x80\0\0\x42abc"[..];
        assert_eq!(class(&mut body).unwrap(), None);
        assert_eq!(body, b"abc");
        let error = class(&mut &AGAIN[..]).unwrap_err();
        assert!(matches!(error, FormatError::Unsupported { .. }), "{error}");
        let error = class(&mut &b"\xff\xff\xff\xffHit"[..]).unwrap_err();
        assert!(matches!(error, FormatError::Malformed { .. }), "{error}");
    }

    #[test]
    fn a_frame_is_as_long_as_its_byte_count_says() {
        let bytes = b"\x40\0\0\x04\0\x03xy!";
        let mut rest = &bytes[..];
        let found = frame(&mut rest).unwrap();
        assert_eq!(
            (found.version, found.body, rest),
            (3, &b"xy"[..], &b"!"[..])
        );
        for len in 0..8 {
            assert!(frame(&mut &bytes[..len]).is_err());
        }
        let error = frame(&mut &[0, 0, 0, 4, 0, 3, 0, 0][..]).unwrap_err();
        assert!(matches!(error, FormatError::Unsupported { .. }), "{error}");
    }
}
