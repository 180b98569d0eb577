//! Checks that a basket is what the tree's metadata says, and finds where its entries lie. Pure.

use crate::decode::{Entries, Result, Size, size_of};
use crate::faults::malformed;
use std::ops::Range;
use treemill_format::basket::{BasketHeader, ascending};
use treemill_format::layout::Layout;
use treemill_format::tree::BasketRef;

/// The record's bytes after the key, if the header agrees with the tree's metadata.
pub(crate) fn agreed<'a>(
    header: &BasketHeader,
    record: &'a [u8],
    basket: &BasketRef,
) -> Result<&'a [u8]> {
    let expected = basket.entries.end.saturating_sub(basket.entries.start);
    if header.entries as u64 != expected {
        return Err(malformed(
            0,
            format!(
                "the basket has {} entries, and the tree announces {expected}",
                header.entries
            ),
        ));
    }
    match record.get(header.key_len..header.record_len) {
        Some(packed) => Ok(packed),
        None => Err(malformed(
            0,
            format!(
                "the basket has {} bytes, and the tree announces {}",
                header.record_len,
                record.len()
            ),
        )),
    }
}

/// Whether the layout has a fixed size, in which case the data must be as long as its entries.
pub(crate) fn check_fixed(layout: &Layout, data_len: usize, entries: usize) -> Result<bool> {
    match size_of(layout)? {
        Size::AtLeast(_) => Ok(false),
        Size::Fixed(size) if size.checked_mul(entries) == Some(data_len) => Ok(true),
        Size::Fixed(size) => Err(malformed(
            0,
            format!(
                "the basket announces {entries} entries of {size} bytes and has {data_len} bytes"
            ),
        )),
    }
}

/// Whether these can be where a basket's entries start in `data`, and where the last of them ends.
pub(crate) fn are_starts(starts: &[u32], data: &[u8]) -> bool {
    let within = starts.last().is_some_and(|&end| end as usize <= data.len());
    within && ascending(starts)
}

/// Entries `wanted` of a basket that holds the entries `held`, which include them.
pub(crate) fn run<'a>(
    layout: &Layout,
    data: &'a [u8],
    starts: &'a [u32],
    held: &Range<u64>,
    wanted: Range<u64>,
) -> Entries<'a> {
    let place =
        |entry: u64| usize::try_from(entry.saturating_sub(held.start)).unwrap_or(usize::MAX);
    let (first, end) = (place(wanted.start), place(wanted.end));
    let count = end.saturating_sub(first);
    match size_of(layout) {
        Ok(Size::Fixed(size)) => Entries {
            data: data.get(first.saturating_mul(size)..).unwrap_or_default(),
            starts: &[],
            count,
        },
        _ => Entries {
            data,
            starts: starts.get(first..end.saturating_add(1)).unwrap_or_default(),
            count,
        },
    }
}
