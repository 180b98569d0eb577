//! Which of a file's connections brings what is asked for: the one that is done with it first. Pure, but for the count of
//! what each of them owes. Knows no protocol.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A connection: the bytes that are on their way there, and those that its next round trip brings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Backlog {
    /// The bytes that it owes.
    pub busy: u64,
    /// Its window; the same for all where none is known.
    pub window: u64,
}

impl Backlog {
    /// Whether it is done sooner than another one, each with `more` bytes: it has fewer windows to bring. Windows grow by
    /// the same factor in each round trip.
    fn is_sooner(&self, other: &Backlog, more: u64) -> bool {
        let windows = |load: &Backlog, by: &Backlog| {
            u128::from(load.busy.saturating_add(more)).saturating_mul(u128::from(by.window.max(1)))
        };
        windows(self, other) < windows(other, self)
    }
}

/// The number of the connection that is done first with `more` bytes, the first one of several. `None` if there is none.
///
/// ```
/// use treemill_transfer::{Backlog, soonest};
///
/// let owing = |busy| Backlog { busy, window: 10 };
/// assert_eq!(soonest([7, 3, 3].map(owing), 100), Some(1));
/// // A window of ten times the size is worth a queue of almost ten times the length.
/// assert_eq!(soonest([Backlog { busy: 800, window: 100 }, owing(0)], 100), Some(0));
/// assert_eq!(soonest([], 100), None);
/// ```
#[must_use]
pub fn soonest(loads: impl IntoIterator<Item = Backlog>, more: u64) -> Option<usize> {
    let mut best: Option<(usize, Backlog)> = None;
    for (number, load) in loads.into_iter().enumerate() {
        if best.is_none_or(|(_, best)| load.is_sooner(&best, more)) {
            best = Some((number, load));
        }
    }
    best.map(|(number, _)| number)
}

/// The connection of each range, so that all are done at about the same time.
#[must_use]
pub fn dealt(ranges: &[Range<u64>], mut loads: Vec<Backlog>) -> Vec<usize> {
    let one = |range: &Range<u64>| {
        let more = range.end.saturating_sub(range.start);
        let best = soonest(loads.iter().copied(), more).unwrap_or(0);
        if let Some(load) = loads.get_mut(best) {
            load.busy = load.busy.saturating_add(more);
        }
        best
    };
    ranges.iter().map(one).collect()
}

/// Bytes that a connection, or a session, owes until this is dropped.
#[derive(Debug)]
pub struct Owed {
    owed: Arc<AtomicU64>,
    bytes: u64,
}

impl Owed {
    /// Adds `bytes` to what is owed until this is dropped.
    #[must_use]
    pub fn new(owed: &Arc<AtomicU64>, bytes: u64) -> Self {
        owed.fetch_add(bytes, Ordering::Relaxed);
        Owed {
            owed: Arc::clone(owed),
            bytes,
        }
    }
}

impl Drop for Owed {
    fn drop(&mut self) {
        self.owed.fetch_sub(self.bytes, Ordering::Relaxed);
    }
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

    fn load(busy: u64, window: u64) -> Backlog {
        Backlog { busy, window }
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
    fn what_is_owed_is_so_until_it_is_here() {
        let owed = Arc::default();
        let (one, other) = (Owed::new(&owed, 7), Owed::new(&owed, 3));
        assert_eq!(owed.load(Ordering::Relaxed), 10);
        drop(one);
        assert_eq!(owed.load(Ordering::Relaxed), 3);
        drop(other);
        assert_eq!(owed.load(Ordering::Relaxed), 0);
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

        /// Where no window is known, the one that owes the fewest bytes brings the next ones.
        #[test]
        fn with_equal_windows_it_is_the_one_that_owes_least(
            busy in prop::collection::vec(0_u64..1_000_000, 1..9),
            window in 0_u64..1 << 40,
            more in 0_u64..1 << 40,
        ) {
            let place = soonest(busy.iter().map(|&busy| load(busy, window)), more);
            let least = busy.iter().min();
            prop_assert_eq!(place, busy.iter().position(|one| Some(one) == least));
        }
    }
}
