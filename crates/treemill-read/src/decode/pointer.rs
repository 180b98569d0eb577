//! Pointers: an object follows a byte count and the name of its class (ROOT: `TBufferFile::WriteObjectAny`).
//!
//! The second object of a class within an entry gives, instead of the name, the place of the first one's name.
//! That place is not looked up: either no other class is possible, or the pointer says that one is, and then
//! such an object is refused. So is an object that names another class.

use super::column::Column;
use super::object::object;
use crate::faults::{malformed, mismatch, unsupported};
use treemill_format::error::Result;
use treemill_format::framed::{class, frame, pointed};
use treemill_format::layout::{Layout, Pointer, Says};

/// Appends what is pointed to, or that it is missing.
pub(super) fn pointer(
    present: &mut Vec<bool>,
    item: &mut Column,
    of: &Pointer,
    bytes: &mut &[u8],
) -> Result<()> {
    let Some(mut body) = pointed(bytes)?.object()? else {
        present.push(false);
        return Ok(());
    };
    let name = class(&mut body)?;
    if name.is_none() && of.says == (Says::Data { alone: false }) {
        return Err(unsupported("an object whose class is named elsewhere"));
    }
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
        return Err(unsupported(format!(
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

/// Moves `bytes` past a pointer and the object after it, whatever it is.
pub(super) fn pass(bytes: &mut &[u8]) -> Result<()> {
    pointed(bytes).map(|_| ())
}

/// Moves `bytes` past an object, whatever it is.
pub(super) fn pass_object(bytes: &mut &[u8]) -> Result<()> {
    frame(bytes).map(|_| ())
}
