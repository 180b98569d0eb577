//! Whether a server was silent a moment ago: pure, times are given. Knows no request.

use crate::limits::DOUBT;
use crate::trial::Trial;
use std::ops::Range;
use std::time::Duration;

/// What is known of one server's silence, over all of its files.
#[derive(Debug, Default)]
pub(crate) struct Health {
    /// When it was given up last because it was silent, and nothing was heard since.
    silent: Option<Duration>,
    /// Whether it has ever answered.
    is_known: bool,
}

impl Health {
    /// The server has answered.
    pub(crate) fn heard(&mut self) {
        (self.silent, self.is_known) = (None, true);
    }

    /// The server was given up because it was silent.
    pub(crate) fn silent(&mut self, now: Duration) {
        self.silent = Some(now);
    }

    /// How a range of one of its files is to be tried for.
    pub(crate) fn trial(&self, range: Range<u64>, now: Duration) -> Trial {
        let since = self.silent.map(|since| now.saturating_sub(since));
        let trial = match since.is_some_and(|since| since < DOUBT) {
            true => Trial::doubtful(range),
            false => Trial::new(range),
        };
        match self.is_known {
            true => trial,
            false => trial.at_a_stranger(),
        }
    }
}

#[cfg(test)]
#[allow(clippy::arithmetic_side_effects)]
mod tests {
    use super::*;
    use crate::limits::SILENCE;
    use crate::trouble::{Kind, Trouble};

    /// How long a server that says nothing is tried for.
    fn silent(mut trial: Trial) -> Duration {
        let trouble = Trouble::new(Kind::Silent, "nothing came");
        let mut now = trial.silence();
        while let Some(wait) = trial.failed(&trouble, now) {
            now += wait + trial.silence();
        }
        now
    }

    /// A file's state is asked for, then again, then the file is opened: one after the other, of a server that is silent.
    /// Without the memory of it this takes as many times as long as one of them.
    #[test]
    fn calls_one_after_the_other_give_a_silent_server_up_within_thirty_seconds() {
        let (mut health, mut now) = (Health::default(), Duration::ZERO);
        for _ in 0..4 {
            now += silent(health.trial(0..1, now));
            health.silent(now);
        }
        assert!(now < Duration::from_secs(30), "{now:?}");
        health.heard();
        assert_eq!(health.trial(0..1, now).silence(), SILENCE);
        health.silent(now);
        let later = now + DOUBT;
        assert_eq!(health.trial(0..1, later).silence(), SILENCE);
    }
}
