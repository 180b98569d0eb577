//! The read plan: which baskets, which byte ranges, and where batches end. Pure: no I/O, no state.

use crate::limits::BATCH_BYTES;
pub use crate::limits::{BATCH_ENTRIES, LEAST_ENTRIES};
use std::ops::Range;
use treemill_format::tree::Branch;

/// How to read. The defaults suit a query over a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// The most entries of a batch: what a batch's columns take should fit the processor's cache.
    pub batch_entries: u64,
    /// The fewest entries of a batch, except at the end of a range: smaller baskets are joined.
    pub least_entries: u64,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            batch_entries: BATCH_ENTRIES,
            least_entries: LEAST_ENTRIES,
        }
    }
}

/// The entries of basket `index` of a branch; baskets in the tree's own record come last.
#[must_use]
pub fn basket_entries(branch: &Branch, index: usize) -> Option<Range<u64>> {
    match branch.baskets.get(index) {
        Some(basket) => Some(basket.entries.clone()),
        None => embedded_index(branch, index)
            .and_then(|i| branch.embedded.get(i))
            .map(|basket| basket.entries.clone()),
    }
}

/// The place of basket `index` among the branch's embedded baskets.
#[must_use]
pub fn embedded_index(branch: &Branch, index: usize) -> Option<usize> {
    index.checked_sub(branch.baskets.len())
}

/// The basket that holds `entry`, if one does.
#[must_use]
pub fn basket_of(branch: &Branch, entry: u64) -> Option<usize> {
    let index = branch.baskets.partition_point(|b| b.entries.end <= entry);
    let index = if index < branch.baskets.len() {
        index
    } else {
        let embedded = branch.embedded.partition_point(|b| b.entries.end <= entry);
        index.saturating_add(embedded)
    };
    basket_entries(branch, index)
        .is_some_and(|entries| entries.contains(&entry))
        .then_some(index)
}

/// Bytes of the baskets that hold entries of `range`, as the file has them.
#[must_use]
pub fn stored_bytes(branch: &Branch, range: &Range<u64>) -> u64 {
    let baskets = holding(&branch.baskets, range, |basket| &basket.entries);
    let embedded = holding(&branch.embedded, range, |basket| &basket.entries);
    baskets
        .map(|b| b.bytes.end.saturating_sub(b.bytes.start))
        .chain(embedded.map(|b| b.data.len() as u64))
        .fold(0, u64::saturating_add)
}

/// The baskets that hold entries of `range`, among baskets in entry order. Visits no others, because each batch
/// asks.
fn holding<'b, B>(
    baskets: &'b [B],
    range: &'b Range<u64>,
    entries: impl Fn(&B) -> &Range<u64>,
) -> impl Iterator<Item = &'b B> {
    let first = baskets.partition_point(|basket| entries(basket).end <= range.start);
    let behind = baskets.get(first..).unwrap_or_default().iter();
    behind.take_while(move |basket| entries(basket).start < range.end)
}

/// The share of `bytes`, which the baskets with entries of `range` have, that belongs to the entries
/// themselves, if all are alike.
#[must_use]
pub fn share_of(branch: &Branch, range: &Range<u64>, bytes: u64) -> u64 {
    let place = |entry: u64| basket_entries(branch, basket_of(branch, entry)?);
    let last = range.end.saturating_sub(1);
    let (Some(first), Some(last)) = (place(range.start), place(last)) else {
        return bytes;
    };
    let (wanted, held) = (
        range.end.saturating_sub(range.start),
        last.end.saturating_sub(first.start),
    );
    let share = u128::from(bytes).saturating_mul(u128::from(wanted));
    let share = share.checked_div(u128::from(held)).unwrap_or(0);
    u64::try_from(share).unwrap_or(bytes)
}

/// Good places for batches to end: the first entries of the branches' baskets within `range`, ascending and
/// distinct.
#[must_use]
pub fn boundaries<'a>(branches: impl Iterator<Item = &'a Branch>, range: &Range<u64>) -> Vec<u64> {
    let mut boundaries: Vec<u64> = branches
        .flat_map(|branch| {
            let first = branch
                .baskets
                .partition_point(|b| b.entries.start <= range.start);
            let later = branch.baskets.get(first..).unwrap_or_default();
            later
                .iter()
                .map(|b| b.entries.start)
                .take_while(|start| *start < range.end)
        })
        .collect();
    boundaries.sort_unstable();
    boundaries.dedup();
    boundaries
}

/// The end of the batch that begins at `start`: the last boundary within reach, at least `least_entries` on. If
/// there is none, the way to the next boundary is cut evenly.
#[must_use]
pub fn batch_end(start: u64, stop: u64, boundaries: &[u64], options: &Options) -> u64 {
    let most = options.batch_entries.max(1);
    let reach = start.saturating_add(most);
    if stop <= reach {
        return stop;
    }
    let beyond = boundaries.partition_point(|boundary| *boundary <= reach);
    let least = start.saturating_add(options.least_entries.clamp(1, most));
    if let Some(boundary) = beyond.checked_sub(1).and_then(|last| boundaries.get(last))
        && *boundary >= least
    {
        return *boundary;
    }
    let next = boundaries.get(beyond).copied().unwrap_or(stop).min(stop);
    let way = next.saturating_sub(start);
    let pieces = way.div_ceil(most).max(1);
    start.saturating_add(way.div_ceil(pieces))
}

/// The most entries of a batch that take about [`BATCH_BYTES`] together, at least one, if `entries` take `bytes` and all are
/// alike.
#[must_use]
pub fn fitting_entries(entries: u64, bytes: u64) -> u64 {
    let fitting = u128::from(BATCH_BYTES).saturating_mul(u128::from(entries));
    let fitting = fitting.checked_div(u128::from(bytes)).unwrap_or(u128::MAX);
    u64::try_from(fitting).unwrap_or(u64::MAX).max(1)
}

/// Byte ranges that cover all of `ranges`, in file order. Ranges less than `gap` apart are joined, up to `most` bytes, the
/// nearest ones first, as long as all gaps between them have `over` bytes at most.
#[must_use]
pub fn coalesce(mut ranges: Vec<Range<u64>>, gap: u64, most: u64, over: u64) -> Vec<Range<u64>> {
    ranges.sort_unstable_by_key(|range| range.start);
    let gap = affordable(&ranges, gap, over);
    let mut joined: Vec<Range<u64>> = Vec::with_capacity(ranges.len());
    for range in ranges {
        match joined.last_mut() {
            Some(last)
                if range.start <= last.end.saturating_add(gap)
                    && (range.end <= last.end || range.end.saturating_sub(last.start) <= most) =>
            {
                last.end = last.end.max(range.end);
            }
            _ => joined.push(range),
        }
    }
    joined
}

/// The widest gap, `gap` at most, for which all gaps up to it between sorted ranges have `over` bytes at most.
fn affordable(ranges: &[Range<u64>], gap: u64, over: u64) -> u64 {
    let mut gaps = Vec::new();
    let mut end = ranges.first().map_or(0, |range| range.end);
    for range in ranges {
        gaps.push(range.start.saturating_sub(end));
        end = end.max(range.end);
    }
    gaps.retain(|between| (1..=gap).contains(between));
    gaps.sort_unstable();
    let mut read = 0_u64;
    for between in gaps {
        read = read.saturating_add(between);
        if read > over {
            return between.saturating_sub(1);
        }
    }
    gap
}

#[cfg(test)]
#[allow(clippy::arithmetic_side_effects, clippy::indexing_slicing)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use treemill_format::tree::BasketRef;

    fn basket(entries: Range<u64>, bytes: Range<u64>) -> BasketRef {
        BasketRef { entries, bytes }
    }

    #[test]
    fn a_batch_ends_at_the_last_border_within_reach() {
        let options = Options::default();
        assert_eq!(
            batch_end(0, 90_000, &[10_000, 30_000, 60_000], &options),
            30_000
        );
        assert_eq!(
            batch_end(30_000, 90_000, &[10_000, 30_000, 60_000], &options),
            60_000
        );
    }

    #[test]
    fn large_baskets_are_cut_evenly_and_small_ones_joined() {
        let options = Options::default();
        assert_eq!(batch_end(0, 200_000, &[40_000], &options), 20_000);
        assert_eq!(batch_end(20_000, 200_000, &[40_000], &options), 40_000);
        let small: Vec<u64> = (1..100).map(|i| i * 1000).collect();
        assert_eq!(batch_end(0, 100_000, &small, &options), 32_000);
        assert_eq!(batch_end(0, 500, &small, &options), 500);
    }

    #[test]
    fn few_of_many_baskets_are_looked_at() {
        let baskets: Vec<BasketRef> = (0..100_000)
            .map(|i| basket(i * 10..(i + 1) * 10, i * 1000..(i + 1) * 1000))
            .collect();
        for (range, holding_it) in [(0..1, 1), (55..65, 2), (999_990..1_000_100, 1), (7..7, 1)] {
            let looks = std::cell::Cell::new(0);
            let found = holding(&baskets, &range, |basket| {
                looks.set(looks.get() + 1);
                &basket.entries
            });
            assert_eq!(found.count(), holding_it, "{range:?}");
            assert!(looks.get() < 40, "{} looks", looks.get());
        }
        assert_eq!(
            holding(&baskets, &(1_000_000..1_000_001), |b| &b.entries).count(),
            0
        );
    }

    #[test]
    fn batches_of_large_entries_have_few_entries() {
        let most = BATCH_BYTES;
        assert_eq!(fitting_entries(1000, 1000 * most / 50), 50);
        assert_eq!(fitting_entries(10, 100 * most), 1);
        assert_eq!(fitting_entries(u64::MAX, u64::MAX), most);
        // What a file says nothing of, or says wrongly, changes no more than that.
        assert_eq!(fitting_entries(1000, 0), u64::MAX);
        assert_eq!(fitting_entries(0, u64::MAX), 1);
    }

    #[test]
    fn near_ranges_are_joined() {
        let joined = coalesce(vec![100..150, 0..10, 12..20, 160..200], 10, 1000, u64::MAX);
        assert_eq!(joined, [0..20, 100..200]);
        assert_eq!(coalesce(vec![0..10, 10..20], 10, 15, 9), [0..10, 10..20]);
        assert_eq!(
            coalesce(vec![0..10, 2..5, 50..60], 0, 1, 9),
            [0..10, 50..60]
        );
        // Only the nearest are joined where all gaps together would be too much.
        let three = vec![0..10, 12..20, 25..30, 39..40];
        assert_eq!(coalesce(three.clone(), 10, 1000, 8), [0..30, 39..40]);
        assert_eq!(coalesce(three, 10, 1000, 2), [0..20, 25..30, 39..40]);
    }

    proptest! {
        #[test]
        fn batches_cover_a_range_exactly_and_are_no_longer_than_allowed(
            mut boundaries in proptest::collection::vec(0_u64..200_000, 0..40),
            start in 0_u64..1000, len in 1_u64..200_000,
            most in 1_u64..40_000, least in 0_u64..40_000,
        ) {
            boundaries.sort_unstable();
            boundaries.dedup();
            let options = Options { batch_entries: most, least_entries: least };
            let stop = start + len;
            let mut at = start;
            let mut batches = 0;
            while at < stop {
                let end = batch_end(at, stop, &boundaries, &options);
                prop_assert!(end > at && end <= stop && end - at <= most);
                at = end;
                batches += 1;
            }
            prop_assert!(batches <= 2 * (len / most.min(least.max(1)) + 1) + boundaries.len() as u64 + 1);
        }

        #[test]
        fn every_range_lies_in_one_joined_range(
            starts in proptest::collection::vec((0_u64..10_000, 1_u64..500), 0..50),
            gap in 0_u64..500, most in 1_u64..3000, over in 0_u64..2000,
        ) {
            let ranges: Vec<Range<u64>> = starts.iter().map(|(s, n)| *s..s + n).collect();
            let joined = coalesce(ranges.clone(), gap, most, over);
            let covered: std::collections::BTreeSet<u64> = ranges.iter().cloned().flatten().collect();
            let read: std::collections::BTreeSet<u64> = joined.iter().cloned().flatten().collect();
            prop_assert!(read.len() - covered.len() <= over as usize);
            for r in ranges {
                prop_assert!(joined.iter().any(|j| j.start <= r.start && r.end <= j.end));
            }
        }
    }
}
