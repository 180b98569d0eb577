//! Decodes whole baskets of values whose size is known only by reading them: the steps of the layout
//! ([`super::compile`]) visit all entries, which are then appended together, or not at all. Layouts without
//! steps, and bytes that are not as expected, are left to [`super::walk`], which also has the words for errors.

use super::Entries;
use super::bytes::Bytes;
use super::column::Column;
use super::compile::compile;
use super::jagged::push_offsets;
use super::size::leaves;
use super::steps::Step;
use super::stride::Stride;
use crate::limits::LEAF_ROOM;
use treemill_format::error::Result;
use treemill_format::layout::{Form, Layout};

/// Bytes of a header of collections.
const HEADER: u8 = 6;

/// Appends all entries and says that it did, if they are of a kind that can be.
///
/// # Errors
/// Only mistakes of this crate. Wrong entries are not an error here.
pub(super) fn append(column: &mut Column, layout: &Layout, entries: Entries<'_>) -> Result<bool> {
    if gapless(column, layout, entries)? {
        return Ok(true);
    }
    let each = entries.bytes().len().checked_div(leaves(layout));
    let room = each.unwrap_or(0).saturating_mul(2).min(LEAF_ROOM);
    match (column, layout) {
        (Column::List { offsets, item: to }, Layout::Counted { item, header }) => {
            if is_shared(item) || ![0, HEADER].contains(header) {
                return Ok(false);
            }
            let Some(mut step) = compile(to, item, *header > 0, room) else {
                return Ok(false);
            };
            let (mut ends, base) = (Vec::new(), offsets.last().copied().unwrap_or(0));
            let rests = rests(&mut step, entries, *header > 0, base, &mut ends);
            if rests.is_none() || !step.is_sound() {
                return Ok(false);
            }
            offsets.extend(ends);
            step.append().map(|()| true)
        }
        (column, layout) => {
            let Some(mut step) = compile(column, layout, false, room) else {
                return Ok(false);
            };
            if values(&mut step, entries).is_none() || !step.is_sound() {
                return Ok(false);
            }
            step.append().map(|()| true)
        }
    }
}

/// Objects without headers, whose number is not stored, are read elsewhere.
fn is_shared(item: &Layout) -> bool {
    matches!(item, Layout::Object(of) if of.form == Form::Shared)
}

/// Appends objects of a fixed size that fill their entries, if these are.
fn gapless(column: &mut Column, layout: &Layout, entries: Entries<'_>) -> Result<bool> {
    let (own, column, of) = match (column, layout) {
        (Column::List { offsets, item: to }, Layout::Counted { item, header: 0 }) => {
            match &**item {
                Layout::Object(of) => (Some(offsets), &mut **to, of),
                _ => return Ok(false),
            }
        }
        (column, Layout::Object(of)) => (None, column, of),
        _ => return Ok(false),
    };
    let Some(stride) = Stride::gapless(of, entries, own.is_none()) else {
        return Ok(false);
    };
    if let Some(offsets) = own {
        push_offsets(offsets, entries.starts, stride.size())?;
    }
    stride.append(column, of, entries.bytes()).map(|()| true)
}

/// Goes past entries that are one value each.
fn values(step: &mut Step<'_>, entries: Entries<'_>) -> Option<()> {
    let data = Bytes(entries.data);
    let mut spans = entries.spans();
    match step {
        Step::List(list) => spans.try_for_each(|(start, stop)| {
            let end = list.one(data, start)?;
            (end == stop).then_some(())
        }),
        // Old TLeafC: an entry of no bytes at all is the empty string.
        Step::Text(text) => spans.try_for_each(|(start, stop)| match start == stop {
            true => text.end(),
            false => (text.one(data, start)? == stop).then_some(()),
        }),
        step => spans.try_for_each(|(start, stop)| {
            let end = step.one(data, start)?;
            (end == stop).then_some(())
        }),
    }
}

/// Passes entries that are items up to their end, after one header for all if `header` is not 0; `ends`
/// receives the lists' ends.
fn rests(
    step: &mut Step<'_>,
    entries: Entries<'_>,
    has_header: bool,
    base: i32,
    ends: &mut Vec<i32>,
) -> Option<()> {
    ends.reserve(entries.count);
    let data = Bytes(entries.data);
    let mut items = base;
    for (mut at, stop) in entries.spans() {
        if has_header && at < stop {
            let (body, end) = data.collection(at)?;
            at = (end == stop).then_some(body)?;
        }
        let more = step.until(data, at, stop)?;
        items = items.checked_add(i32::try_from(more).ok()?)?;
        ends.push(items);
    }
    Some(())
}
