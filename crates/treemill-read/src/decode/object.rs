//! Objects: headers, bases and members one after another, and whole columns of members where a
//! collection was written member by member. Source: ROOT's `TBufferFile::ReadVersion`,
//! `TStreamerInfo::ReadBuffer` and `TCollectionStreamer`.

use super::column::Column;
use super::pointer;
use super::size::{Size, shared_least, size_of};
use super::walk::{headless, items, skip, take, value};
use crate::faults::{malformed, mismatch, unsupported};
use crate::offsets::push_offset;
use treemill_format::error::Result;
use treemill_format::framed::{Frame, frame};
use treemill_format::layout::{Class, Counter, Form, Hidden, Layout, Object, Part};
use treemill_format::marks::{IS_REFERENCED, MEMBER_WISE};
use treemill_format::open::Version;

/// Bytes of byte count and version.
pub(super) const HEADER: usize = 6;

/// Whether a collection of this version was written member by member.
pub(super) fn is_by_member(version: u16) -> bool {
    version & MEMBER_WISE != 0
}

/// Reads the header of a collection; whether it was written member by member.
fn collection<'a>(bytes: &mut &'a [u8]) -> Result<(bool, &'a [u8])> {
    let Frame { version, body } = frame(bytes)?;
    Ok((is_by_member(version), body))
}

/// Checks that objects are of the version that the layout was made for; classes without one have a
/// checksum after the version.
fn check(class: &Class, version: u16, body: &mut &[u8]) -> Result<()> {
    if i32::from(version) == class.version && version != 0 {
        return Ok(());
    }
    if version == 0 {
        let checksum = u32::from_be_bytes(take(body)?);
        if checksum == class.checksum || class.checksum == 0 {
            return Ok(());
        }
    }
    Err(unsupported(format!(
        "version {version} of class {}, because the file describes version {}",
        class.name, class.version
    )))
}

/// Checks like [`check`]; if objects are of another version, the first of their columns records which.
fn check_noting(
    columns: &mut [Column],
    class: &Class,
    version: u16,
    body: &mut &[u8],
) -> Result<()> {
    let behind = *body;
    check(class, version, body).inspect_err(|_| {
        let checksum = behind.first_chunk().map_or(0, |c| u32::from_be_bytes(*c));
        if let Some(first) = columns.first_mut() {
            *first = Column::Other(match version {
                0 => Version::Checksum(checksum),
                version => Version::Number(version.into()),
            });
        }
    })
}

/// Nothing may be left: else the class does not lie as it is described.
fn finished(class: &Class, body: &[u8]) -> Result<()> {
    if body.is_empty() {
        return Ok(());
    }
    Err(unsupported(format!(
        "objects of class {} that hold more than the file describes",
        class.name
    )))
}

/// Appends one object.
pub(super) fn object(columns: &mut [Column], of: &Object, bytes: &mut &[u8]) -> Result<()> {
    if of.form != Form::Framed {
        return parts(columns, of, Order::Objects, bytes);
    }
    let Frame { version, mut body } = frame(bytes)?;
    check_noting(columns, &of.class, version, &mut body)?;
    parts(columns, of, Order::Objects, &mut body)?;
    finished(&of.class, body)
}

/// Checks the version of the objects in collections that were written member by member.
fn items_version(column: &mut Column, item: &Layout, body: &mut &[u8]) -> Result<()> {
    let version = u16::from_be_bytes(take(body)?);
    match (column, item) {
        (Column::List { item: column, .. }, Layout::Object(of)) => match &mut **column {
            Column::Object { parts, .. } => check_noting(parts, &of.class, version, body),
            _ => Err(mismatch()),
        },
        // A class without versions has a checksum, which is skipped.
        (_, Layout::Absent { .. }) => skip(body, if version == 0 { 4 } else { 0 }),
        _ => Err(unsupported(
            "a value without members, stored member by member",
        )),
    }
}

/// Appends the bodies of collections that share a header: `collections` of them, or all until the bytes end.
pub(super) fn collections(
    column: &mut Column,
    layout: &Layout,
    count: Option<usize>,
    bytes: &mut &[u8],
) -> Result<()> {
    let (by_member, mut body) = collection(bytes)?;
    let members_of = match layout {
        Layout::Vector { item, .. } if by_member => Some(&**item),
        _ if by_member => return Err(mismatch()),
        _ => None,
    };
    if let Some(item) = members_of {
        items_version(column, item, &mut body)?;
    }
    let mut done = 0;
    while count.map_or(!body.is_empty(), |count| done < count) {
        match (&mut *column, members_of) {
            (Column::List { offsets, item }, Some(of)) => {
                member_wise(offsets, item, of, &mut body)?;
            }
            (column, _) => headless(column, layout, &mut body)?,
        }
        done = done.saturating_add(1);
    }
    if body.is_empty() {
        return Ok(());
    }
    Err(malformed(
        0,
        "a collection ends before its header says".to_owned(),
    ))
}

/// Appends the items of a collection that was written member by member, from its count on.
fn member_wise(
    offsets: &mut Vec<i32>,
    column: &mut Column,
    item: &Layout,
    body: &mut &[u8],
) -> Result<()> {
    let count = i32::from_be_bytes(take(body)?);
    let count = usize::try_from(count)
        .map_err(|_| malformed(0, format!("a collection announces {count} items")))?;
    by_members(offsets, column, item, count, body)
}

/// Appends `count` items that lie member by member.
pub(super) fn by_members(
    offsets: &mut Vec<i32>,
    column: &mut Column,
    item: &Layout,
    count: usize,
    body: &mut &[u8],
) -> Result<()> {
    let (rows, own, of) = match (column, item) {
        (Column::Object { rows, parts }, Layout::Object(of)) => (rows, parts, of),
        (_, Layout::Absent { .. }) if count == 0 => return push_offset(offsets, 0),
        (_, Layout::Absent { reason }) => return Err(unsupported(reason)),
        _ => return Err(mismatch()),
    };
    // Objects without members have no bytes here, and take no memory either.
    if count.saturating_mul(shared_least(of)?) > body.len() {
        return Err(malformed(
            0,
            format!(
                "a collection announces {count} items where {} bytes are left",
                body.len()
            ),
        ));
    }
    push_offset(offsets, count)?;
    *rows = rows.saturating_add(count);
    if count > 0 {
        parts(own, of, Order::Members(count), body)?;
    }
    Ok(())
}

/// The order in which the members of objects lie.
#[derive(Clone, Copy)]
pub(super) enum Order {
    /// The members of one object.
    Objects,
    /// The first member of all objects, then the second of all, and so on.
    Members(usize),
}

/// Appends each part of the objects.
pub(super) fn parts(
    columns: &mut [Column],
    of: &Object,
    order: Order,
    bytes: &mut &[u8],
) -> Result<()> {
    let count = match order {
        Order::Objects => 1,
        Order::Members(count) => count,
    };
    for (index, part) in of.parts.iter().enumerate() {
        let (before, rest) = columns.split_at_mut_checked(index).ok_or_else(mismatch)?;
        let column = rest.first_mut().ok_or_else(mismatch)?;
        match part {
            Part::Hidden(hidden) => (0..count).try_for_each(|_| pass(hidden, bytes))?,
            Part::Base(base) => {
                let Column::Object { rows, parts: own } = column else {
                    return Err(mismatch());
                };
                *rows = rows.saturating_add(count);
                match order {
                    Order::Objects => object(own, base, bytes)?,
                    // A base's members take part in the order, and it has no header.
                    Order::Members(_) if base.form == Form::Bare => {
                        let class = &base.class.name;
                        return Err(unsupported(format!(
                            "base class {class}, which streams itself, stored member by member"
                        )));
                    }
                    Order::Members(_) => parts(own, base, order, bytes)?,
                }
            }
            Part::Field(
                _,
                Layout::Sized {
                    item,
                    counter,
                    flag,
                },
            ) => {
                for nth in (1..=count).rev() {
                    let items = items_of(*counter, before, nth)?;
                    sized(column, item, *flag, items, bytes)?;
                }
            }
            Part::Field(_, layout) => match order {
                Order::Objects if of.form == Form::Pair => headless(column, layout, bytes)?,
                Order::Objects => value(column, layout, bytes)?,
                Order::Members(_) => members(column, layout, count, bytes)?,
            },
        }
    }
    Ok(())
}

/// Appends one member of several objects. Collections share one header.
fn members(column: &mut Column, layout: &Layout, count: usize, bytes: &mut &[u8]) -> Result<()> {
    if let Layout::Vector { header: 1.., .. } | Layout::String { header: 1.. } = layout {
        return collections(column, layout, Some(count), bytes);
    }
    if let Size::Fixed(_) = size_of(layout)? {
        return items(column, layout, count, bytes);
    }
    (0..count).try_for_each(|_| value(column, layout, bytes))
}

/// Appends an array whose length another member has said.
fn sized(
    column: &mut Column,
    item: &Layout,
    flag: bool,
    count: usize,
    bytes: &mut &[u8],
) -> Result<()> {
    let Column::List { offsets, item: to } = column else {
        return Err(mismatch());
    };
    let there = !flag || take::<1>(bytes)? != [0];
    let count = if there { count } else { 0 };
    push_offset(offsets, count)?;
    items(to, item, count, bytes)
}

/// How many items there are by what the parts before had `back` objects ago (1: the last).
fn items_of(counter: Counter, before: &[Column], back: usize) -> Result<usize> {
    let part = before.get(counter.part).ok_or_else(mismatch)?;
    let n = match (counter.inherited, part) {
        (None, numbers) => counted(numbers, back)?,
        (Some(inner), Column::Object { parts, .. }) => {
            counted(parts.get(inner).ok_or_else(mismatch)?, back)?
        }
        _ => return Err(mismatch()),
    };
    if !counter.triangle {
        return Ok(n);
    }
    // Rows that would take too much memory fail when their bytes are counted.
    Ok(n.saturating_mul(n.saturating_add(1)) / 2)
}

/// The value that a counting member had `back` objects ago (1: the last).
fn counted(column: &Column, back: usize) -> Result<usize> {
    let Column::Numbers(stored) = column else {
        return Err(mismatch());
    };
    let numbers = stored.numbers();
    let at = numbers.len().checked_sub(back).ok_or_else(mismatch)?;
    numbers
        .count_at(at)
        .ok_or_else(|| malformed(0, "a member that counts holds no count".to_owned()))
}

/// Skips bytes that no column needs.
pub(super) fn pass(hidden: &Hidden, bytes: &mut &[u8]) -> Result<()> {
    match hidden {
        Hidden::Bytes(n) => skip(bytes, usize::from(*n)),
        Hidden::Exactly(expected) => match bytes.strip_prefix(expected.as_slice()) {
            Some(rest) => {
                *bytes = rest;
                Ok(())
            }
            None => Err(unsupported("an object of another class than its branch's")),
        },
        Hidden::Clear(mask) => {
            let bits = u32::from_be_bytes(take(bytes)?);
            if bits & mask == 0 {
                return Ok(());
            }
            Err(unsupported("a reference with bits that are not known"))
        }
        Hidden::Pointer => pointer::pass(bytes),
        Hidden::Framed => pointer::pass_object(bytes),
        Hidden::RootVersion => root_version(bytes),
        Hidden::RootObject => {
            root_version(bytes)?;
            skip(bytes, 4)?;
            bits(bytes).map(|_| ())
        }
    }
}

/// TObject's version.
fn root_version(bytes: &mut &[u8]) -> Result<()> {
    let version = u16::from_be_bytes(take(bytes)?);
    // With a byte count: the two bytes left of its four, then the version.
    skip(bytes, if version & MEMBER_WISE != 0 { 4 } else { 0 })
}

/// TObject::fBits, moved past the process ID of a referenced object.
pub(super) fn bits(bytes: &mut &[u8]) -> Result<[u8; 4]> {
    let bits = take(bytes)?;
    if u32::from_be_bytes(bits) & IS_REFERENCED != 0 {
        skip(bytes, 2)?;
    }
    Ok(bits)
}
