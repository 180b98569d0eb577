//! How ROOT writes objects: byte counts and versions, class tags and references, TObject, TNamed,
//! TObjArray, TList. Knows no class beyond these (ROOT: TBufferFile, TObject, TObjArray, TList).

use crate::error::{Result, malformed, unsupported};
use crate::marks::{BYTE_COUNT, CLASS, IS_REFERENCED, MEMBER_WISE, NEW_CLASS};
use crate::reader::{Reader, text};

/// References count from 2 so that 0 and 1 stay free (ROOT: kMapOffset).
const MAP_OFFSET: u32 = 2;

/// The header of an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Header {
    /// Class version; 0 or less for classes without one, whose checksum follows.
    pub version: i16,
    /// Members of a collection's items are stored column-wise.
    pub memberwise: bool,
    /// Where the object ends; `None` if it was written without a byte count.
    pub end: Option<usize>,
}

/// Reads a version with its byte count, if it has one (ROOT: TBufferFile::ReadVersion).
pub(crate) fn header(r: &mut Reader) -> Result<Header> {
    let start = r.position();
    let mut peek = *r;
    let end = match peek.u32() {
        Ok(word) if word & BYTE_COUNT != 0 && word & CLASS == 0 => {
            *r = peek;
            Some(end_of(r, word & !BYTE_COUNT, start)?)
        }
        _ => None,
    };
    let raw = r.u16()?;
    // Without a byte count these bits belong to the version itself.
    let memberwise = end.is_some() && raw & MEMBER_WISE != 0 && raw & 0x8000 == 0;
    let version = if memberwise { raw & !MEMBER_WISE } else { raw };
    Ok(Header {
        version: version.cast_signed(),
        memberwise,
        end,
    })
}

/// The end of an object of `count` bytes from the cursor on.
fn end_of(r: &Reader, count: u32, start: usize) -> Result<usize> {
    usize::try_from(count)
        .ok()
        .and_then(|n| r.position().checked_add(n))
        .filter(|&end| end <= r.bytes().len())
        .ok_or_else(|| {
            malformed(
                format!(
                    "an object announces {count} bytes where {} are left",
                    r.remaining()
                ),
                start,
            )
        })
}

/// Passes over an object that begins with a byte count, whatever it is.
pub(crate) fn skip_object(r: &mut Reader, what: &str) -> Result<()> {
    match header(r)?.end {
        Some(end) => r.seek(end),
        None => Err(unsupported(format!("{what} without a byte count"))),
    }
}

/// Passes over a TObject's members.
pub(crate) fn skip_tobject(r: &mut Reader) -> Result<()> {
    tobject(r).map(|_| ())
}

/// Reads a TObject's bits and passes over its other members (ROOT: TObject::Streamer).
pub(crate) fn tobject(r: &mut Reader) -> Result<u32> {
    let end = header(r)?.end;
    let _unique_id = r.u32()?;
    let bits = r.u32()?;
    if bits & IS_REFERENCED != 0 {
        r.skip(2)?;
    }
    end.map_or(Ok(()), |end| r.close(end))?;
    Ok(bits)
}

/// Reads a TNamed's name and title (ROOT: TNamed::Streamer).
pub(crate) fn named<'a>(r: &mut Reader<'a>) -> Result<(&'a [u8], &'a [u8])> {
    let end = header(r)?.end;
    skip_tobject(r)?;
    let pair = (r.string()?, r.string()?);
    if let Some(end) = end {
        r.close(end)?;
    }
    Ok(pair)
}

/// The target of a pointer member or of a collection's item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pointer<'a> {
    Null,
    /// The object that starts at this offset (at its byte count), met elsewhere.
    Reference(usize),
    /// An object right here.
    Object(Inline<'a>),
}

/// An object in place, with its class.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Inline<'a> {
    /// Offset of the byte count: what references to the object name.
    pub start: usize,
    /// Offset of the object's own header.
    pub body: usize,
    /// The place after the object.
    pub end: usize,
    pub class: &'a [u8],
}

impl<'a> Inline<'a> {
    /// A cursor at the object's header that does not go beyond its end: what items of a list say cannot
    /// overlap, and so takes no more memory than the record.
    pub fn reader(&self, record: &'a [u8]) -> Reader<'a> {
        Reader::at(record.get(..self.end).unwrap_or(record), self.body)
    }
}

/// Reads a pointer and leaves the cursor after the object (ROOT: TBufferFile::ReadObjectAny).
/// `key_len` is the length of the record's key: references count from the record's start.
pub(crate) fn pointer<'a>(r: &mut Reader<'a>, key_len: usize) -> Result<Pointer<'a>> {
    let start = r.position();
    let word = r.u32()?;
    if word & BYTE_COUNT == 0 || word == NEW_CLASS {
        return match word {
            0 => Ok(Pointer::Null),
            word if word & CLASS == 0 => Ok(Pointer::Reference(referred(word, key_len, start)?)),
            _ => Err(unsupported(
                "objects written without byte counts (before ROOT 2)",
            )),
        };
    }
    let end = end_of(r, word & !BYTE_COUNT, start)?;
    let tag = r.u32()?;
    let class = match tag {
        NEW_CLASS => r.c_string()?,
        tag if tag & CLASS != 0 => class_at(r, referred(tag & !CLASS, key_len, start)?)?,
        tag => {
            r.close(end)?;
            return Ok(if tag == 0 {
                Pointer::Null
            } else {
                Pointer::Reference(referred(tag, key_len, start)?)
            });
        }
    };
    let body = r.position();
    r.close(end)?;
    Ok(Pointer::Object(Inline {
        start,
        body,
        end,
        class,
    }))
}

/// An object's offset from its reference.
fn referred(tag: u32, key_len: usize, at: usize) -> Result<usize> {
    tag.checked_sub(MAP_OFFSET)
        .and_then(|tag| usize::try_from(tag).ok())
        .and_then(|tag| tag.checked_sub(key_len))
        .ok_or_else(|| malformed(format!("a reference names {tag}, which is no object"), at))
}

/// The class name after the kNewClassTag that a class reference names. Looking there instead of
/// remembering classes in a table means that objects can be passed over unread.
fn class_at<'a>(r: &Reader<'a>, at: usize) -> Result<&'a [u8]> {
    let mut there = Reader::at(r.bytes(), at);
    match there.u32() {
        Ok(NEW_CLASS) => there.c_string(),
        _ => Err(malformed(
            "a reference names a class that does not exist",
            at,
        )),
    }
}

/// Reads a pointer: its object, here or met elsewhere.
pub(crate) fn resolved<'a>(r: &mut Reader<'a>, key_len: usize) -> Result<Option<Inline<'a>>> {
    Ok(match pointer(r, key_len)? {
        Pointer::Null => None,
        Pointer::Object(object) => Some(object),
        // It may have been written at the place that first points to it.
        Pointer::Reference(at) => Some(referenced(r.bytes(), at, key_len)?),
    })
}

/// Reads a pointer: where its object starts, which is not looked at.
pub(crate) fn target(r: &mut Reader, key_len: usize) -> Result<Option<usize>> {
    Ok(match pointer(r, key_len)? {
        Pointer::Null => None,
        Pointer::Reference(at) => Some(at),
        Pointer::Object(object) => Some(object.start),
    })
}

/// The object that a reference names.
fn referenced<'a>(bytes: &'a [u8], at: usize, key_len: usize) -> Result<Inline<'a>> {
    let mut r = Reader::at(bytes, at);
    match pointer(&mut r, key_len)? {
        Pointer::Object(object) => Ok(object),
        _ => Err(malformed(
            "a reference names something that is not an object",
            at,
        )),
    }
}

/// Reads a TObjArray's head; its items follow as pointers (ROOT: TObjArray::Streamer).
pub(crate) fn obj_array(r: &mut Reader) -> Result<(usize, Option<usize>)> {
    let header = header(r)?;
    if header.version > 2 {
        skip_tobject(r)?;
    }
    if header.version > 1 {
        r.string()?;
    }
    let n = r.count()?;
    let _lower_bound = r.i32()?;
    Ok((n, header.end))
}

/// Reads a TList's or THashList's items (ROOT: TList::Streamer).
pub(crate) fn list<'a>(r: &mut Reader<'a>, key_len: usize) -> Result<Vec<Pointer<'a>>> {
    let header = header(r)?;
    if header.version < 4 {
        return Err(unsupported(format!("TList version {}", header.version)));
    }
    skip_tobject(r)?;
    r.string()?;
    let n = r.count()?;
    let mut items = Vec::new();
    for _ in 0..n {
        items.push(pointer(r, key_len)?);
        r.string()?; // the option it was added with
    }
    if let Some(end) = header.end {
        r.close(end)?;
    }
    Ok(items)
}

/// Reads a TList of TNamed as pairs of name and title; items of other classes are left out.
pub(crate) fn named_list(r: &mut Reader, key_len: usize) -> Result<Vec<(String, String)>> {
    let bytes = r.bytes();
    let mut pairs = Vec::new();
    for item in list(r, key_len)? {
        if let Pointer::Object(item) = item
            && item.class == b"TNamed"
        {
            let (name, title) = named(&mut item.reader(bytes))?;
            pairs.push((text(name), text(title)));
        }
    }
    Ok(pairs)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::indexing_slicing)]
    use super::*;

    #[test]
    fn headers_with_and_without_byte_count() {
        let h = header(&mut Reader::new(&[0x40, 0, 0, 4, 0, 3, 9, 9])).unwrap();
        assert_eq!(
            h,
            Header {
                version: 3,
                memberwise: false,
                end: Some(8)
            }
        );
        let h = header(&mut Reader::new(&[0x40, 0, 0, 4, 0x40, 9, 9, 9])).unwrap();
        assert_eq!(
            h,
            Header {
                version: 9,
                memberwise: true,
                end: Some(8)
            }
        );
        let h = header(&mut Reader::new(&[0, 3])).unwrap();
        assert_eq!(
            h,
            Header {
                version: 3,
                memberwise: false,
                end: None
            }
        );
        assert!(
            header(&mut Reader::new(&[0x40, 0, 0, 9, 0, 3])).is_err(),
            "longer than the bytes"
        );
    }

    #[test]
    fn a_referenced_tobject_is_two_bytes_longer() {
        let mut r = Reader::new(&[0, 1, 0, 0, 0, 0, 3, 0, 0, 0x10, 0, 5, 77]);
        skip_tobject(&mut r).unwrap();
        assert_eq!(r.u8().unwrap(), 77);
    }

    #[test]
    fn class_tags_and_references() {
        let key_len = 50;
        let mut b = vec![0x40, 0, 0, 10, 0xff, 0xff, 0xff, 0xff];
        b.extend(b"TFoo\0x"); // an object at 0, its class tag at 4
        b.extend([0x40, 0, 0, 5, 0x80, 0, 0, 56, b'y']); // class reference to 4: 4 + 50 + 2
        b.extend([0, 0, 0, 52]); // reference to the object at 0
        b.extend([0, 0, 0, 0]);
        b.extend([0, 0, 0, 9]); // before the object: no such thing
        let mut r = Reader::new(&b);
        let first = Inline {
            start: 0,
            body: 13,
            end: 14,
            class: b"TFoo",
        };
        assert_eq!(pointer(&mut r, key_len).unwrap(), Pointer::Object(first));
        let second = Inline {
            start: 14,
            body: 22,
            end: 23,
            class: b"TFoo",
        };
        assert_eq!(pointer(&mut r, key_len).unwrap(), Pointer::Object(second));
        assert_eq!(pointer(&mut r, key_len).unwrap(), Pointer::Reference(0));
        assert_eq!(referenced(&b, 0, key_len).unwrap(), first);
        assert_eq!(pointer(&mut r, key_len).unwrap(), Pointer::Null);
        assert!(pointer(&mut r, key_len).is_err());
    }
}
