//! Checks that a tree has the entries that it claims: work is cut by their number, so a damaged number would
//! make packets without end. Pure; looks at metadata only.

use crate::error::{Result, malformed};
use crate::limits::BASKET_ENTRIES;
use crate::tree::Branch;
use std::ops::Range;

/// Checks that some branch's baskets hold all entries. A tree without any basket may claim any number: its
/// friends may have them, or branches in other files. Branches may have fewer entries than their tree.
///
/// # Errors
/// `Malformed` if a tree has baskets, and fewer entries in those of any branch than it claims.
pub(crate) fn check(entries: u64, branches: &[Branch]) -> Result<()> {
    let held = branches.iter().filter_map(end).max();
    match held {
        Some(held) if held < entries => Err(malformed(
            format!("the tree announces {entries} entries, and its baskets hold {held}"),
            0,
        )),
        _ => Ok(()),
    }
}

/// The entry after the last one of a branch's baskets, if it has any.
fn end(branch: &Branch) -> Option<u64> {
    let stored = branch.baskets.last().map(|basket| basket.entries.end);
    let embedded = branch.embedded.last().map(|basket| basket.entries.end);
    embedded.or(stored)
}

/// The entries of a basket as the branch's tables have them.
///
/// # Errors
/// `Malformed` if no basket can have as many.
pub(crate) fn of_basket(first: u64, last: u64, at: usize) -> Result<Range<u64>> {
    match last.checked_sub(first) {
        Some(..=BASKET_ENTRIES) => Ok(first..last),
        _ => Err(malformed(
            format!("a basket claims entries {first} to {last}, which no basket can hold"),
            at,
        )),
    }
}
