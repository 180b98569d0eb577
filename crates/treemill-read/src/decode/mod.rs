//! Decodes entries' uncompressed bytes to Arrow arrays, as a [`Layout`] says. Pure: knows nothing of files,
//! baskets' headers, compression or I/O.
//!
//! A [`Column`] grows by [`append`]ing runs of entries, basket after basket, so that a batch which spans
//! baskets is decoded straight into one array. Items of a fixed size take bulk paths ([`jagged`], [`number`]),
//! and so do objects that all have the same size ([`stride`]). Other values are passed by the steps of their
//! layout ([`compile`], [`steps`]), a whole basket at a time ([`bulk`]). Layouts without steps, and wrong
//! values, are walked value by value ([`walk`]), which is the reference.

mod bulk;
mod bytes;
mod clones;
mod column;
mod compile;
mod jagged;
mod known;
mod lists;
mod look;
mod number;
mod object;
mod packer;
mod pointer;
mod selected;
mod shared;
mod size;
pub mod starts;
mod steps;
mod stride;
mod text;
mod types;
mod walk;

pub use crate::memory::{Spares, wide_offsets};
pub use crate::offsets::join_offsets;
pub use column::Column;
pub use known::{Items, Selected};
pub use look::look;
pub use selected::{Gathered, append_selected, consecutive};
pub use size::{Size, leaves, size_of};
pub use types::{STRING_KEY, arrow_type, field};

use crate::faults::malformed;
pub use treemill_format::error::Result;
use treemill_format::layout::Layout;

/// Entries that lie one after another.
#[derive(Debug, Clone, Copy)]
pub struct Entries<'a> {
    /// Bytes that hold the entries; bytes before the first and after the last are ignored.
    pub data: &'a [u8],
    /// Start of each entry in `data`, and the end of the last: one value more than entries,
    /// ascending, within `data`. Ignored for layouts of a fixed size, which start at 0.
    pub starts: &'a [u32],
    /// How many entries.
    pub count: usize,
}

impl<'a> Entries<'a> {
    /// All entries' bytes, from the first start to the last.
    fn bytes(self) -> &'a [u8] {
        match (self.starts.first(), self.starts.last()) {
            (Some(&first), Some(&last)) => self.data.get(first as usize..last as usize),
            _ => None,
        }
        .unwrap_or_default()
    }

    /// Where each entry starts and ends in `data`.
    #[inline]
    fn spans(self) -> impl Iterator<Item = (usize, usize)> {
        let stops = self.starts.get(1..).unwrap_or_default();
        let pairs = self.starts.iter().zip(stops);
        pairs.map(|(&start, &stop)| (start as usize, stop as usize))
    }

    /// Each entry's bytes.
    fn iter(self) -> impl Iterator<Item = &'a [u8]> + Clone {
        let ends = self.starts.iter().skip(1);
        self.starts.iter().zip(ends).map(move |(&start, &end)| {
            // `starts` lie within `data`: the caller has seen to it.
            self.data
                .get(start as usize..end as usize)
                .unwrap_or_default()
        })
    }
}

/// Appends entries to a column that was made for the same layout. Returns nothing: after an error
/// the column is of no use.
///
/// # Errors
/// `Malformed` if the bytes do not fit the layout; offsets are relative to `entries.data`.
pub fn append(column: &mut Column, layout: &Layout, entries: Entries<'_>) -> Result<()> {
    if let Size::Fixed(size) = size_of(layout)? {
        let bytes = size
            .checked_mul(entries.count)
            .and_then(|n| entries.data.get(..n))
            .ok_or_else(|| {
                malformed(
                    0,
                    format!(
                        "{} entries of {size} bytes do not fit {} bytes",
                        entries.count,
                        entries.data.len()
                    ),
                )
            })?;
        return column.append_packed(layout, bytes, entries.count);
    }
    if entries.starts.len() != entries.count.saturating_add(1) {
        return Err(malformed(
            0,
            format!(
                "the basket has {} offsets for {} entries",
                entries.starts.len(),
                entries.count
            ),
        ));
    }
    match layout {
        Layout::Counted { item, header } if matches!(size_of(item)?, Size::Fixed(_)) => {
            return jagged::append_counted(column, item, *header, entries);
        }
        Layout::Vector { item, header } if matches!(size_of(item)?, Size::Fixed(_)) => {
            return jagged::append_vectors(column, item, *header, entries);
        }
        _ => {}
    }
    if bulk::append(column, layout, entries)? {
        return Ok(());
    }
    walk::append(column, layout, entries)
}

#[cfg(test)]
mod bulk_tests;
#[cfg(test)]
mod by_hand;
#[cfg(test)]
mod clones_tests;
#[cfg(test)]
mod object_tests;
#[cfg(test)]
mod pointer_tests;
#[cfg(test)]
mod tests;
