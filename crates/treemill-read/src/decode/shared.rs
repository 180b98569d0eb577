//! Objects whose members lie member by member for a whole entry, without any header: bases that were not split
//! off the items of a split collection. Their number follows from the entry's length alone, so their members
//! must have a fixed size.

use super::column::Column;
use super::object::{Order, parts};
use super::size::{Size, size_of};
use crate::faults::{malformed, mismatch, unsupported};
use treemill_format::error::Result;
use treemill_format::layout::{Hidden, Layout, Object, Part};

/// A TObject that nothing refers to: version, fUniqueID, fBits.
const ROOT_OBJECT: usize = 10;

/// Appends the objects of an entry.
pub(super) fn objects(column: &mut Column, of: &Object, entry: &mut &[u8]) -> Result<()> {
    let Column::Object { rows, parts: own } = column else {
        return Err(mismatch());
    };
    let size = size(of)?;
    let count = match entry.len().checked_div(size) {
        Some(count) if entry.len().is_multiple_of(size) => count,
        _ => {
            return Err(malformed(
                0,
                format!(
                    "{} bytes are not a whole number of items of {size} bytes",
                    entry.len()
                ),
            ));
        }
    };
    *rows = rows.saturating_add(count);
    parts(own, of, Order::Members(count), entry)?;
    if entry.is_empty() {
        return Ok(());
    }
    Err(unsupported("objects that are referenced, without headers"))
}

/// Bytes of one object.
fn size(of: &Object) -> Result<usize> {
    let mut total = 0_usize;
    for part in &of.parts {
        let bytes = match part {
            Part::Base(base) => size(base)?,
            Part::Hidden(Hidden::RootObject) => ROOT_OBJECT,
            Part::Hidden(Hidden::Bytes(n)) => usize::from(*n),
            Part::Field(_, layout) => match (layout, size_of(layout)?) {
                (Layout::Bits, _) => 4,
                (_, Size::Fixed(bytes)) => bytes,
                (_, Size::AtLeast(_)) => return Err(no_size(of)),
            },
            Part::Hidden(_) => return Err(no_size(of)),
        };
        total = total.saturating_add(bytes);
    }
    Ok(total)
}

fn no_size(of: &Object) -> treemill_format::error::FormatError {
    unsupported(format!(
        "base class {} of the items of a collection, whose members have no fixed size",
        of.class.name
    ))
}

/// Whether the objects' number can be known.
///
/// # Errors
/// `Unsupported` if it cannot.
pub(super) fn check(of: &Object) -> Result<()> {
    size(of).map(|_| ())
}
