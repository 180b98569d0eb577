//! What a connection costs, measured as it goes. Pure: times are given.

use crate::limits;
use std::time::Duration;
use treemill_source::{Flow, Growth};

/// Round trip and speed, from what was seen of one connection.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Meter {
    round_trip: Duration,
    speed: Option<f64>,
    flow: Flow,
    growth: Growth,
    /// Whether no answer is due.
    is_idle: bool,
}

impl Meter {
    /// A connection whose set-up took `connect`, which is one round trip.
    pub(crate) fn new(connect: Duration) -> Self {
        Meter {
            round_trip: connect,
            speed: None,
            flow: Flow::default(),
            growth: Growth::default(),
            is_idle: true,
        }
    }

    /// The shortest time from a small request to its answer; never zero, which would be a local file's.
    pub(crate) fn round_trip(&self) -> Duration {
        self.round_trip.max(Duration::from_micros(1))
    }

    /// Bytes per second while answers flow, if enough has flowed for long enough to say.
    pub(crate) fn speed(&self) -> Option<f64> {
        self.speed
    }

    /// Requests are sent.
    pub(crate) fn asked(&mut self, now: Duration) {
        self.flow.asked(now);
        if std::mem::take(&mut self.is_idle) {
            self.growth.asked(now, self.round_trip());
        }
    }

    /// Bytes that the next round trip brings.
    pub(crate) fn window(&self) -> u64 {
        self.growth.window()
    }

    /// An answer with `bytes` of data came `after` its request was sent.
    pub(crate) fn answered(&mut self, bytes: usize, after: Duration) {
        if bytes <= limits::SMALL_ANSWER {
            self.round_trip = self.round_trip.min(after);
        }
    }

    /// Bytes came; `is_idle`: no answer is due after them.
    pub(crate) fn received(&mut self, bytes: usize, now: Duration, is_idle: bool) {
        let bytes_came = u64::try_from(bytes).unwrap_or(u64::MAX);
        if let Some((bytes, time)) = self.flow.arrived(bytes_came, now, self.round_trip()) {
            self.learn(bytes, time);
        }
        self.growth.arrived(bytes_came, now);
        if is_idle {
            self.is_idle = true;
            self.flow.idle();
        }
    }

    /// More speed than was seen before is believed at once: the window of a connection grows. Less speed counts a fifth,
    /// because the caller may have asked for little at a time.
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

    /// A window of 2 MB that comes at once each 100 ms is 20 MB/s, and not what the last cable does.
    #[test]
    fn a_burst_tells_no_speed_and_bursts_tell_theirs() {
        let mut meter = Meter::new(at(100));
        meter.asked(at(0));
        meter.received(1_000_000, at(100), false);
        meter.received(1_000_000, at(101), false);
        assert_eq!(meter.speed(), None);
        for trip in 2..20 {
            meter.received(1_000_000, at(100 * trip), false);
            meter.received(1_000_000, at(100 * trip + 1), false);
        }
        let speed = meter.speed().unwrap();
        assert!((18e6..23e6).contains(&speed), "{speed}");
    }

    #[test]
    fn more_speed_is_believed_at_once_and_less_slowly() {
        let mut meter = Meter::new(at(2));
        let mut speeds = Vec::new();
        meter.asked(at(0));
        for (now, bytes) in [(1001, 10 << 20), (2001, 20 << 20), (3001, 10 << 20)] {
            meter.received(bytes, at(now), false);
            speeds.push(meter.speed().unwrap() / f64::from(1 << 20));
        }
        assert_eq!(speeds, [10.0, 20.0, 18.0]);
    }
}
