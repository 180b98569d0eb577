//! How many connections a file has, and into which parts what is asked for falls for them; `choice.rs` of treemill-transfer
//! says which one brings which part. Pure.

use crate::limits::{
    CONNECTION_PART, CONNECTION_PARTS, CONNECTION_PIECE, CONNECTIONS, MOST_CONNECTIONS,
    WIDE_DISTANCE,
};
use std::ops::Range;
use std::time::Duration;
use treemill_transfer::{Backlog, parts};

/// The round trip from which on a file has a connection of this number, beside its first one.
pub(crate) fn distance(number: usize) -> Duration {
    match number < CONNECTIONS {
        true => treemill_transfer::FAR,
        false => WIDE_DISTANCE,
    }
}

/// The numbers of the connections that a file has beside its first one.
pub(crate) fn others(round_trip: Duration) -> impl Iterator<Item = usize> {
    (1..MOST_CONNECTIONS).filter(move |&number| round_trip >= distance(number))
}

/// Bytes of one part of a range, about, if this number of bytes is asked for: small enough that all connections have some
/// of it, and not smaller than what a connection brings in half a round trip. A large range has large parts, which are
/// read with checksums; a small one falls into parts of which some come in a new connection's first round trip.
pub(crate) fn part_bytes(range: &Range<u64>, all: u64, loads: &[Backlog]) -> u64 {
    let connections = loads.len() as u64;
    let windows = loads.iter().map(|load| load.window);
    let windows = windows.fold(0, u64::saturating_add);
    let half = windows
        .checked_div(connections.saturating_mul(2))
        .unwrap_or(0);
    if length(range) < CONNECTION_PART {
        return CONNECTION_PIECE.max(half / 2);
    }
    let share = all.checked_div(CONNECTION_PARTS.saturating_mul(connections));
    CONNECTION_PART.max(share.unwrap_or(0)).max(half)
}

/// Parts of a range, about equally large: each has `bytes` or more, but fewer than twice as many.
pub(crate) fn cut(range: &Range<u64>, bytes: u64) -> Vec<Range<u64>> {
    let all = length(range);
    let count = all.checked_div(bytes).unwrap_or(1).max(1);
    match range.is_empty() {
        true => vec![range.clone()],
        false => parts(range.clone(), all.div_ceil(count)),
    }
}

pub(crate) fn length(range: &Range<u64>) -> u64 {
    range.end.saturating_sub(range.start)
}

#[cfg(test)]
#[allow(clippy::indexing_slicing, clippy::arithmetic_side_effects)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use treemill_transfer::dealt;

    fn load(busy: u64, window: u64) -> Backlog {
        Backlog { busy, window }
    }

    #[test]
    fn parts_are_small_for_new_connections_and_large_for_fast_ones() {
        let new = [load(0, 14_600); 4];
        let large = 0..1 << 20;
        assert_eq!(part_bytes(&large, 1 << 20, &new), 128 << 10);
        assert_eq!(part_bytes(&large, 16 << 20, &new), 1 << 20);
        assert_eq!(part_bytes(&large, 1 << 20, &[load(0, 4 << 20); 4]), 2 << 20);
        assert_eq!(part_bytes(&large, 5, &[]), 128 << 10);
    }

    #[test]
    fn small_ranges_fall_into_parts_that_new_connections_bring_at_once() {
        let small = 0..100_000;
        assert_eq!(part_bytes(&small, 1 << 20, &[load(0, 29_200); 8]), 7_300);
        assert_eq!(
            part_bytes(&small, 1 << 20, &[load(0, 1 << 20); 8]),
            256 << 10
        );
        assert_eq!(part_bytes(&small, 5, &[]), 4 << 10);
        // The description of a file, on eight new connections: one round trip.
        let loads = vec![load(0, 14_600); 8];
        let parts: Vec<_> = [0..8 << 10, 0..64 << 10]
            .iter()
            .flat_map(|range| cut(range, part_bytes(range, 72 << 10, &loads)))
            .collect();
        let places = dealt(&parts, loads);
        let mut busy = [0; 8];
        for (part, place) in parts.iter().zip(places) {
            busy[place] += length(part);
        }
        assert!(busy.iter().all(|bytes| *bytes <= 14_600), "{busy:?}");
    }

    #[test]
    fn the_farther_the_more_connections() {
        let count = |millis| others(Duration::from_millis(millis)).count();
        assert_eq!([0, 4, 5, 49, 50, 137].map(count), [0, 0, 3, 3, 7, 7]);
    }

    proptest! {
        #[test]
        fn parts_are_the_range(start in 0_u64..1 << 50, length in 0_u64..1 << 30, bytes in (1_u64 << 17)..1 << 30) {
            let range = start..start + length;
            let parts = cut(&range, bytes);
            prop_assert_eq!((parts[0].start, parts[parts.len() - 1].end), (range.start, range.end));
            prop_assert!(parts.windows(2).all(|two| two[0].end == two[1].start));
            prop_assert!(parts.iter().all(|part| part.end - part.start < 2 * bytes));
            prop_assert!(parts.len() == 1 || parts[0].end - parts[0].start >= bytes);
        }
    }
}
