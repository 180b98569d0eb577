//! When replicas are looked for that were not named: pure, times are given. Knows no source.

use crate::FAR;
use crate::replicas::limits::{FIRST_SEARCH, LEAST_SEARCH, LONGEST, SEARCH, SEARCH_BYTES};
use std::time::Duration;

/// When to look for replicas: not while the file is opened, since short reads need none; after some time or some bytes,
/// then less and less often; and when something is late or has failed.
#[derive(Debug, Clone)]
pub(crate) struct Search {
    next: Duration,
    step: Duration,
    /// Bytes to be asked for before the first search.
    left: u64,
    /// When the last one began, or ended.
    last: Option<Duration>,
    is_running: bool,
}

impl Search {
    /// A search for replicas of a file whose server has this round trip. A near one brings many bytes in no time:
    /// they say nothing.
    pub(crate) fn new(round_trip: Duration) -> Self {
        Search {
            next: FIRST_SEARCH,
            step: SEARCH,
            left: match round_trip >= FAR {
                true => SEARCH_BYTES,
                false => u64::MAX,
            },
            last: None,
            is_running: false,
        }
    }

    /// Whether a search is under way.
    pub(crate) fn is_running(&self) -> bool {
        self.is_running
    }

    /// Notes how many bytes are asked for, and says whether a search is to begin.
    pub(crate) fn wanted(&mut self, bytes: u64, now: Duration) -> bool {
        self.left = self.left.saturating_sub(bytes);
        let is_due = now >= self.next || (self.left == 0 && self.last.is_none());
        self.begin(is_due, now)
    }

    /// Something is late or has failed: whether a search is to begin.
    pub(crate) fn needed(&mut self, now: Duration) -> bool {
        let is_due = self
            .last
            .is_none_or(|last| now.saturating_sub(last) >= LEAST_SEARCH);
        self.begin(is_due, now)
    }

    fn begin(&mut self, is_due: bool, now: Duration) -> bool {
        if !is_due || self.is_running {
            return false;
        }
        self.is_running = true;
        self.last = Some(now);
        self.next = now.saturating_add(self.step);
        self.step = self.step.saturating_mul(2).min(LONGEST);
        true
    }

    /// The search has ended, well or not.
    pub(crate) fn ended(&mut self, now: Duration) {
        self.is_running = false;
        self.last = Some(now); // one that took long is not followed by the next one at once
    }
}

#[cfg(test)]
#[allow(clippy::arithmetic_side_effects)]
mod tests {
    use super::*;

    fn at(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    const FAR: Duration = Duration::from_millis(137);

    /// The seconds of a quarter of an hour at which searches begin.
    fn times(bytes_per_second: u64, round_trip: Duration) -> Vec<u64> {
        let mut search = Search::new(round_trip);
        let begins = |second: &u64| {
            let begins = search.wanted(bytes_per_second, at(*second));
            if begins {
                search.ended(at(*second));
            }
            begins
        };
        (0..900).filter(begins).collect()
    }

    #[test]
    fn searches_get_rarer_and_much_brings_the_first_one_forward() {
        assert_eq!(times(1, FAR), [5, 65, 185, 425]);
        assert_eq!(times(SEARCH_BYTES / 2, FAR), [1, 61, 181, 421]);
        let near = Duration::from_micros(100);
        assert_eq!(times(SEARCH_BYTES / 2, near), [5, 65, 185, 425]);
    }

    #[test]
    fn what_fails_is_searched_for_at_once_but_not_again_and_again() {
        let mut search = Search::new(FAR);
        assert!(search.needed(at(1)));
        assert!(!search.needed(at(20)), "it is under way");
        search.ended(at(20));
        assert!(!search.needed(at(21)), "it has just ended");
        assert!(search.needed(at(20) + LEAST_SEARCH));
        search.ended(at(31));
        assert!(!search.needed(at(32)) && !search.wanted(0, at(32)));
    }
}
