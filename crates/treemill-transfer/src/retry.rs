//! Whether to try again, and when: the one policy of all protocols, as a state machine. It goes on from the byte that it has
//! come to. Time comes in as durations since some moment, mostly the first attempt. Knows no clock.

use crate::limits::{
    BACK_OFF, MOST_ASKED, MOST_ATTEMPTS, MOST_BACK_OFF, PATIENCE, RETRY, STRANGER_FAILURES,
};
use crate::patience::{LEAST_SILENCE, PROMISE, RetryLimits, doubtful};
use crate::{Kind, Trouble};
use std::ops::Range;
use std::time::Duration;

/// The attempts at one range, or at what is wanted of one open file. An attempt that fails after it has brought bytes is
/// continued from there, and counts as progress.
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
    limits: RetryLimits,
    left: Range<u64>,
    progress: Duration,
    gained: bool,
    failures: u32,
    attempts: u32,
    is_strange: bool,
    /// How long others have waited in vain before this, until a moment ago.
    spent: Duration,
    /// When the present attempt begins.
    begun: Duration,
    /// How long the present attempt may bring nothing.
    silence: Duration,
}

impl Retry {
    /// The first attempt at `range`.
    #[must_use]
    pub fn new(range: Range<u64>) -> Self {
        Retry::by(RETRY, range)
    }

    /// The first attempt at `range` by a protocol of these limits.
    #[must_use]
    pub fn by(limits: RetryLimits, range: Range<u64>) -> Self {
        Retry {
            limits,
            left: range,
            progress: Duration::ZERO,
            gained: false,
            failures: 0,
            attempts: 1,
            is_strange: false,
            spent: Duration::ZERO,
            begun: Duration::ZERO,
            silence: limits.silence,
        }
    }

    /// The attempts at what is wanted of an open file from now on. It was opened, so that its first failure may be chance.
    #[must_use]
    pub fn of_file(limits: RetryLimits, now: Duration) -> Self {
        let mut retry = Retry::by(limits, 0..1);
        retry.progressed(now);
        retry
    }

    /// The same attempts at a server that has never answered: one that takes no connections is given up soon.
    #[must_use]
    pub fn at_a_stranger(self) -> Self {
        Retry {
            is_strange: true,
            ..self
        }
    }

    /// The same attempts at a server that was given up a moment ago, after it had brought nothing for this time: all together
    /// do not wait for it longer than one alone would.
    #[must_use]
    pub fn doubtful(self, spent: Duration) -> Self {
        Retry {
            spent,
            silence: doubtful(spent),
            ..self
        }
    }

    /// Whether the server was given up a moment ago, and has brought nothing since.
    #[must_use]
    pub fn is_doubtful(&self) -> bool {
        !self.spent.is_zero()
    }

    /// How long the server may be silent.
    #[must_use]
    pub fn silence(&self) -> Duration {
        self.silence
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
            self.progressed(now);
        }
    }

    /// Bytes have come that are new.
    pub fn progressed(&mut self, now: Duration) {
        (self.gained, self.spent, self.silence) = (true, Duration::ZERO, self.limits.silence);
        self.resumed(now);
    }

    /// An attempt begins that has waited for its turn, for which the server is not to blame; or what has waited since before
    /// is not waited for any more.
    pub fn resumed(&mut self, now: Duration) {
        self.progress = self.progress.max(now);
    }

    /// How long there was no progress.
    #[must_use]
    pub fn waited(&self, now: Duration) -> Duration {
        now.saturating_sub(self.progress)
    }

    /// The attempt has failed. The wait before the next one; `None` if there should be none.
    pub fn failed(&mut self, trouble: &Trouble, now: Duration) -> Option<Duration> {
        let failures = match self.gained {
            true => 0,
            false => self.failures.saturating_add(1),
        };
        let is_absent =
            self.is_strange && trouble.kind == Kind::Unreachable && failures >= STRANGER_FAILURES;
        if !trouble.kind.may_pass() || is_absent {
            return None;
        }
        self.again(trouble.kind, trouble.after.unwrap_or_default(), now)
    }

    /// Decides like `failed`, of a failure of this kind after which another attempt may do better. `after`: how long the server
    /// wants to be left alone.
    pub fn again(&mut self, kind: Kind, after: Duration, now: Duration) -> Option<Duration> {
        let gained = std::mem::take(&mut self.gained);
        self.failures = match gained {
            true => 0,
            false => self.failures.saturating_add(1),
        };
        self.attempts = self.attempts.saturating_add(1);
        let are_many = self.failures > self.limits.failures && kind != Kind::Busy;
        if are_many || self.attempts > MOST_ATTEMPTS {
            return None;
        }
        let wait = pause(self.failures).max(after.min(MOST_ASKED));
        let waited = self.waited(now).saturating_add(wait);
        if !self.may_begin(kind, waited) {
            return None;
        }
        if self.is_doubtful() {
            self.begun = now.saturating_add(wait);
            self.silence = doubtful(self.spent.saturating_add(waited));
        }
        Some(wait)
    }

    /// Whether an attempt may begin after a failure of this kind, when there was no progress for this time.
    #[must_use]
    pub fn may_begin(&self, kind: Kind, waited: Duration) -> bool {
        let (spent, least) = match self.is_doubtful() {
            true if kind == Kind::Silent => return false,
            // Another one than those who have spent it, if it is more than anyone waits for.
            true if self.spent >= PROMISE => (Duration::ZERO, LEAST_SILENCE),
            true => (self.spent, LEAST_SILENCE),
            false => (Duration::ZERO, self.limits.silence),
        };
        spent.saturating_add(waited).saturating_add(least) <= PATIENCE
    }

    /// Whether an attempt that has waited for this time may go on with a request, whose answer could come too late.
    #[must_use]
    pub fn may_go_on(&self, waited: Duration) -> bool {
        match self.is_doubtful() {
            true => !self.time_left(waited).is_zero(),
            false => self.may_begin(Kind::Lost, waited),
        }
    }

    /// How long what has waited for this time without progress is still waited for.
    #[must_use]
    pub fn time_left(&self, waited: Duration) -> Duration {
        let begun = self.begun.saturating_sub(self.progress);
        let most = match self.is_doubtful() {
            true => begun.saturating_add(self.silence),
            false => PATIENCE,
        };
        most.saturating_sub(waited)
    }
}

/// The wait before an attempt after this number of failures in a row, by all who try again.
///
/// ```
/// let waits: Vec<u128> = (0..7).map(|n| treemill_transfer::pause(n).as_millis()).collect();
/// assert_eq!(waits, [0, 100, 300, 900, 2700, 3000, 3000]);
/// ```
#[must_use]
pub fn pause(failures: u32) -> Duration {
    let Some(times) = failures.checked_sub(1) else {
        return Duration::ZERO;
    };
    BACK_OFF
        .saturating_mul(3_u32.saturating_pow(times))
        .min(MOST_BACK_OFF)
}

#[cfg(test)]
#[allow(clippy::arithmetic_side_effects)]
mod tests {
    use super::*;
    use crate::limits::SILENCE;
    use crate::patience::MOST_SILENCE;
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

    #[test]
    fn those_who_ask_again_wait_for_what_is_left_of_the_patience() {
        let seconds = Duration::from_secs;
        let silent = Trouble::new(Kind::Silent, "");
        let mut retry = Retry::new(0..1).doubtful(seconds(20));
        assert_eq!(retry.failed(&silent, seconds(3)), None, "once is enough");
        // One that says no at once may be back.
        let refused = Trouble::new(Kind::Unreachable, "");
        let waits = |spent| {
            let mut retry = Retry::new(0..1).doubtful(seconds(spent));
            let mut now = Duration::ZERO;
            while let Some(wait) = retry.failed(&refused, now) {
                now += wait;
                assert_eq!(
                    retry.time_left(now),
                    retry.silence(),
                    "the attempt is waited for"
                );
            }
            now
        };
        assert!(waits(7) > seconds(6));
        assert!((seconds(1)..=seconds(3)).contains(&waits(22)));
        assert_eq!(waits(26), Duration::ZERO);
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
        let mut retry = Retry::new(0..10).doubtful(Duration::from_secs(20));
        assert_eq!(retry.silence(), MOST_SILENCE);
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
