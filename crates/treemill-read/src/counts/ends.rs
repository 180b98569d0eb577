//! List ends, from starts in bytes, from counts, and for single entries. Pure.

use crate::decode::{Selected, consecutive};
use crate::memory::RESULTS;
use arrow_buffer::{OffsetBuffer, ScalarBuffer};
use std::ops::Range;

/// The list ends of consecutive entries, ascending: one number more than entries, the first being what comes
/// before them.
#[derive(Debug, Clone)]
pub(crate) struct Ends {
    pub(super) ends: ScalarBuffer<i32>,
    /// The branch that they come from, if it was only one.
    pub(super) by: Option<usize>,
}

impl Ends {
    /// Whether they come from another branch than `branch`.
    pub(crate) fn are_of_others(&self, branch: usize) -> bool {
        self.by != Some(branch)
    }

    /// Items before entry `n` of these.
    pub(crate) fn before(&self, n: usize) -> Option<usize> {
        let (first, at) = (self.ends.first()?, self.ends.get(n)?);
        usize::try_from(at.checked_sub(*first)?).ok()
    }

    /// Items of all entries.
    pub(crate) fn items(&self) -> Option<usize> {
        self.before(self.ends.len().checked_sub(1)?)
    }

    /// Whether entries with these starts have as many items of `size` bytes each.
    pub(crate) fn are(&self, starts: &[u32], size: usize) -> bool {
        let (Some(&first), Some(&begin)) = (self.ends.first(), starts.first()) else {
            return false;
        };
        let Ok(size) = u32::try_from(size) else {
            return false;
        };
        // Neither wraps if they agree: starts lie within a basket, whose bytes the items fill.
        let wrong = |(end, start): (&i32, &u32)| {
            let bytes = end.wrapping_sub(first).cast_unsigned().wrapping_mul(size);
            bytes != start.wrapping_sub(begin)
        };
        let pairs = self.ends.iter().zip(starts);
        self.ends.len() == starts.len()
            && !pairs.fold(false, |bad, pair| bad | wrong(pair))
            && self
                .items()
                .and_then(|items| items.checked_mul(size as usize))
                == starts.last().map(|&last| last.wrapping_sub(begin) as usize)
    }
}

/// Ends of items of `size` bytes from their entries' starts; `None` if one is not whole.
pub(crate) fn ends_of_starts(starts: &[u32], size: usize) -> Option<Vec<i32>> {
    let size = u32::try_from(size).ok().filter(|&size| size > 0)?;
    let first = *starts.first()?;
    // The largest is the last.
    i32::try_from(starts.last()?.checked_sub(first)?.checked_div(size)?).ok()?;
    let place = |start: &u32| start.wrapping_sub(first);
    if size.is_power_of_two() {
        let (shift, mask) = (size.trailing_zeros(), size.wrapping_sub(1));
        let rest = starts
            .iter()
            .fold(0, |rest, start| rest | (place(start) & mask));
        let ends = starts.iter();
        return (rest == 0).then(|| {
            let mut made = RESULTS.vec(starts.len());
            made.extend(ends.map(|start| place(start).wrapping_shr(shift).cast_signed()));
            made
        });
    }
    let whole = |start: &u32| {
        place(start)
            .is_multiple_of(size)
            .then(|| place(start).checked_div(size))
    };
    starts
        .iter()
        .map(|start| whole(start)?.map(u32::cast_signed))
        .collect()
}

/// Ends of items from their counts; `None` if there are too many.
pub(crate) fn ends_of_counts(counts: &[u32]) -> Option<Vec<i32>> {
    let mut ends = RESULTS.vec(counts.len().saturating_add(1));
    ends.push(0);
    let mut end = 0_u64;
    for &count in counts {
        end = end.saturating_add(u64::from(count));
        ends.push((end & u64::from(u32::MAX)) as i32);
    }
    i32::try_from(end).ok()?;
    Some(ends)
}

/// The items of a selection of a basket's entries: which of the basket's items they are, and their offsets.
#[derive(Debug)]
pub(crate) struct SelectedItems {
    pub(super) held: Range<u64>,
    pub(super) first: u64,
    pub(super) rows: Vec<u32>,
    pub(crate) items: Selected,
    pub(crate) offsets: OffsetBuffer<i32>,
}

pub(super) fn select(
    held: &Range<u64>,
    ends: &Ends,
    first: u64,
    rows: &[u32],
) -> Option<SelectedItems> {
    let base = *ends.ends.first()?;
    let place = |row: u32| {
        let entry = first.checked_add(u64::from(row))?;
        usize::try_from(entry.checked_sub(held.start)?).ok()
    };
    // Without rows there is no selection.
    rows.first()?;
    let mut offsets = Vec::with_capacity(rows.len().saturating_add(1));
    let items = if let Some(run) = consecutive(rows) {
        let (start, stop) = (place(run.start)?, place(run.end)?);
        let part = ends.ends.get(start..=stop)?;
        let before = *part.first()?;
        offsets.extend(part.iter().map(|end| end.wrapping_sub(before)));
        Selected::Run(ends.before(start)?..ends.before(stop)?)
    } else {
        offsets.push(0);
        let mut starts = Vec::with_capacity(rows.len());
        let mut total = 0_i32;
        for &row in rows {
            let [start, end, ..] = *ends.ends.get(place(row)?..)? else {
                return None;
            };
            starts.push(start.wrapping_sub(base).cast_unsigned());
            total = total.checked_add(end.checked_sub(start)?)?;
            offsets.push(total);
        }
        let items = numbers(&starts, &offsets, ends.items()?)?;
        Selected::Each(items)
    };
    Some(SelectedItems {
        held: held.clone(),
        first,
        rows: rows.to_vec(),
        items,
        offsets: treemill_native::offsets::ascending(offsets.into())?,
    })
}

/// Numbers that are written at a time.
const WIDTH: usize = 4;

/// The numbers of all items of some lists, which begin at `starts` and end, one after another, at
/// `offsets`; `None` if these are more than `most`.
fn numbers(starts: &[u32], offsets: &[i32], most: usize) -> Option<Vec<u32>> {
    let total = usize::try_from(*offsets.last()?).ok()?;
    if total > most {
        return None;
    }
    // Copies a fixed number of ends at a time, at least once; the next list overwrites what is too much. So for
    // short lists no branch depends on their lengths, which the processor could not predict.
    let mut items = vec![0; total.checked_add(WIDTH)?];
    for (&start, ends) in starts.iter().zip(offsets.windows(2)) {
        let &[at, end] = ends else { continue };
        let (mut at, mut number) = (at as usize, start);
        loop {
            let to = items.get_mut(at..).and_then(<[u32]>::first_chunk_mut);
            let to: &mut [u32; WIDTH] = to?;
            for (to, more) in to.iter_mut().zip(0..) {
                *to = number.wrapping_add(more);
            }
            (at, number) = (at.wrapping_add(WIDTH), number.wrapping_add(WIDTH as u32));
            if at >= end as usize {
                break;
            }
        }
    }
    items.truncate(total);
    Some(items)
}

#[cfg(test)]
#[allow(
    clippy::unwrap_used,
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing
)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn starts(counts: &[u32], size: u32) -> Vec<u32> {
        let mut at = 0;
        let ends = counts.iter().map(|n| {
            at += n * size;
            at
        });
        std::iter::once(0).chain(ends).collect()
    }

    proptest! {
        #[test]
        fn starts_and_counts_say_the_same(
            counts in proptest::collection::vec(0_u32..11, 1..40), size in 1_usize..13,
            step in 1_usize..4,
        ) {
            let starts = starts(&counts, u32::try_from(size).unwrap());
            let ends = ends_of_counts(&counts).unwrap();
            prop_assert_eq!(&ends_of_starts(&starts, size).unwrap(), &ends);
            let ends = Ends { ends: ends.into(), by: None };
            prop_assert!(ends.are(&starts, size));
            prop_assert!(!ends.are(starts.split_last().unwrap().1, size));
            prop_assert_eq!(ends.items().unwrap() as u32, counts.iter().sum::<u32>());
            for at in 1..starts.len() {
                let mut other = starts.clone();
                other[at] ^= 1;
                prop_assert!(!ends.are(&other, size));
            }
            let rows: Vec<u32> = (0..counts.len() as u32).step_by(step).collect();
            let selected = select(&(7..7 + counts.len() as u64), &ends, 7, &rows).unwrap();
            let expected: Vec<u32> = rows.iter().flat_map(|&row| {
                let first: u32 = counts[..row as usize].iter().sum();
                first..first + counts[row as usize]
            }).collect();
            let items = match &selected.items {
                Selected::Each(items) => items.clone(),
                Selected::Run(items) => items.clone().map(|n| n as u32).collect(),
            };
            prop_assert_eq!(&items, &expected);
            prop_assert_eq!(selected.offsets.len(), rows.len() + 1);
        }
    }

    #[test]
    fn what_is_not_whole_or_too_much_is_refused() {
        assert_eq!(ends_of_starts(&[0, 4, 6], 4), None);
        assert_eq!(ends_of_starts(&[0, 3, 7], 3), None);
        assert_eq!(ends_of_starts(&[], 4), None);
        assert_eq!(ends_of_starts(&[0, u32::MAX], 1), None);
        assert_eq!(ends_of_counts(&[1 << 30, 1 << 30]), None);
        let ends = Ends {
            ends: vec![0, 1 << 30].into(),
            by: None,
        };
        assert!(!ends.are(&[0, 0], 4), "2^32 bytes are not none");
        let ends = Ends {
            ends: vec![0, 2].into(),
            by: None,
        };
        let selected = |rows: &[u32]| select(&(10..11), &ends, 10, rows);
        assert!(selected(&[0]).is_some() && selected(&[1]).is_none());
        assert_eq!(numbers(&[3, 9], &[0, 2, 7], 6), None, "more than there are");
    }
}
