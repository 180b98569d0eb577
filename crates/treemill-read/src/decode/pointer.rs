//! Pointers: objects behind a byte count and the name of their class (ROOT: TBufferFile::WriteObjectAny).
//!
//! The second object of a class within an entry gives the place of the first one's name instead of the name.
//! Where that is need not be known: no other class can be meant, or the pointer says that it could, and then
//! such an object is refused. So is one of a class that is named otherwise, where it is first met.

use super::column::{Column, mismatch};
use super::object::{frame, object};
use super::walk::{skip, take};
use super::{malformed, unsupported};
use treemill_format::error::Result;
use treemill_format::layout::{Layout, Pointer, Says};
use treemill_format::marks::{BYTE_COUNT, CLASS, NEW_CLASS};

/// Appends what is pointed to, or that it is missing.
pub(super) fn pointer(
    present: &mut Vec<bool>,
    item: &mut Column,
    of: &Pointer,
    bytes: &mut &[u8],
) -> Result<()> {
    let Some(mut body) = pointee(bytes)? else {
        present.push(false);
        return Ok(());
    };
    let name = match u32::from_be_bytes(take(&mut body)?) {
        NEW_CLASS => Some(name(&mut body)?),
        tag if tag & CLASS == 0 => return Err(unsupported("an object that is pointed to twice")),
        _ if of.says == Says::Data { alone: false } => {
            return Err(unsupported("an object whose class is named elsewhere"));
        }
        _ => None,
    };
    let (rows, parts, of) = match (item, &of.to) {
        (Column::Object { rows, parts }, Layout::Object(of)) => (rows, parts, of),
        (met @ Column::Nothing, Layout::Absent { reason }) => {
            if let Some(name) = name {
                *met = Column::Met(name.to_vec());
            }
            return Err(unsupported(reason));
        }
        (_, Layout::Absent { reason }) => return Err(unsupported(reason)),
        _ => return Err(mismatch()),
    };
    if let Some(name) = name
        && name != of.class.name.as_bytes()
    {
        return Err(unsupported(&format!(
            "a pointer to an object of class {} where the branch has pointers to {}",
            name.escape_ascii(),
            of.class.name
        )));
    }
    *rows = rows.saturating_add(1);
    object(parts, of, &mut body)?;
    if !body.is_empty() {
        return Err(malformed(
            0,
            "an object ends before its pointer's byte count says".to_owned(),
        ));
    }
    present.push(true);
    Ok(())
}

/// Moves `bytes` past a pointer and the object behind it, whatever it is.
pub(super) fn pass(bytes: &mut &[u8]) -> Result<()> {
    let mut word = *bytes;
    let tag = u32::from_be_bytes(take(&mut word)?);
    if tag & BYTE_COUNT == 0 && tag & CLASS == 0 {
        // Null, or an object that is somewhere else.
        return skip(bytes, 4);
    }
    pointee(bytes).map(|_| ())
}

/// Moves `bytes` past an object, whatever it is.
pub(super) fn pass_object(bytes: &mut &[u8]) -> Result<()> {
    frame(bytes).map(|_| ())
}

/// The bytes that belong to a pointer, behind their count; `None` where it is null.
fn pointee<'a>(bytes: &mut &'a [u8]) -> Result<Option<&'a [u8]>> {
    let word = u32::from_be_bytes(take(bytes)?);
    if word == 0 {
        return Ok(None);
    }
    if word & BYTE_COUNT == 0 || word == NEW_CLASS {
        return Err(unsupported(match word & CLASS {
            0 => "an object that is pointed to twice",
            _ => "a pointer without a byte count",
        }));
    }
    let len = (word & !BYTE_COUNT) as usize;
    let Some((body, rest)) = bytes.split_at_checked(len) else {
        return Err(malformed(
            0,
            format!("an object of {len} bytes where {} are left", bytes.len()),
        ));
    };
    *bytes = rest;
    Ok(Some(body))
}

/// The name of a class, which a zero ends.
fn name<'a>(body: &mut &'a [u8]) -> Result<&'a [u8]> {
    let found = body.split(|byte| *byte == 0).next().unwrap_or_default();
    skip(body, found.len().saturating_add(1))?;
    Ok(found)
}
