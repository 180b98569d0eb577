//! Whether a server was silent a moment ago: pure, times are given. Knows no request.

use crate::limits::{ANSWERING, DOUBT};
use crate::retry::Retry;
use crate::{Kind, Trouble};
use std::ops::Range;
use std::time::Duration;

/// What is known of one server's silence, over all of its files.
#[derive(Debug, Default)]
pub(crate) struct Health {
    /// When it was given up last because it was silent, and nothing was heard since.
    silent: Option<Duration>,
    /// When it was given up last, and why, if nothing was heard since.
    lost: Option<(Duration, Trouble)>,
    /// When its last bytes came, if any ever did.
    heard: Option<Duration>,
}

impl Health {
    /// Bytes of the server have come.
    pub(crate) fn heard(&mut self, now: Duration) {
        (self.silent, self.lost, self.heard) = (None, None, Some(now));
    }

    /// The server was given up for this reason: it is lost, unless it answers others.
    pub(crate) fn given_up(&mut self, why: &Trouble, now: Duration) {
        if why.kind == Kind::Silent {
            self.silent = Some(now);
        }
        if !self.answers(now) {
            self.lost = Some((now, why.clone()));
        }
    }

    /// Why the server was given up since then, if it was, and has said nothing after that.
    pub(crate) fn lost_since(&self, then: Duration) -> Option<Trouble> {
        let (when, why) = self.lost.as_ref()?;
        (*when >= then).then(|| why.clone())
    }

    /// Whether bytes of the server came a moment ago.
    pub(crate) fn answers(&self, now: Duration) -> bool {
        let heard = self.heard.map(|heard| now.saturating_sub(heard));
        heard.is_some_and(|heard| heard < ANSWERING)
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
