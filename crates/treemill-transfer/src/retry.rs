//! Whether to try again, and when: the attempts at one range as a state machine. Time comes in as durations since the
//! first attempt began. Knows no clock.

use crate::limits::{
    BACK_OFF, DOUBTFUL_SILENCE, MOST_ASKED, MOST_ATTEMPTS, MOST_BACK_OFF, MOST_FAILURES, PATIENCE,
    SILENCE, STRANGER_FAILURES,
};
use crate::{Kind, Trouble};
use std::ops::Range;
use std::time::Duration;

/// The attempts at one range. An attempt that fails after it has brought bytes is continued from there, and counts as
/// progress.
///
/// ```
/// use std::time::Duration;
/// use treemill_transfer::{Kind, Retry, Trouble};
///
/// let reset = Trouble::new(Kind::Transient, "connection reset");
/// let mut retry = Retry::new(0..10);
/// retry.gained(4, Duration::from_secs(1));
/// assert_eq!(retry.failed(&reset, Duration::from_secs(1)), Some(Duration::ZERO));
/// assert_eq!(retry.left(), 4..10);
/// // Nothing new since: the next attempt waits.
/// assert_eq!(retry.failed(&reset, Duration::from_secs(1)), Some(Duration::from_millis(100)));
/// ```
#[derive(Debug, Clone)]
pub struct Retry {
    left: Range<u64>,
    progress: Duration,
    gained: bool,
    failures: u32,
    attempts: u32,
    is_doubtful: bool,
    is_strange: bool,
}

impl Retry {
    /// The first attempt at `range`.
    #[must_use]
    pub fn new(range: Range<u64>) -> Self {
        Retry {
            left: range,
            progress: Duration::ZERO,
            gained: false,
            failures: 0,
            attempts: 1,
            is_doubtful: false,
            is_strange: false,
        }
    }

    /// The same attempts at a server that has never answered: one that takes no connections is given up soon.
    #[must_use]
    pub fn at_a_stranger(self) -> Self {
        Retry {
            is_strange: true,
            ..self
        }
    }

    /// The only attempt at `range`, at a server that was given up a moment ago because it was silent. The next caller
    /// does not wait as long as the first one did.
    #[must_use]
    pub fn doubtful(range: Range<u64>) -> Self {
        Retry {
            is_doubtful: true,
            ..Retry::new(range)
        }
    }

    /// How long the server may be silent.
    #[must_use]
    pub fn silence(&self) -> Duration {
        match self.is_doubtful && !self.gained {
            true => DOUBTFUL_SILENCE,
            false => SILENCE,
        }
    }

    /// The bytes that are still to come.
    #[must_use]
    pub fn left(&self) -> Range<u64> {
        self.left.clone()
    }

    /// The next bytes have come.
    pub fn gained(&mut self, bytes: u64, now: Duration) {
        if bytes > 0 {
            self.left.start = self.left.start.saturating_add(bytes).min(self.left.end);
            self.progress = now;
            self.gained = true;
            self.is_doubtful = false;
        }
    }

    /// An attempt begins that has waited for its turn, for which the server is not to blame.
    pub fn resumed(&mut self, now: Duration) {
        self.progress = now;
    }

    /// The attempt has failed. The wait before the next one; `None` if there should be none.
    pub fn failed(&mut self, trouble: &Trouble, now: Duration) -> Option<Duration> {
        let gained = std::mem::take(&mut self.gained);
        self.failures = if gained {
            0
        } else {
            self.failures.saturating_add(1)
        };
        self.attempts = self.attempts.saturating_add(1);
        let is_absent = self.is_strange
            && trouble.kind == Kind::Unreachable
            && self.failures >= STRANGER_FAILURES;
        let hopeless = !trouble.kind.may_pass()
            || is_absent
            || self.is_doubtful
            || (self.failures > MOST_FAILURES && trouble.kind != Kind::Busy)
            || self.attempts > MOST_ATTEMPTS;
        if hopeless {
            return None;
        }
        let wait = self
            .back_off()
            .max(trouble.after.unwrap_or_default().min(MOST_ASKED));
        let end = now.saturating_add(wait).saturating_add(SILENCE);
        (end.saturating_sub(self.progress) <= PATIENCE).then_some(wait)
    }

    fn back_off(&self) -> Duration {
        let Some(times) = self.failures.checked_sub(1) else {
            return Duration::ZERO;
        };
        BACK_OFF
            .saturating_mul(3_u32.saturating_pow(times))
            .min(MOST_BACK_OFF)
    }
}

#[cfg(test)]
#[allow(clippy::arithmetic_side_effects)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn transient() -> Trouble {
        Trouble::new(Kind::Transient, "reset")
    }

    #[test]
    fn what_is_final_is_not_tried_again() {
        for kind in [Kind::Permanent, Kind::Missing, Kind::Elsewhere] {
            let mut retry = Retry::new(0..1);
            assert_eq!(retry.failed(&Trouble::new(kind, ""), Duration::ZERO), None);
        }
    }

    #[test]
    fn a_silent_server_is_given_up_within_thirty_seconds() {
        let now = silent(Retry::new(0..1));
        assert!(now < Duration::from_secs(30), "{now:?}");
        assert!(now > SILENCE, "it is tried twice");
    }

    #[test]
    fn a_stranger_that_takes_no_connections_is_given_up_soon() {
        let refused = Trouble::new(Kind::Unreachable, "refused");
        let waits = |mut retry: Retry| {
            std::iter::from_fn(|| retry.failed(&refused, Duration::ZERO)).count()
        };
        assert_eq!(waits(Retry::new(0..1).at_a_stranger()), 1);
        assert_eq!(waits(Retry::new(0..1)), 5, "it may come back");
        let mut retry = Retry::new(0..1).at_a_stranger();
        assert!((0..5).all(|_| retry.failed(&transient(), Duration::ZERO).is_some()));
    }

    #[test]
    fn a_server_that_has_much_to_do_is_asked_again_for_as_long_as_there_is_patience() {
        let busy = Trouble::new(Kind::Busy, "503");
        let (mut retry, mut now) = (Retry::new(0..1), Duration::ZERO);
        while let Some(wait) = retry.failed(&busy, now) {
            now += wait;
        }
        assert!(now + SILENCE + MOST_BACK_OFF > PATIENCE, "{now:?}");
        assert!(now + SILENCE <= PATIENCE, "{now:?}");
    }

    /// How long a silent server is tried for.
    fn silent(mut retry: Retry) -> Duration {
        let mut now = retry.silence();
        while let Some(wait) = retry.failed(&transient(), now) {
            now += wait + retry.silence();
        }
        now
    }

    #[test]
    fn a_doubtful_server_that_brings_bytes_is_tried_as_others_are() {
        let mut retry = Retry::doubtful(0..10);
        assert_eq!(retry.silence(), DOUBTFUL_SILENCE);
        retry.gained(1, Duration::ZERO);
        assert_eq!(retry.silence(), SILENCE);
        assert!(retry.failed(&transient(), Duration::ZERO).is_some());
        assert!(retry.failed(&transient(), Duration::ZERO).is_some());
    }

    proptest! {
        /// However attempts end, the last one ends within the patience since the last new byte.
        #[test]
        fn without_progress_it_ends(
            attempts in proptest::collection::vec((0..10_000_u64, 0..3_u64, 0..100_u64), 1..50),
        ) {
            let (mut retry, mut now, mut progress) = (Retry::new(0..1000), Duration::ZERO, Duration::ZERO);
            for (milliseconds, bytes, after) in attempts {
                now += Duration::from_millis(milliseconds);
                retry.gained(bytes, now);
                if bytes > 0 {
                    progress = now;
                }
                let trouble = Trouble { after: Some(Duration::from_secs(after)), ..transient() };
                match retry.failed(&trouble, now) {
                    None => break,
                    Some(wait) => {
                        prop_assert!(now + wait + SILENCE - progress < Duration::from_secs(30));
                        now += wait;
                    }
                }
            }
        }
    }
}
