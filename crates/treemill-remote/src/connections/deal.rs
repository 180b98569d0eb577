//! Which connection brings which part of what is asked for. Pure: ranges and loads in, parts and places out.

use crate::limits::{
    CONNECTION_PART, CONNECTION_PARTS, CONNECTION_PIECE, CONNECTIONS, MOST_CONNECTIONS,
    WIDE_DISTANCE,
};
use std::ops::Range;
use std::time::Duration;
use treemill_transfer::parts;

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

/// A connection: the bytes that are on their way there, and those that its next round trip brings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Load {
    pub(crate) busy: u64,
    pub(crate) window: u64,
}

impl Load {
    /// Whether it is done sooner than another one, each with `more` bytes: it has fewer windows to bring. Windows grow by
    /// the same factor in each round trip.
    fn is_sooner(&self, other: &Load, more: u64) -> bool {
        let windows = |load: &Load, by: &Load| {
            u128::from(load.busy.saturating_add(more)).saturating_mul(u128::from(by.window.max(1)))
        };
        windows(self, other) < windows(other, self)
    }
}

/// The connection of each range, so that all are done at about the same time.
pub(crate) fn dealt(ranges: &[Range<u64>], mut loads: Vec<Load>) -> Vec<usize> {
    let one = |range: &Range<u64>| {
        let more = length(range);
        let mut best = 0;
        for (connection, load) in loads.iter().enumerate() {
            let is_sooner = loads.get(best).is_some_and(|b| load.is_sooner(b, more));
            best = if is_sooner { connection } else { best };
        }
        if let Some(load) = loads.get_mut(best) {
            load.busy = load.busy.saturating_add(more);
        }
        best
    };
    ranges.iter().map(one).collect()
}

/// Bytes of one part of a range, about, if this number of bytes is asked for: small enough that all connections have some
/// of it, and not smaller than what a connection brings in half a round trip. A large range has large parts, which are
/// read with checksums; a small one falls into parts of which some come in a new connection's first round trip.
pub(crate) fn part_bytes(range: &Range<u64>, all: u64, loads: &[Load]) -> u64 {
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
#[allow(
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::cast_precision_loss
)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn load(busy: u64, window: u64) -> Load {
        Load { busy, window }
    }

    #[test]
    fn the_connection_that_is_done_first_is_next() {
        let ranges = [0..100, 100..150, 150..160, 160..400];
        let loads = [load(0, 10), load(60, 10), load(0, 10)];
        assert_eq!(dealt(&ranges, loads.into()), [0, 2, 2, 1]);
        assert_eq!(dealt(&ranges, vec![load(7, 10)]), [0; 4]);
        // A window of ten times the size is worth a queue of almost ten times the length.
        let loads = [load(800, 100), load(0, 10)];
        assert_eq!(dealt(&ranges, loads.into()), [0, 1, 1, 0]);
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
        /// No connection has more windows to bring than another one would have had with its last range.
        #[test]
        fn connections_are_done_at_about_the_same_time(
            lengths in prop::collection::vec(1_u64..1_000_000, 1..60),
            windows in prop::collection::vec(14_600_u64..10_000_000, 1..5),
        ) {
            let ranges: Vec<_> = lengths.iter().map(|length| 0..*length).collect();
            let loads: Vec<_> = windows.iter().map(|window| load(0, *window)).collect();
            let places = dealt(&ranges, loads);
            prop_assert_eq!(places.len(), ranges.len());
            let mut busy = vec![0_u64; windows.len()];
            for (place, length) in places.iter().zip(&lengths) {
                let trips = |connection: usize| (busy[connection] + length) as f64 / windows[connection] as f64;
                prop_assert!((0..windows.len()).all(|connection| trips(*place) <= trips(connection) * 1.000_001));
                busy[*place] += length;
            }
        }

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
