//! Reads the TList of TStreamerInfo that a file carries (ROOT: TStreamerInfo, TStreamerElement::Streamer).

use super::{Element, ElementKind, StreamerInfo, StreamerInfos};
use crate::error::{Result, unsupported};
use crate::object::{Inline, Pointer, header, list, named, obj_array, pointer};
use crate::reader::{Reader, text};

/// EReadWrite codes of bytes that old files use for `bool`.
const UCHAR: i32 = 11;
const BOOL: i32 = 18;

impl StreamerInfos {
    /// Reads the object of the record that `FileHeader::streamer_info` names, decompressed.
    /// `key_len` is the length of that record's key.
    ///
    /// # Errors
    /// `Malformed` if the records break off; `Unsupported` for elements that no known ROOT writes.
    pub fn parse(object: &[u8], key_len: usize) -> Result<StreamerInfos> {
        let mut infos = Vec::new();
        for item in list(&mut Reader::new(object), key_len)? {
            // The list may also hold a TList of schema evolution rules.
            if let Pointer::Object(item) = item
                && item.class == b"TStreamerInfo"
            {
                infos.push(info(item.reader(object), key_len)?);
            }
        }
        Ok(StreamerInfos::new(infos))
    }
}

/// Reads one. Its reader ends with it, so that no two have the same elements.
fn info(mut r: Reader, key_len: usize) -> Result<StreamerInfo> {
    let object = r.bytes();
    header(&mut r)?;
    let (name, _) = named(&mut r)?;
    let checksum = r.u32()?;
    let version = r.i32()?;
    let mut elements = Vec::new();
    if let Pointer::Object(array) = pointer(&mut r, key_len)? {
        let mut r = array.reader(object);
        let (n, _) = obj_array(&mut r)?;
        for _ in 0..n {
            if let Pointer::Object(item) = pointer(&mut r, key_len)? {
                elements.push(element(object, item)?);
            }
        }
    }
    Ok(StreamerInfo {
        name: text(name),
        checksum,
        version,
        elements,
    })
}

fn element(object: &[u8], item: Inline) -> Result<Element> {
    let mut r = item.reader(object);
    // Every subclass wraps its base class in a header of its own; TStreamerSTLstring is one further out.
    let wrappings = match item.class {
        b"TStreamerElement" => 0,
        b"TStreamerSTLstring" => 2,
        _ => 1,
    };
    let mut outer_end = item.end;
    for _ in 0..wrappings {
        outer_end = header(&mut r)?.end.unwrap_or(outer_end);
    }
    let mut element = base(&mut r)?;
    element.kind = match item.class {
        b"TStreamerBase" => {
            let stored = r.position() < outer_end;
            ElementKind::Base {
                version: if stored { r.i32()? } else { -1 },
            }
        }
        b"TStreamerBasicPointer" | b"TStreamerLoop" => {
            let _version = r.i32()?;
            ElementKind::CountedBy {
                member: text(r.string()?),
                class: text(r.string()?),
            }
        }
        b"TStreamerSTL" | b"TStreamerSTLstring" => ElementKind::Stl {
            container: r.i32()?,
            item: r.i32()?,
        },
        b"TStreamerElement"
        | b"TStreamerBasicType"
        | b"TStreamerObject"
        | b"TStreamerObjectAny"
        | b"TStreamerObjectPointer"
        | b"TStreamerObjectAnyPointer"
        | b"TStreamerString"
        | b"TStreamerArtificial" => ElementKind::Plain,
        other => {
            return Err(unsupported(format!(
                "streamer elements of class {}",
                text(other)
            )));
        }
    };
    Ok(element)
}

/// The TStreamerElement part.
fn base(r: &mut Reader) -> Result<Element> {
    let head = header(r)?;
    let (name, title) = named(r)?;
    let mut code = r.i32()?;
    let _size = r.i32()?;
    let array_length = u32::try_from(r.i32()?).unwrap_or(0);
    let n_dims = usize::try_from(r.i32()?).unwrap_or(0);
    let stored = if head.version == 1 { r.count()? } else { 5 };
    let mut dims = Vec::new();
    for i in 0..stored {
        let dim = r.i32()?;
        if i < n_dims {
            dims.push(u32::try_from(dim).unwrap_or(0));
        }
    }
    let type_name = text(r.string()?);
    if code == UCHAR && matches!(type_name.as_str(), "Bool_t" | "bool") {
        code = BOOL; // ROOT before 4 had no code of its own for it
    }
    let stored_range = if head.version == 3 {
        let (min, _max, factor) = (r.f64()?, r.f64()?, r.f64()?);
        Some((min, factor))
    } else {
        None
    };
    if let Some(end) = head.end {
        r.close(end)?;
    }
    Ok(Element {
        name: text(name),
        title: text(title),
        code,
        array_length,
        dims,
        type_name,
        kind: ElementKind::Plain,
        stored_range,
    })
}
