//! ROOT's own collections, stored whole: TClonesArrays are lists of objects, one by one or member by member;
//! TObjArrays and TLists are lists of pointers.
//! Source: ROOT's `TClonesArray::Streamer`, `TStreamerInfo::WriteBufferClones`, `TObjArray::Streamer` and
//! `TList::Streamer`.

use super::bytes::Bytes;
use super::column::Column;
use super::lists::List;
use super::object::by_members;
use super::steps::Step;
use super::walk::{take, take_string, value};
use crate::faults::unsupported;
use crate::offsets::push_offset;
use treemill_format::clones::head;
use treemill_format::error::Result;
use treemill_format::layout::{Clones, Collection, Layout, Objects};
use treemill_format::objects;

/// Appends the array at the front of `bytes` as a list; a pointer to none is an empty one.
pub(super) fn clones(
    offsets: &mut Vec<i32>,
    item: &mut Column,
    of: &Clones,
    bytes: &mut &[u8],
) -> Result<()> {
    let Some(array) = head(&of.before, bytes)? else {
        return push_offset(offsets, 0);
    };
    if let Column::Nothing = item {
        *item = Column::Met(array.class.to_vec());
    }
    if array.count == 0 {
        // At most the headers of members that no item has.
        return push_offset(offsets, 0);
    }
    if let Layout::Absent { reason } = &of.item {
        return Err(unsupported(reason));
    }
    if array.class != of.class.as_slice() {
        return Err(unsupported(format!(
            "a TClonesArray of {}, where the branch's first one is of {}",
            array.class.escape_ascii(),
            of.class.escape_ascii()
        )));
    }
    let mut body = array.body;
    if array.by_member {
        by_members(offsets, item, &of.item, array.count, &mut body)?;
    } else {
        for _ in 0..array.count {
            if take::<1>(&mut body)? == [0] {
                return Err(unsupported("a TClonesArray with empty places"));
            }
            value(item, &of.item, &mut body)?;
        }
        push_offset(offsets, array.count)?;
    }
    if body.is_empty() {
        return Ok(());
    }
    Err(unsupported("a TClonesArray that holds more than its items"))
}

/// Appends the collection of pointers at the front of `bytes`; a pointer to none is an empty one.
pub(super) fn objects(
    offsets: &mut Vec<i32>,
    item: &mut Column,
    of: &Objects,
    bytes: &mut &[u8],
) -> Result<()> {
    let Some((count, mut body)) = objects::head(&of.before, of.class, bytes)? else {
        return push_offset(offsets, 0);
    };
    // Each takes bytes, so that a count beyond them breaks off.
    for _ in 0..count {
        value(item, &of.item, &mut body)?;
        if of.class == Collection::TList {
            take_string(&mut body)?;
        }
    }
    push_offset(offsets, count)?;
    if body.is_empty() {
        return Ok(());
    }
    Err(unsupported("a collection that holds more than its items"))
}

/// Arrays among the [`super::steps`].
pub(super) struct Arrays<'c> {
    pub(super) of: &'c Clones,
    /// The items, whose step is that of objects.
    pub(super) list: List<'c>,
}

impl Arrays<'_> {
    /// Goes past one array.
    pub(super) fn one(&mut self, data: Bytes<'_>, at: usize) -> Option<usize> {
        let mut rest = data.0.get(at..)?;
        let found = head(&self.of.before, &mut rest).ok()?;
        let end = data.0.len().checked_sub(rest.len())?;
        let Some(array) = found.filter(|array| array.count > 0) else {
            self.list.ends.push(0)?;
            return Some(end);
        };
        let Step::Object(items) = &mut *self.list.item else {
            return None;
        };
        if array.class != self.of.class.as_slice() {
            return None;
        }
        self.list.ends.push(array.count)?;
        // An array's items are the last that belongs to it.
        let start = end.checked_sub(array.body.len())?;
        let stop = match array.by_member {
            true => items.by_member(data, start, array.count)?,
            false => (0..array.count).try_fold(start, |at, _| {
                let ([there], at) = data.take(at)?;
                (there != 0).then(|| items.one(data, at))?
            })?,
        };
        (stop == end).then_some(end)
    }
}
