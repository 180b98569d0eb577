//! The reference decoder: values whose size is known only by reading them (strings, nested vectors, records of
//! such), one after another. The faster engines must give the same arrays, and leave errors to this one.

use super::clones::{clones, objects};
use super::column::Column;
use super::size::{Size, fixed_sum, size_of};
use super::{Entries, object, pointer, shared};
use crate::faults::{malformed, mismatch, unsupported};
use crate::offsets::push_offset;
use treemill_format::error::Result;
use treemill_format::framed::front;
use treemill_format::layout::{Form, Layout};

/// Appends entries of any layout whose size is not fixed.
pub(super) fn append(column: &mut Column, layout: &Layout, entries: Entries<'_>) -> Result<()> {
    match layout {
        Layout::Counted { item, header } => append_counted(column, item, *header, entries),
        _ => append_walked(column, layout, entries),
    }
}

/// Appends entries of any layout that says itself where it ends. Each must fill its bytes.
fn append_walked(column: &mut Column, layout: &Layout, entries: Entries<'_>) -> Result<()> {
    for (index, entry) in entries.iter().enumerate() {
        let at = entries.starts.get(index).copied().unwrap_or(0) as usize;
        let mut rest = entry;
        if let (Column::Bytes { offsets, .. }, true) = (&mut *column, entry.is_empty()) {
            // Old TLeafC: an entry of no bytes at all is the empty string.
            push_offset(offsets, 0)?;
            continue;
        }
        value(column, layout, &mut rest).map_err(|e| moved(e, at))?;
        if !rest.is_empty() {
            return Err(malformed(
                at,
                format!(
                    "an entry of {} bytes goes on for {} bytes after its value",
                    entry.len(),
                    rest.len()
                ),
            ));
        }
    }
    Ok(())
}

/// Appends the value at the front of `bytes`, which is moved past it.
pub(super) fn value(column: &mut Column, layout: &Layout, bytes: &mut &[u8]) -> Result<()> {
    match (column, layout) {
        (Column::Numbers(numbers), Layout::Number(_)) => numbers.take(bytes),
        (Column::Fixed { rows, item }, Layout::Array { item: of, len }) => {
            *rows = rows.saturating_add(1);
            items(item, of, *len as usize, bytes)
        }
        (Column::Object { rows, parts }, Layout::Object(of)) => {
            *rows = rows.saturating_add(1);
            object::object(parts, of, bytes)
        }
        (Column::Pointer { present, item }, Layout::Pointer(of)) => {
            pointer::pointer(present, item, of, bytes)
        }
        (Column::List { offsets, item }, Layout::Clones(of)) => clones(offsets, item, of, bytes),
        (Column::List { offsets, item }, Layout::Objects(of)) => objects(offsets, item, of, bytes),
        (_, Layout::Absent { reason }) => Err(unsupported(reason)),
        (Column::Numbers(numbers), Layout::Bits) => {
            numbers.take(&mut object::bits(bytes)?.as_slice())
        }
        // The header says in which order the objects lie.
        (column @ Column::List { .. }, Layout::Vector { item, header: 1.. }) if is_object(item) => {
            object::collections(column, layout, Some(1), bytes)
        }
        (Column::List { offsets, item }, Layout::Vector { item: of, header }) => {
            skip(bytes, usize::from(*header))?;
            list(offsets, item, of, bytes)
        }
        (Column::Bytes { offsets, bytes: to }, Layout::String { header }) => {
            skip(bytes, usize::from(*header))?;
            append_text(offsets, to, take_string(bytes)?)
        }
        (Column::Bytes { offsets, bytes: to }, Layout::CharStar) => {
            append_text(offsets, to, take_char_star(bytes)?)
        }
        (Column::Record { rows, fields }, Layout::Record(members)) => {
            *rows = rows.saturating_add(1);
            let mut members = members.iter();
            for field in fields {
                let (_, member) = members.next().ok_or_else(mismatch)?;
                match field {
                    // A TLeafC that is empty writes nothing: then only the leaves after it are left.
                    Column::Bytes { offsets, .. }
                        if fixed_sum(members.as_slice()) == Some(bytes.len()) =>
                    {
                        push_offset(offsets, 0)?;
                    }
                    field => value(field, member, bytes)?,
                }
            }
            Ok(())
        }
        _ => Err(mismatch()),
    }
}

fn append_text(offsets: &mut Vec<i32>, to: &mut Vec<u8>, text: &[u8]) -> Result<()> {
    push_offset(offsets, text.len())?;
    to.extend_from_slice(text);
    Ok(())
}

/// Whether items could lie member by member.
fn is_object(item: &Layout) -> bool {
    matches!(
        item,
        Layout::Object(_) | Layout::Pointer(_) | Layout::Absent { .. }
    )
}

/// Appends a count and as many items.
fn list(
    offsets: &mut Vec<i32>,
    column: &mut Column,
    item: &Layout,
    bytes: &mut &[u8],
) -> Result<()> {
    let count = i32::from_be_bytes(take(bytes)?);
    let count = usize::try_from(count)
        .map_err(|_| malformed(0, format!("a collection announces {count} items")))?;
    push_offset(offsets, count)?;
    items(column, item, count, bytes)
}

/// Appends a value, without the header that the layout has for it if it is a collection or string.
pub(super) fn headless(column: &mut Column, layout: &Layout, bytes: &mut &[u8]) -> Result<()> {
    match (column, layout) {
        (Column::List { offsets, item }, Layout::Vector { item: of, .. }) => {
            list(offsets, item, of, bytes)
        }
        (column, Layout::String { .. }) => value(column, &Layout::String { header: 0 }, bytes),
        (column, layout) => value(column, layout, bytes),
    }
}

/// Appends entries that are items of no fixed size up to their end, after one header for all of them
/// if there are any.
fn append_counted(
    column: &mut Column,
    layout: &Layout,
    header: u8,
    entries: Entries<'_>,
) -> Result<()> {
    let Column::List { offsets, item } = column else {
        return Err(mismatch());
    };
    for (index, mut entry) in entries.iter().enumerate() {
        let at = entries.starts.get(index).copied().unwrap_or(0) as usize;
        let before = item.len();
        let mut all = || {
            if header > 0 && !entry.is_empty() {
                object::collections(item, layout, None, &mut entry)?;
                if !entry.is_empty() {
                    return Err(malformed(0, "an entry goes on after its items".to_owned()));
                }
            }
            if let Layout::Object(of) = layout
                && of.form == Form::Shared
            {
                shared::objects(item, of, &mut entry)?;
            }
            while !entry.is_empty() {
                value(item, layout, &mut entry)?;
            }
            push_offset(offsets, item.len().saturating_sub(before))
        };
        all().map_err(|e| moved(e, at))?;
    }
    Ok(())
}

/// Appends `count` items, whose number is first compared with the bytes that are left.
pub(super) fn items(
    column: &mut Column,
    layout: &Layout,
    count: usize,
    bytes: &mut &[u8],
) -> Result<()> {
    let size = match layout {
        // Whose bytes are not counted anew for every list: every one has some.
        Layout::Object(of) if of.form == Form::Framed => Size::AtLeast(1),
        _ => size_of(layout)?,
    };
    let least = count.saturating_mul(size.least());
    let Some((packed, rest)) = bytes.split_at_checked(least) else {
        return Err(malformed(
            0,
            format!(
                "a collection announces {count} items where {} bytes are left",
                bytes.len()
            ),
        ));
    };
    if let Size::Fixed(_) = size {
        *bytes = rest;
        return column.append_packed(layout, packed, count);
    }
    (0..count).try_for_each(|_| value(column, layout, bytes))
}

/// Moves `bytes` past one value of `layout`, and appends nothing.
pub(super) fn skip_value(layout: &Layout, bytes: &mut &[u8]) -> Result<()> {
    match layout {
        Layout::Vector { item, header } => {
            if *header > 0 && is_object(item) {
                return skip(bytes, 4).and_then(|()| Err(unsupported(
                    "collections of objects in a basket that does not say where its entries are",
                )));
            }
            skip(bytes, usize::from(*header))?;
            let count = i32::from_be_bytes(take(bytes)?);
            let count = usize::try_from(count)
                .map_err(|_| malformed(0, format!("a vector announces {count} items")))?;
            skip_items(item, count, bytes)
        }
        Layout::Array { item, len } => skip_items(item, *len as usize, bytes),
        Layout::String { header } => {
            skip(bytes, usize::from(*header))?;
            take_string(bytes).map(|_| ())
        }
        Layout::CharStar => take_char_star(bytes).map(|_| ()),
        Layout::Record(members) => members
            .iter()
            .try_for_each(|(_, member)| skip_value(member, bytes)),
        Layout::Number(_) => skip(bytes, size_of(layout)?.least()),
        // Appended and thrown away: where such values end is known only by reading all of them.
        Layout::Object(_)
        | Layout::Pointer(_)
        | Layout::Clones(_)
        | Layout::Objects(_)
        | Layout::Bits => value(&mut Column::new(layout, 0)?, layout, bytes),
        Layout::Absent { reason } => Err(unsupported(reason)),
        Layout::Counted { .. } | Layout::Sized { .. } | Layout::Unsupported { .. } => {
            Err(mismatch())
        }
    }
}

fn skip_items(layout: &Layout, count: usize, bytes: &mut &[u8]) -> Result<()> {
    let size = size_of(layout)?;
    let least = count.saturating_mul(size.least());
    match size {
        Size::Fixed(_) => skip(bytes, least),
        Size::AtLeast(_) if least > bytes.len() => skip(bytes, least),
        Size::AtLeast(_) => (0..count).try_for_each(|_| skip_value(layout, bytes)),
    }
}

/// A TString's or std::string's bytes: a length byte, where 255 announces an i32.
pub(super) fn take_string<'a>(bytes: &mut &'a [u8]) -> Result<&'a [u8]> {
    match take(bytes)? {
        [255] => take_char_star(bytes),
        [len] => take_text(bytes, usize::from(len)),
    }
}

/// An i32 length and as many bytes.
fn take_char_star<'a>(bytes: &mut &'a [u8]) -> Result<&'a [u8]> {
    let len = i32::from_be_bytes(take(bytes)?);
    let len = usize::try_from(len)
        .map_err(|_| malformed(0, format!("a string announces {len} bytes")))?;
    take_text(bytes, len)
}

fn take_text<'a>(bytes: &mut &'a [u8], len: usize) -> Result<&'a [u8]> {
    let Some((text, rest)) = bytes.split_at_checked(len) else {
        return Err(malformed(
            0,
            format!(
                "a string announces {len} bytes where {} are left",
                bytes.len()
            ),
        ));
    };
    *bytes = rest;
    Ok(text)
}

pub(super) fn take<const N: usize>(bytes: &mut &[u8]) -> Result<[u8; N]> {
    front(bytes).ok_or_else(|| malformed(0, "an entry ends within a value"))
}

pub(super) fn skip(bytes: &mut &[u8], n: usize) -> Result<()> {
    *bytes = bytes
        .get(n..)
        .ok_or_else(|| malformed(0, "an entry ends within a value".to_owned()))?;
    Ok(())
}

/// The error with its offset counted from where the entry's data begins.
fn moved(
    error: treemill_format::error::FormatError,
    by: usize,
) -> treemill_format::error::FormatError {
    use treemill_format::error::FormatError::{Malformed, Truncated, Unsupported};
    match error {
        Malformed { what, at } => Malformed {
            what,
            at: at.saturating_add(by as u64),
        },
        // Their places are in the file, or there is none.
        error @ (Truncated { .. } | Unsupported { .. }) => error,
    }
}
