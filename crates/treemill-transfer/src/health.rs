//! The one record of who is ill: when something has failed, why, and whether it was heard since. It is of a server over all of its
//! files, of one source, of one session or of one address; whoever asks keeps it. Pure: times are given. Knows no request.

use crate::limits::{ANSWERING, DOUBT};
use crate::patience::{ASKED, PATIENCE, PROMISE};
use crate::retry::Retry;
use crate::{Kind, Trouble};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// What is known of the health of a server, or of one way to it.
///
/// ```
/// use std::time::Duration;
/// use treemill_transfer::Health;
///
/// let (mut health, second) = (Health::default(), Duration::from_secs(1));
/// assert!(!health.is_ill());
/// assert!(health.failed("it refuses", second), "it is the first fault");
/// assert_eq!(health.lost_since(second), Some("it refuses"));
/// assert_eq!(health.lost_since(second * 2), None, "whoever asks later may try");
/// assert!(health.is_avoided(second * 2));
/// assert!(!health.is_avoided(second * 100), "it is tried again");
/// health.recovered(second * 2);
/// assert!(!health.failed("it refuses", second * 100), "it has not recovered");
/// health.recovered(second * 200);
/// assert!(health.failed("it refuses", second * 300));
/// ```
#[derive(Debug)]
pub struct Health<W = Trouble> {
    /// That it was given up, and nothing was heard since.
    doubt: Option<Doubt>,
    /// When it failed last, and why, if nothing was heard since.
    lost: Option<(Duration, W)>,
    /// When its last bytes came, if any ever did.
    heard: Option<Duration>,
}

/// A server that was given up.
#[derive(Debug, Clone, Copy)]
struct Doubt {
    /// Since when it has brought nothing of what it was asked for.
    since: Duration,
    /// Until when it is doubted.
    until: Duration,
}

impl<W> Default for Health<W> {
    fn default() -> Self {
        Health {
            doubt: None,
            lost: None,
            heard: None,
        }
    }
}

impl<W: Clone> Health<W> {
    /// Its bytes have come.
    pub fn heard(&mut self, now: Duration) {
        (self.doubt, self.lost, self.heard) = (None, None, Some(now));
    }

    /// It has begun to answer, which is not yet what was asked for.
    pub fn speaks(&mut self, now: Duration) {
        self.heard = Some(now);
    }

    /// What was asked of it was given up, after it had brought nothing for this time. Those who ask again soon do not wait
    /// for as long.
    pub fn doubted(&mut self, waited: Duration, now: Duration) {
        if self.doubt.is_none_or(|doubt| doubt.until <= now) {
            let since = now.saturating_sub(waited);
            // A run that asks again is done by the time that it is promised an answer.
            let until = now.saturating_add(DOUBT).max(since.saturating_add(PROMISE));
            self.doubt = Some(Doubt { since, until });
        }
    }

    /// How what begins now is to be tried for.
    #[must_use]
    pub fn tries(&self, retry: Retry, now: Duration) -> Retry {
        let doubt = self.doubt.filter(|doubt| now < doubt.until);
        let retry = match doubt {
            Some(doubt) => retry.doubtful(now.saturating_sub(doubt.since)),
            None => retry,
        };
        match self.heard {
            Some(_) => retry,
            None => retry.at_a_stranger(),
        }
    }

    /// It has failed for this reason: whether it was well before.
    pub fn failed(&mut self, why: W, now: Duration) -> bool {
        self.lost.replace((now, why)).is_none()
    }

    /// It has given what was asked for: it is well, if it did not fail a moment ago, while that was on its way.
    pub fn recovered(&mut self, now: Duration) {
        if !self.is_avoided(now) {
            self.heard(now);
        }
    }

    /// Whether it has failed, and nothing was heard since.
    #[must_use]
    pub fn is_ill(&self) -> bool {
        self.lost.is_some()
    }

    /// Whether it failed a moment ago, so that others are better asked.
    #[must_use]
    pub fn is_avoided(&self, now: Duration) -> bool {
        let lost = self.lost.as_ref();
        lost.is_some_and(|(when, _)| now.saturating_sub(*when) < DOUBT)
    }

    /// Why it failed since then, if it did, and has said nothing after that: who waits since then need not try, too.
    #[must_use]
    pub fn lost_since(&self, then: Duration) -> Option<W> {
        let (when, why) = self.lost.as_ref()?;
        (*when >= then).then(|| why.clone())
    }

    /// Whether its bytes came a moment ago.
    pub(crate) fn answers(&self, now: Duration) -> bool {
        let heard = self.heard.map(|heard| now.saturating_sub(heard));
        heard.is_some_and(|heard| heard < ANSWERING)
    }
}

impl Health {
    /// The server was given up for this reason, after it had brought nothing for this time: it is lost, unless it answers others.
    pub(crate) fn given_up(&mut self, why: &Trouble, waited: Duration, now: Duration) {
        // Three times the same keeps the promise: a server that says no at once is there, and its other files may take their time.
        let says_no = why.kind == Kind::Transient && waited.saturating_mul(ASKED) <= PATIENCE;
        if !why.kind.may_pass() || why.kind == Kind::Busy || says_no {
            return;
        }
        self.doubted(waited, now);
        let is_gone = matches!(why.kind, Kind::Silent | Kind::Reset | Kind::Unreachable);
        if is_gone && !self.answers(now) {
            self.failed(why.clone(), now);
        }
    }
}

/// The health of a file, over all connections by which it is open, with their clock.
#[derive(Debug)]
pub struct FileHealth {
    begun: Instant,
    health: Mutex<Health>,
}

impl Default for FileHealth {
    fn default() -> Self {
        FileHealth {
            begun: Instant::now(),
            health: Mutex::default(),
        }
    }
}

impl FileHealth {
    /// The time on its clock.
    #[must_use]
    pub fn now(&self) -> Duration {
        self.begun.elapsed()
    }

    /// The health.
    pub fn known(&self) -> MutexGuard<'_, Health> {
        self.health.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
#[allow(clippy::arithmetic_side_effects)]
mod tests {
    use super::*;
    use crate::limits::SILENCE;
    use crate::patience::OPENING_PATIENCE;

    fn trouble() -> Trouble {
        Trouble::new(Kind::Silent, "nothing came")
    }

    #[test]
    fn a_server_is_lost_until_it_is_heard() {
        let (mut health, second) = (Health::default(), Duration::from_secs(1));
        health.given_up(&trouble(), second, 2 * second);
        assert_eq!(health.lost_since(second), Some(trouble()));
        assert_eq!(health.lost_since(3 * second), None);
        health.heard(4 * second);
        assert_eq!(health.lost_since(second), None);
        health.given_up(&trouble(), second, 5 * second);
        assert_eq!(health.lost_since(second), None, "it answers others");
    }

    /// How long a server that says nothing is tried for.
    fn silent(mut retry: Retry) -> Duration {
        let trouble = trouble();
        let mut now = retry.silence();
        while let Some(wait) = retry.failed(&trouble, now) {
            now += wait + retry.silence();
        }
        now
    }

    fn tries(health: &Health, now: Duration) -> Retry {
        health.tries(Retry::new(0..1), now)
    }

    /// A file's state is asked for, then again, then the file is opened: one after the other, of a server that is silent.
    /// Without the memory of it this takes as many times as long as one of them.
    #[test]
    fn calls_one_after_the_other_give_a_silent_server_up_within_thirty_seconds() {
        let (mut health, mut now) = (Health::default(), Duration::ZERO);
        for _ in 0..4 {
            let waited = silent(tries(&health, now));
            now += waited;
            health.given_up(&trouble(), waited, now);
        }
        assert!(now < Duration::from_secs(30), "{now:?}");
        health.heard(now);
        assert_eq!(tries(&health, now).silence(), SILENCE);
        health.given_up(&trouble(), now, now);
        let later = now + DOUBT;
        assert!(tries(&health, later - Duration::from_millis(1)).is_doubtful());
        assert_eq!(tries(&health, later).silence(), SILENCE);
    }

    #[test]
    fn a_server_that_has_much_to_do_or_refuses_is_not_doubted() {
        let (mut health, second) = (Health::default(), Duration::from_secs(1));
        for kind in [Kind::Busy, Kind::Missing, Kind::Elsewhere] {
            health.given_up(&Trouble::new(kind, ""), second, 2 * second);
            assert!(!tries(&health, 3 * second).is_doubtful());
        }
    }

    /// Three answers that are late, each with an error, would not keep the promise.
    #[test]
    fn a_server_that_fails_is_doubted_if_it_takes_long_for_it() {
        let (mut health, second) = (Health::default(), Duration::from_secs(1));
        health.given_up(&Trouble::new(Kind::Transient, ""), 8 * second, 8 * second);
        assert!(!tries(&health, 9 * second).is_doubtful());
        health.given_up(&Trouble::new(Kind::Transient, ""), 9 * second, 18 * second);
        assert!(tries(&health, 19 * second).is_doubtful());
    }

    /// An answer that begins is not what was asked for: a server may send the header of each, and nothing else.
    #[test]
    fn a_server_that_only_begins_to_answer_stays_doubted() {
        let (mut health, second) = (Health::default(), Duration::from_secs(1));
        health.given_up(&trouble(), 20 * second, 20 * second);
        health.speaks(21 * second);
        assert!(tries(&health, 22 * second).is_doubtful());
        health.heard(23 * second);
        assert!(!tries(&health, 24 * second).is_doubtful());
    }

    use proptest::prelude::*;

    proptest! {
        /// The promise over the sum: a run asks for a range three times, each time when it was given up, and however the attempts
        /// end, none of which is silent for longer than it may.
        #[test]
        fn a_run_has_its_answer_within_thirty_seconds(
            limits in prop_oneof![Just(crate::patience::RETRY), Just(crate::patience::xrootd::RETRY)],
            fates in proptest::collection::vec((0_u32..=1000, 0_usize..4), 1..100),
        ) {
            let kinds = [Kind::Silent, Kind::Reset, Kind::Lost, Kind::Unreachable];
            let (mut health, mut now, mut fates) = (Health::default(), Duration::ZERO, fates.into_iter().cycle());
            for _ in 0..ASKED {
                let (asked, mut retry) = (now, health.tries(Retry::by(limits, 0..1), now));
                loop {
                    let (part, kind) = fates.next().unwrap_or_default();
                    let (took, kind) = match kinds.get(kind) {
                        None | Some(Kind::Silent) => (retry.silence(), Kind::Silent),
                        Some(kind) => (retry.silence() * part / 1000, *kind),
                    };
                    now += took;
                    let trouble = Trouble::new(kind, "");
                    match retry.failed(&trouble, now - asked) {
                        Some(wait) => now += wait,
                        None => {
                            health.given_up(&trouble, retry.waited(now - asked), now);
                            break;
                        }
                    }
                }
            }
            prop_assert!(now + OPENING_PATIENCE <= PROMISE, "{now:?}");
        }
    }
}
