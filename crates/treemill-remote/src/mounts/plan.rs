//! What is asked of the kernel for ranges that are wanted: which bytes are announced, and which are read at once. Pure.

use crate::limits::{ADVICE, LEAST_ADVICE, MOUNT_PART};
use std::ops::Range;
use treemill_transfer::parts;

/// Bytes that one announcement may cover. `read_ahead`: the kernel's read-ahead for the file system, if it says: of an
/// announcement it begins to read no more than that.
///
/// ```
/// assert_eq!(treemill_remote::mounts::step(Some(1 << 20)), 1 << 20);
/// assert_eq!(treemill_remote::mounts::step(None), 128 << 10);
/// assert_eq!(treemill_remote::mounts::step(Some(0)), 64 << 10);
/// ```
#[must_use]
pub fn step(read_ahead: Option<u64>) -> u64 {
    read_ahead.unwrap_or(ADVICE).max(LEAST_ADVICE)
}

/// The announcements of ranges that will be read, in order; ranges that follow one another are announced as one.
///
/// ```
/// let said = treemill_remote::mounts::announced(&[0..100, 100..300, 500..600], 200);
/// assert_eq!(said, [0..150, 150..300, 500..600]);
/// ```
#[must_use]
pub fn announced(ranges: &[Range<u64>], step: u64) -> Vec<Range<u64>> {
    let mut joined: Vec<Range<u64>> = Vec::new();
    for range in ranges.iter().filter(|range| !range.is_empty()) {
        match joined.last_mut() {
            Some(last) if last.end == range.start => last.end = range.end,
            _ => joined.push(range.clone()),
        }
    }
    let cut = joined.into_iter().flat_map(|range| parts(range, step));
    cut.collect()
}

/// The positioned reads of a range.
#[must_use]
pub fn reads(range: &Range<u64>) -> Vec<Range<u64>> {
    parts(range.clone(), MOUNT_PART)
}

#[cfg(test)]
#[allow(clippy::arithmetic_side_effects)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn each_wanted_byte_is_announced_once_for_each_time_and_nothing_else(
            lengths in prop::collection::vec((0_u64..400_000, 0_u64..1_000_000), 0..30), step in 1_u64..1 << 20,
        ) {
            let mut at = 0;
            let mut ranges = Vec::new();
            for (gap, length) in lengths {
                at += gap % 7 * gap; // some follow one another
                ranges.push(at..at + length);
                at += length;
            }
            let said = announced(&ranges, step);
            let bytes = |ranges: &[Range<u64>]| ranges.iter().map(|r| r.end - r.start).sum::<u64>();
            prop_assert_eq!(bytes(&said), bytes(&ranges));
            prop_assert!(said.iter().all(|r| !r.is_empty() && r.end - r.start <= step));
            prop_assert!(said.windows(2).all(|two| matches!(two, [a, b] if a.end <= b.start)));
            for range in &ranges {
                let inside = said.iter().map(|r| r.end.min(range.end).saturating_sub(r.start.max(range.start)));
                prop_assert_eq!(inside.sum::<u64>(), range.end - range.start);
            }
        }
    }
}
