//! The one record of who is ill: when something has failed, why, and whether it was heard since. It is of a server over all of its
//! files, of one source, of one session or of one address; whoever asks keeps it. Pure: times are given. Knows no request.

use crate::limits::{ANSWERING, DOUBT};
use crate::retry::Retry;
use crate::{Kind, Trouble};
use std::ops::Range;
use std::time::Duration;

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
    /// When it was given up last because it was silent, and nothing was heard since.
    silent: Option<Duration>,
    /// When it failed last, and why, if nothing was heard since.
    lost: Option<(Duration, W)>,
    /// When its last bytes came, if any ever did.
    heard: Option<Duration>,
}

impl<W> Default for Health<W> {
    fn default() -> Self {
        Health {
            silent: None,
            lost: None,
            heard: None,
        }
    }
}

impl<W: Clone> Health<W> {
    /// Its bytes have come.
    pub fn heard(&mut self, now: Duration) {
        (self.silent, self.lost, self.heard) = (None, None, Some(now));
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
    /// The server was given up for this reason: it is lost, unless it answers others.
    pub(crate) fn given_up(&mut self, why: &Trouble, now: Duration) {
        if why.kind == Kind::Silent {
            self.silent = Some(now);
        }
        if !self.answers(now) {
            self.failed(why.clone(), now);
        }
    }

    /// How a range of one of its files is to be tried for.
    pub(crate) fn retry(&self, range: Range<u64>, now: Duration) -> Retry {
        let since = self.silent.map(|since| now.saturating_sub(since));
        let retry = match since.is_some_and(|since| since < DOUBT) {
            true => Retry::doubtful(range),
            false => Retry::new(range),
        };
        match self.heard {
            Some(_) => retry,
            None => retry.at_a_stranger(),
        }
    }
}

#[cfg(test)]
#[allow(clippy::arithmetic_side_effects)]
mod tests {
    use super::*;
    use crate::limits::SILENCE;

    fn trouble() -> Trouble {
        Trouble::new(Kind::Silent, "nothing came")
    }

    #[test]
    fn a_server_is_lost_until_it_is_heard() {
        let (mut health, second) = (Health::default(), Duration::from_secs(1));
        health.given_up(&trouble(), 2 * second);
        assert_eq!(health.lost_since(second), Some(trouble()));
        assert_eq!(health.lost_since(3 * second), None);
        health.heard(4 * second);
        assert_eq!(health.lost_since(second), None);
        health.given_up(&trouble(), 5 * second);
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

    /// A file's state is asked for, then again, then the file is opened: one after the other, of a server that is silent.
    /// Without the memory of it this takes as many times as long as one of them.
    #[test]
    fn calls_one_after_the_other_give_a_silent_server_up_within_thirty_seconds() {
        let (mut health, mut now) = (Health::default(), Duration::ZERO);
        for _ in 0..4 {
            now += silent(health.retry(0..1, now));
            health.given_up(&trouble(), now);
        }
        assert!(now < Duration::from_secs(30), "{now:?}");
        health.heard(now);
        assert_eq!(health.retry(0..1, now).silence(), SILENCE);
        health.given_up(&trouble(), now);
        let later = now + DOUBT;
        assert_eq!(health.retry(0..1, later).silence(), SILENCE);
    }
}
