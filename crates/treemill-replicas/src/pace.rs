//! How much one source is asked for at once: enough that it never waits for a question, and not more, so that what it has
//! no time for can still be asked of another one. Pure: times are given. Knows no requests.

use crate::limits::{
    BLIND_FLIGHT, FULL, LEAST_FLIGHT, LEAST_SAMPLE, LEAST_TIME, MOST_FLIGHT, PACES, PART, STEADY,
};
use std::collections::VecDeque;
use std::time::Duration;

/// The speed of a source, as far as it was seen while there was always something to ask for.
#[derive(Debug, Clone, Default)]
pub(crate) struct Pace {
    /// When a sample began, and what has come since.
    sample: Option<(Duration, u64)>,
    /// Bytes per second of the last samples, the newest first.
    speeds: VecDeque<f64>,
    /// Samples since one that was much faster than all before.
    steady: usize,
}

#[allow(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss
)]
impl Pace {
    /// Bytes came while others were waited for. A far connection brings a window of bytes each round trip, all at once: a
    /// sample lasts one while the window grows, then two.
    pub(crate) fn flowed(&mut self, bytes: u64, round_trip: f64, now: Duration) {
        let Some((began, sum)) = self.sample else {
            self.sample = Some((now, 0));
            return;
        };
        let sum = sum.saturating_add(bytes);
        self.sample = Some((began, sum));
        let seconds = now.saturating_sub(began).as_secs_f64();
        let trips = if self.is_steady() { 2.0 } else { 1.0 };
        if seconds < (trips * round_trip).max(LEAST_SAMPLE) {
            return;
        }
        let speed = sum as f64 / seconds;
        self.steady = match speed > FULL * self.fastest() {
            true => 0,
            false => self.steady.saturating_add(1),
        };
        self.speeds.truncate(PACES.saturating_sub(1));
        self.speeds.push_front(speed);
        self.sample = Some((now, 0));
    }

    /// There is nothing more to ask for: how fast bytes come says nothing of the source.
    pub(crate) fn paused(&mut self) {
        self.sample = None;
    }

    /// Whether the connection is as fast as it will be.
    fn is_steady(&self) -> bool {
        self.steady >= STEADY
    }

    fn fastest(&self) -> f64 {
        self.speeds.iter().copied().fold(0.0, f64::max)
    }

    /// Bytes that may be in flight: two products of bandwidth and delay; four of them while the connection still gets
    /// faster, whose window doubles each round trip.
    pub(crate) fn limit(&self, round_trip: f64) -> u64 {
        let speed = self.fastest();
        let product = speed * round_trip;
        let limit = match self.is_steady() {
            true => (2.0 * product).max((speed * LEAST_TIME).min(LEAST_FLIGHT as f64)),
            false => (4.0 * product).max(BLIND_FLIGHT as f64),
        };
        (limit as u64).clamp(PART, MOST_FLIGHT)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TRIP: f64 = 0.137;

    /// After so many round trips of a connection of this speed, whose window doubles; an answer for each 512 KiB.
    fn after(trips: u32, speed: f64) -> Pace {
        let mut pace = Pace::default();
        let mut window = 60_000.0_f64;
        let mut here = 0.0;
        for trip in 1..=trips {
            here += window;
            let now = Duration::from_secs_f64(f64::from(trip) * TRIP);
            while here >= 524_288.0 {
                here -= 524_288.0;
                pace.flowed(524_288, TRIP, now);
            }
            window = (2.0 * window).min(speed * TRIP);
        }
        pace
    }

    #[test]
    fn a_known_source_has_two_products_in_flight() {
        for (speed, expected) in [(5e6, 2e6..3e6), (20e6, 5e6..6.5e6), (100e6, 27e6..32e6)] {
            let limit = after(60, speed).limit(TRIP) as f64;
            assert!(expected.contains(&limit), "{limit} at {speed}");
        }
    }

    #[test]
    fn a_new_connection_is_not_held_back() {
        for trips in 1..12 {
            let next = 60_000.0 * f64::from(1 << trips);
            let next = next.min(100e6 * TRIP);
            let limit = after(trips, 100e6).limit(TRIP) as f64;
            assert!(limit >= next, "{limit} after {trips}");
        }
    }

    #[test]
    fn pauses_say_nothing() {
        let mut pace = after(60, 20e6);
        let before = pace.limit(TRIP);
        for second in 100..200 {
            pace.flowed(1000, TRIP, Duration::from_secs(second));
            pace.paused();
        }
        assert_eq!(pace.limit(TRIP), before);
    }
}
