//! Objects of ROOT's collections, which stream themselves, with their headers. Knows no members.
//!
//! Source: ROOT's `TObject::Streamer` and those of its collections.

use crate::error::{Result, malformed, unsupported};
use crate::framed::{self, Frame, frame, pointed};
use crate::layout::Before;
use crate::marks::IS_REFERENCED;
use crate::reader::Reader;

/// A class as it must be.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Expected {
    pub name: &'static str,
    pub version: u16,
}

/// Reads an object at the front of `bytes`, which are moved past it: what `read` makes of its members, or
/// `None` if it is a pointer to nothing.
///
/// # Errors
/// `Malformed` if the bytes break off; `Unsupported` if something else lies there.
pub(crate) fn object<'a, T>(
    before: &Before,
    expected: Expected,
    bytes: &mut &'a [u8],
    read: impl FnOnce(Reader<'a>) -> Result<T>,
) -> Result<Option<T>> {
    let class = expected.name;
    let another = |what| unsupported(format!("{what} another class than {class}"));
    let mut rest = *bytes;
    let body = match before {
        Before::Nothing => body(&mut rest, expected)?,
        Before::Exactly(tag) => {
            if Reader::new(rest).take(tag.len())? != tag.as_slice() {
                return Err(another("an object of"));
            }
            rest = rest.get(tag.len()..).unwrap_or_default();
            body(&mut rest, expected)?
        }
        Before::Pointer => {
            let Some(mut inner) = pointed(&mut rest)?.object()? else {
                *bytes = rest;
                return Ok(None);
            };
            // It refers to a name that was written before: no other class of this version is possible there.
            if framed::class(&mut inner)?.is_some_and(|name| name != class.as_bytes()) {
                return Err(another("a pointer to"));
            }
            let body = body(&mut inner, expected)?;
            if !inner.is_empty() {
                return Err(malformed(
                    "an object ends before its pointer's byte count says",
                    0,
                ));
            }
            body
        }
    };
    *bytes = rest;
    read(Reader::new(body)).map(Some)
}

/// An object's bytes after its byte count and version.
fn body<'a>(bytes: &mut &'a [u8], expected: Expected) -> Result<&'a [u8]> {
    let Frame { version, body } = frame(bytes)?;
    if version != expected.version {
        let class = expected.name;
        return Err(unsupported(format!("version {version} of {class}")));
    }
    Ok(body)
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
