//! Lists whose items have a fixed size: counted leaves and vectors of numbers.
//!
//! Counted items lie without gaps, so a whole run is swapped at once and the list offsets follow
//! from the entry offsets by one subtraction and shift each. A vector has its header and count
//! between the items, which are squeezed out entry by entry.

use super::Entries;
use super::bytes::Heap;
use super::column::{Column, fixed_size};
use crate::faults::{malformed, mismatch, too_many, unsupported};
use treemill_format::error::Result;
use treemill_format::layout::Layout;

/// Appends entries that are `header` bytes and then items to their end.
pub(super) fn append_counted(
    column: &mut Column,
    item: &Layout,
    header: u8,
    entries: Entries<'_>,
) -> Result<()> {
    let size = fixed_size(item)?;
    let Column::List {
        offsets,
        item: items,
    } = column
    else {
        return Err(mismatch());
    };
    if header > 0 {
        return squeeze(offsets, items, item, usize::from(header), entries, None);
    }
    let (Some(&first), Some(&last)) = (entries.starts.first(), entries.starts.last()) else {
        return Ok(());
    };
    let bytes = entries
        .data
        .get(first as usize..last as usize)
        .unwrap_or_default();
    push_offsets(offsets, entries.starts, size)?;
    items.append_packed(item, bytes, bytes.len().checked_div(size).unwrap_or(0))
}

/// List offsets of gapless items of `size` bytes from the entries' starts.
pub(super) fn push_offsets(offsets: &mut Vec<i32>, starts: &[u32], size: usize) -> Result<()> {
    let (Some((&first, later)), Ok(size)) = (starts.split_first(), u32::try_from(size)) else {
        return Err(too_many());
    };
    let base = offsets.last().copied().unwrap_or(0);
    // The last offset is the largest: if it fits, all do.
    let total = later.last().map_or(0, |&end| end.wrapping_sub(first));
    let items = total.checked_div(size).unwrap_or(0);
    if i32::try_from(items)
        .ok()
        .and_then(|n| base.checked_add(n))
        .is_none()
    {
        return Err(too_many());
    }
    let whole = if size.is_power_of_two() {
        let shift = size.trailing_zeros();
        let mask = size.wrapping_sub(1);
        offsets.extend(later.iter().map(|end| {
            base.wrapping_add(end.wrapping_sub(first).wrapping_shr(shift).cast_signed())
        }));
        later
            .iter()
            .fold(0, |rest, end| rest | (end.wrapping_sub(first) & mask))
            == 0
    } else {
        let count = |end: &u32| end.wrapping_sub(first).checked_div(size).unwrap_or(0);
        offsets.extend(
            later
                .iter()
                .map(|end| base.wrapping_add(count(end).cast_signed())),
        );
        later
            .iter()
            .all(|end| end.wrapping_sub(first).is_multiple_of(size))
    };
    if whole {
        return Ok(());
    }
    Err(malformed(
        first as usize,
        format!("an entry is not a whole number of items of {size} bytes"),
    ))
}

/// Appends vectors: `header` bytes, a count, the items.
pub(super) fn append_vectors(
    column: &mut Column,
    item: &Layout,
    header: u8,
    entries: Entries<'_>,
) -> Result<()> {
    let Column::List {
        offsets,
        item: items,
    } = column
    else {
        return Err(mismatch());
    };
    let before = usize::from(header);
    let skip = before.saturating_add(4);
    squeeze(offsets, items, item, skip, entries, Some(before))
}

/// Appends entries that are `skip` bytes and then items to their end. Where `count_at` is given,
/// the i32 at that place of each entry must be the number of its items.
fn squeeze(
    offsets: &mut Vec<i32>,
    items: &mut Column,
    item: &Layout,
    skip: usize,
    entries: Entries<'_>,
    count_at: Option<usize>,
) -> Result<()> {
    let size = fixed_size(item)?;
    offsets.reserve(entries.count);
    let (before, mut total) = (offsets.last().copied().unwrap_or(0), 0_usize);
    let mut gathered = Heap::with_room(entries.bytes().len());
    for (index, (start, end)) in entries.spans().enumerate() {
        // Those after the entry may be copied along.
        let behind = entries.data.get(start..).unwrap_or_default();
        let len = end.wrapping_sub(start);
        let bytes = len.wrapping_sub(skip);
        let count = match count_at {
            // Without a division: this is done for every entry.
            Some(at) => behind
                .get(at..)
                .and_then(|from| from.first_chunk::<4>())
                .and_then(|&b| usize::try_from(i32::from_be_bytes(b)).ok())
                .filter(|count| len >= skip && count.checked_mul(size) == Some(bytes)),
            None => bytes
                .checked_div(size)
                .filter(|_| len >= skip && bytes.is_multiple_of(size)),
        };
        let found = count.zip(behind.get(skip..)).and_then(|(count, from)| {
            gathered.push(from, bytes)?;
            Some(count)
        });
        let Some(count) = found else {
            return Err(wrong_entry(&entries, index, skip, size));
        };
        // No more than there are bytes in a basket, whose number has 32 bits: looked at when all are known.
        total = total.saturating_add(count);
        offsets.push(before.wrapping_add_unsigned(total as u32));
    }
    let fits = i32::try_from(total).is_ok_and(|total| before.checked_add(total).is_some());
    if !fits {
        return Err(too_many());
    }
    items.append_packed(item, gathered.as_slice(), total)
}

fn wrong_entry(
    entries: &Entries<'_>,
    index: usize,
    skip: usize,
    size: usize,
) -> treemill_format::error::FormatError {
    let at = entries.starts.get(index).copied().unwrap_or(0);
    let len = entries.iter().nth(index).map_or(0, <[u8]>::len);
    if len == 0 {
        // Nothing was written: by a program that did not know how to.
        return unsupported("collections of which no bytes were written");
    }
    malformed(
        at as usize,
        format!(
            "an entry of {len} bytes does not hold {skip} bytes and then its items of {size} bytes"
        ),
    )
}
