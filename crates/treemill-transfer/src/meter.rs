//! Latency and speed of a source, from what its requests see. Time comes in as durations. Knows no clock.

use crate::limits::{IN_FLIGHT, MEMORY, UNKNOWN_ROUND_TRIP};
use std::time::Duration;
use treemill_source::{Costs, Flow};

/// Measures round trip and speed. The round trip is the smallest time from a request to its answer's first byte; the
/// speed is that of all requests together while any are in flight, over some round trips at least.
///
/// ```
/// use std::time::Duration;
/// use treemill_transfer::Meter;
///
/// let second = Duration::from_secs(1);
/// let mut meter = Meter::default();
/// meter.started(second);
/// meter.answered(second / 10);
/// meter.arrived(1_000_000, second + second / 10);
/// assert_eq!(meter.costs().bytes_per_second, None, "one burst tells nothing");
/// meter.arrived(1_000_000, second * 2 + second / 20);
/// assert_eq!(meter.costs().round_trip, second / 10);
/// assert_eq!(meter.costs().bytes_per_second, Some(2e6));
/// ```
#[derive(Debug, Clone, Default)]
pub struct Meter {
    round_trip: Option<Duration>,
    in_flight: usize,
    flow: Flow,
    /// When bytes came last at all.
    seen: Option<Duration>,
    bytes: f64,
    seconds: f64,
}

impl Meter {
    fn round_trip(&self) -> Duration {
        self.round_trip.unwrap_or(UNKNOWN_ROUND_TRIP)
    }

    /// A request is sent.
    pub fn started(&mut self, now: Duration) {
        self.flow.asked(now);
        self.in_flight = self.in_flight.saturating_add(1);
    }

    /// A request has ended, well or not.
    pub fn ended(&mut self) {
        self.in_flight = self.in_flight.saturating_sub(1);
        if self.in_flight == 0 {
            self.flow.idle();
        }
    }

    /// The first byte of an answer came after this time.
    pub fn answered(&mut self, latency: Duration) {
        // A round trip of zero means a near source.
        let latency = latency.max(Duration::from_micros(1));
        self.round_trip = Some(self.round_trip.map_or(latency, |least| least.min(latency)));
    }

    /// Bytes have come.
    #[allow(clippy::cast_precision_loss, clippy::arithmetic_side_effects)]
    pub fn arrived(&mut self, bytes: usize, now: Duration) {
        self.seen = Some(now);
        let round_trip = self.round_trip();
        if let Some((bytes, time)) = self.flow.arrived(bytes as u64, now, round_trip) {
            self.bytes += bytes as f64;
            self.seconds += time.as_secs_f64();
        }
        if self.seconds > 2.0 * MEMORY {
            self.bytes /= 2.0;
            self.seconds /= 2.0;
        }
    }

    /// Whether bytes have come since `then`.
    #[must_use]
    pub fn has_moved_since(&self, then: Duration) -> bool {
        self.seen.is_some_and(|seen| seen > then)
    }

    /// The costs so far. A range is a request, which has one of the places in flight for a round trip.
    #[must_use]
    #[allow(clippy::arithmetic_side_effects)]
    pub fn costs(&self) -> Costs {
        let known = self.seconds > 0.0;
        let far = Costs::far(self.round_trip());
        Costs {
            bytes_per_second: known.then(|| self.bytes / self.seconds),
            range: far.range.max(self.round_trip() / IN_FLIGHT as u32),
            ..far
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    #[test]
    fn a_request_costs_its_part_of_a_round_trip() {
        let mut meter = Meter::default();
        meter.answered(128 * MS);
        assert_eq!(meter.costs().range, 2 * MS);
        meter.answered(MS);
        assert_eq!(meter.costs().range, MS / 5);
    }

    /// Answers that come in one burst tell the round trip, and neither that the source is slow nor that it is fast.
    #[test]
    fn bursts_tell_no_speed() {
        let mut meter = Meter::default();
        for request in 0..200 {
            let begun = MS * (request * 1000);
            meter.started(begun);
            meter.answered(137 * MS);
            meter.arrived(1_000_000, begun + 137 * MS);
            meter.arrived(1_000_000, begun + 138 * MS);
            meter.ended();
        }
        let costs = meter.costs();
        assert_eq!(costs.round_trip, 137 * MS);
        assert_eq!(costs.bytes_per_second, None);
    }

    #[test]
    fn a_speed_that_changes_is_followed() {
        let mut meter = Meter::default();
        meter.started(Duration::ZERO);
        for (speed, from) in [(1_000_000, 0), (4_000_000, 30)] {
            for second in 0..30 {
                meter.arrived(speed, MS * (1000 * (from + second)));
            }
        }
        let speed = meter.costs().bytes_per_second.unwrap_or_default();
        assert!(speed > 3.5e6, "{speed}");
    }

    #[test]
    fn no_speed_is_told_of_little() {
        let mut meter = Meter::default();
        meter.started(Duration::ZERO);
        meter.arrived(1000, MS);
        meter.arrived(1000, 2 * MS);
        assert_eq!(meter.costs().bytes_per_second, None);
        assert!(!meter.has_moved_since(2 * MS) && meter.has_moved_since(MS));
    }
}
