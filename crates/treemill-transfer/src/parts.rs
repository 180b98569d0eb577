//! Splits a range into parts, and says how large they are. Pure.

use crate::limits::{BUSY_PART, PART, WIDE_DISTANCE};
use std::ops::Range;
use std::time::Duration;
use treemill_source::Costs;

/// Bytes of one request at most, if `bytes` are asked for and `free` connections have nothing to do. `distance`: the round trip
/// of the network; a server that takes its time has more to do with more requests, and is not far. A large range over an
/// ocean comes sooner by many connections, while most are free: each has what its next round trip brings, or more. While most
/// are busy, each has what two round trips bring: what waits for a range must not wait for one connection that is new.
pub(crate) fn part_bytes(
    bytes: u64,
    costs: &Costs,
    distance: Duration,
    connections: usize,
    free: usize,
) -> u64 {
    let free = free.min(connections);
    if connections < 2 || distance < WIDE_DISTANCE {
        return PART;
    }
    let each = |bytes: u64, of: usize| bytes.div_ceil(of as u64);
    let window = each(costs.window, connections);
    let part = match free < connections / 2 {
        true => BUSY_PART.max(window.saturating_mul(2)),
        false => each(bytes, free).max(window),
    };
    part.min(PART)
}

/// Parts of `range` in order, nearly equal and of `most` bytes at most; none of an empty range. A `most` of zero
/// counts as one.
///
/// ```
/// assert_eq!(treemill_transfer::parts(10..21, 5), [10..14, 14..18, 18..21]);
/// ```
#[must_use]
pub fn parts(range: Range<u64>, most: u64) -> Vec<Range<u64>> {
    let length = range.end.saturating_sub(range.start);
    let each = length.div_ceil(length.div_ceil(most.max(1)).max(1)).max(1);
    let mut parts = Vec::new();
    let mut start = range.start;
    while start < range.end {
        let end = start.saturating_add(each).min(range.end);
        parts.push(start..end);
        start = end;
    }
    parts
}

#[cfg(test)]
#[allow(clippy::arithmetic_side_effects, clippy::indexing_slicing)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn part_bytes(bytes: u64, costs: &Costs, connections: usize, free: usize) -> u64 {
        super::part_bytes(bytes, costs, costs.round_trip, connections, free)
    }

    #[test]
    fn parts_are_what_new_connections_bring_while_most_are_free() {
        let new = Costs {
            window: 64 * 14_600,
            ..Costs::far(Duration::from_millis(137))
        };
        assert_eq!(part_bytes(140_000, &new, 64, 64), 14_600);
        assert_eq!(part_bytes(9_000_000, &new, 64, 64), 140_625);
        assert_eq!(part_bytes(9_000_000, &new, 64, 32), 281_250);
        assert_eq!(part_bytes(9_000_000, &new, 64, 31), BUSY_PART);
        assert_eq!(part_bytes(140_000, &new, 64, 0), BUSY_PART);
        assert_eq!(part_bytes(1 << 40, &new, 64, 64), PART);
        // Each brings a hundred and fifty kilobytes at once by now.
        let grown = Costs {
            window: 9_900_000,
            ..new
        };
        assert!(part_bytes(140_000, &grown, 64, 64) > 140_000);
        assert!(part_bytes(9_000_000, &grown, 64, 0) > BUSY_PART);
        let near = Costs::far(Duration::from_millis(1));
        assert_eq!(part_bytes(140_000, &near, 64, 64), PART);
        let slow = super::part_bytes(140_000, &new, near.round_trip, 64, 64);
        assert_eq!(slow, PART, "a slow server that is near");
    }

    proptest! {
        #[test]
        fn parts_cover_the_range_once(start in 0..u64::MAX / 2, length in 0..100_000_u64, most in 1..30_000_u64) {
            let range = start..start + length;
            let parts = parts(range.clone(), most);
            prop_assert_eq!(parts.len() as u64, length.div_ceil(most));
            prop_assert!(parts.iter().all(|p| p.end > p.start && p.end - p.start <= most));
            prop_assert!(parts.windows(2).all(|two| two[0].end == two[1].start));
            if let (Some(first), Some(last)) = (parts.first(), parts.last()) {
                prop_assert_eq!(first.start..last.end, range);
            }
        }
    }
}
