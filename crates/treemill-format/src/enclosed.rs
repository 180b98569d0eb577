//! Objects of ROOT's collections, which stream themselves, with what is before them. Knows no members.
//!
//! Source: ROOT's `TBufferFile::WriteObjectAny` and `WriteVersion`.

use crate::error::Result;
use crate::layout::Before;
use crate::marks::{BYTE_COUNT, CLASS, IS_REFERENCED, NEW_CLASS};
use crate::reader::{Reader, malformed, unsupported};

/// A class as it must be.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Expected {
    pub name: &'static str,
    pub version: u16,
}

/// Reads an object at the front of `bytes`, which are moved past it: what `read` makes of its members, or
/// `None` where it is a pointer to nothing.
///
/// # Errors
/// `Malformed` where the bytes break off; `Unsupported` where something else lies there.
pub(crate) fn object<'a, T>(
    before: &Before,
    expected: Expected,
    bytes: &mut &'a [u8],
    read: impl FnOnce(Reader<'a>) -> Result<T>,
) -> Result<Option<T>> {
    let class = expected.name;
    let mut r = Reader::new(bytes);
    let body = match before {
        Before::Nothing => body(&mut r, expected)?,
        Before::Exactly(tag) => {
            if r.take(tag.len())? != tag.as_slice() {
                return Err(unsupported(format!(
                    "an object of another class than {class}"
                )));
            }
            body(&mut r, expected)?
        }
        Before::Pointer => {
            let word = r.u32()?;
            if word == 0 {
                *bytes = bytes.get(r.position()..).unwrap_or_default();
                return Ok(None);
            }
            let mut inner = Reader::new(counted(&mut r, word)?);
            match inner.u32()? {
                NEW_CLASS if inner.c_string()? == class.as_bytes() => {}
                NEW_CLASS => {
                    return Err(unsupported(format!(
                        "a pointer to another class than {class}"
                    )));
                }
                // Named before; no other class of this version can be meant.
                tag if tag & CLASS != 0 => {}
                _ => return Err(unsupported("an object that is pointed to twice")),
            }
            let body = body(&mut inner, expected)?;
            if inner.remaining() > 0 {
                return Err(malformed(
                    "an object ends before its pointer's byte count",
                    0,
                ));
            }
            body
        }
    };
    *bytes = bytes.get(r.position()..).unwrap_or_default();
    read(Reader::new(body)).map(Some)
}

/// As many bytes as a byte count announces.
fn counted<'a>(r: &mut Reader<'a>, word: u32) -> Result<&'a [u8]> {
    if word & BYTE_COUNT == 0 || word == NEW_CLASS {
        return Err(unsupported("an object without a byte count of its own"));
    }
    r.take((word & !BYTE_COUNT) as usize)
}

/// An object's bytes behind its byte count and version.
fn body<'a>(r: &mut Reader<'a>, expected: Expected) -> Result<&'a [u8]> {
    let word = r.u32()?;
    let body = counted(r, word)?;
    let mut r = Reader::new(body);
    let version = r.u16()?;
    if version != expected.version {
        let class = expected.name;
        return Err(unsupported(format!("version {version} of {class}")));
    }
    Ok(body.get(r.position()..).unwrap_or_default())
}

/// Reads a collection's TObject and name; the TObject's bits.
pub(crate) fn own_members(r: &mut Reader<'_>) -> Result<u32> {
    let _version = r.u16()?;
    let _unique = r.u32()?;
    let bits = r.u32()?;
    if bits & IS_REFERENCED != 0 {
        r.skip(2)?;
    }
    let _name = r.string()?;
    Ok(bits)
}
