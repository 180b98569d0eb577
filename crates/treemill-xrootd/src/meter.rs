//! What a connection costs, measured as it goes. Pure: times are given.

use crate::limits;
use std::time::Duration;

/// Round trip and speed, from what was seen of one connection.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Meter {
    round_trip: Duration,
    speed: Option<f64>,
    /// When the present sample began, and its bytes since.
    sample: Option<(Duration, u64)>,
}

impl Meter {
    /// A connection whose set-up took `connect`, which is one round trip.
    pub(crate) fn new(connect: Duration) -> Self {
        Meter {
            round_trip: connect,
            speed: None,
            sample: None,
        }
    }

    /// The shortest time from a small request to its answer; never zero, which would be a local file's.
    pub(crate) fn round_trip(&self) -> Duration {
        self.round_trip.max(Duration::from_micros(1))
    }

    /// Bytes per second while answers flow, if enough has flowed to say.
    pub(crate) fn speed(&self) -> Option<f64> {
        self.speed
    }

    /// An answer with `bytes` of data came `after` its request was sent.
    pub(crate) fn answered(&mut self, bytes: usize, after: Duration) {
        if bytes <= limits::SMALL_ANSWER {
            self.round_trip = self.round_trip.min(after);
        }
    }

    /// Bytes came; `is_idle`: no answer is due after them.
    pub(crate) fn received(&mut self, bytes: usize, now: Duration, is_idle: bool) {
        let bytes = u64::try_from(bytes).unwrap_or(u64::MAX);
        // The first bytes open a sample and do not count: what precedes them is the round trip.
        let sample = self
            .sample
            .map(|(began, sum)| (began, sum.saturating_add(bytes)));
        self.sample = Some(sample.unwrap_or((now, 0)));
        if let Some((began, sum)) = sample
            && sum >= limits::SAMPLE
        {
            self.learn(sum, now.saturating_sub(began));
            self.sample = Some((now, 0));
        }
        if is_idle {
            self.sample = None;
        }
    }

    /// More speed than was seen before is believed at once. Less may be the caller's, who asks for little at a time, so
    /// it counts a fifth.
    #[allow(clippy::cast_precision_loss)]
    fn learn(&mut self, bytes: u64, time: Duration) {
        let seen = bytes as f64 / time.as_secs_f64().max(1e-6);
        let slower = |speed: f64| 0.8 * speed + 0.2 * seen;
        self.speed = Some(self.speed.map_or(seen, |speed| slower(speed).max(seen)));
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::float_cmp)]
mod tests {
    use super::*;

    fn at(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    #[test]
    fn the_shortest_time_of_small_answers_is_the_round_trip() {
        let mut meter = Meter::new(at(150));
        meter.answered(100, at(200));
        assert_eq!(meter.round_trip(), at(150));
        meter.answered(100, at(137));
        meter.answered(10 << 20, at(1));
        assert_eq!(meter.round_trip(), at(137));
        meter.answered(0, at(0));
        assert!(!meter.round_trip().is_zero());
    }

    #[test]
    fn speed_is_that_of_bytes_after_the_first() {
        let mut meter = Meter::new(at(1));
        meter.received(1 << 20, at(137), false);
        assert_eq!(
            meter.speed(),
            None,
            "the first bytes tell the round trip only"
        );
        meter.received(4 << 20, at(1137), false);
        assert_eq!(meter.speed(), Some(f64::from(4 << 20)));
    }

    #[test]
    fn idle_times_do_not_count() {
        let mut meter = Meter::new(at(1));
        for second in 0..100 {
            meter.received(1 << 20, at(second * 1000), false);
            meter.received(1 << 20, at(second * 1000 + 100), true);
        }
        assert_eq!(meter.speed().map(f64::round), Some(f64::from(10 << 20)));
    }

    #[test]
    fn more_speed_is_believed_at_once_and_less_slowly() {
        let mut meter = Meter::new(at(1));
        let mut speeds = Vec::new();
        meter.received(1, at(0), false);
        for (now, bytes) in [(1000, 10 << 20), (2000, 20 << 20), (3000, 10 << 20)] {
            meter.received(bytes, at(now), false);
            speeds.push(meter.speed().unwrap() / f64::from(1 << 20));
        }
        assert_eq!(speeds, [10.0, 20.0, 18.0]);
    }
}
