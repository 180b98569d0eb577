//! The one meter of all that is far: distance, speed and window, from what requests see. It is of one connection or of all that a
//! source reads by; whoever has requests tells it. Pure: times are given. Knows no clock and no protocol.

use crate::limits::{IN_FLIGHT, SLOWER, UNKNOWN_ROUND_TRIP};
use std::time::Duration;
use treemill_source::{Costs, Flow, Growth};

/// Measures round trip, speed and window. The round trip is the least time from a request to its answer's first byte; the
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
    distance: Distance,
    in_flight: usize,
    flow: Flow,
    growth: Growth,
    speed: Option<f64>,
}

/// How answers tell the round trip.
#[derive(Debug, Clone, Copy)]
enum Distance {
    /// By the fastest of them: the network's, whatever the server had to do.
    Least(Option<Duration>),
    /// By their mean, of what was assumed and what they took.
    Typical(Duration),
}

impl Default for Distance {
    fn default() -> Self {
        Distance::Least(None)
    }
}

impl Meter {
    /// A meter whose round trip is the typical time of an answer, and this before the first one.
    #[must_use]
    pub fn typical(assumed: Duration) -> Self {
        Meter {
            distance: Distance::Typical(assumed),
            ..Meter::default()
        }
    }

    /// The round trip so far; never zero, which would be a near source's.
    fn round_trip(&self) -> Duration {
        match self.distance {
            Distance::Least(least) => least.unwrap_or(UNKNOWN_ROUND_TRIP),
            Distance::Typical(mean) => mean,
        }
    }

    /// A request is sent.
    pub fn started(&mut self, now: Duration) {
        self.flow.asked(now);
        if self.in_flight == 0 {
            self.growth.asked(now, self.round_trip());
        }
        self.in_flight = self.in_flight.saturating_add(1);
    }

    /// A request has ended, well or not.
    pub fn ended(&mut self) {
        self.in_flight = self.in_flight.saturating_sub(1);
        if self.in_flight == 0 {
            self.flow.idle();
        }
    }

    /// The first byte of an answer, or all of a small one, came after this time; or the answer to a connection's first packet.
    pub fn answered(&mut self, latency: Duration) {
        let latency = latency.max(Duration::from_micros(1));
        self.distance = match self.distance {
            Distance::Least(least) => {
                Distance::Least(Some(least.map_or(latency, |least| least.min(latency))))
            }
            // An answer counts an eighth.
            Distance::Typical(mean) => {
                let sum = mean.saturating_mul(7).saturating_add(latency);
                Distance::Typical(sum.checked_div(8).unwrap_or(latency))
            }
        };
    }

    /// Bytes have come.
    pub fn arrived(&mut self, bytes: usize, now: Duration) {
        let bytes = u64::try_from(bytes).unwrap_or(u64::MAX);
        if let Some((bytes, time)) = self.flow.arrived(bytes, now, self.round_trip()) {
            self.learn(bytes, time);
        }
        self.growth.arrived(bytes, now);
    }

    /// More speed than was seen before is believed at once: the window of a connection grows. Less speed counts a part,
    /// because the caller may have asked for little at a time.
    #[allow(clippy::cast_precision_loss)]
    fn learn(&mut self, bytes: u64, time: Duration) {
        let seen = bytes as f64 / time.as_secs_f64().max(1e-6);
        let slower = |speed: f64| (1.0 - SLOWER) * speed + SLOWER * seen;
        self.speed = Some(self.speed.map_or(seen, |speed| slower(speed).max(seen)));
    }

    /// The costs so far, if one connection brings everything. A range is a request, which has one of the places in flight for a
    /// round trip; a protocol whose requests hold many ranges, or whose sources share connections, says so in place of it.
    #[must_use]
    pub fn costs(&self) -> Costs {
        let far = Costs::far(self.round_trip());
        let place = u32::try_from(IN_FLIGHT).ok();
        let place = place.and_then(|places| self.round_trip().checked_div(places));
        Costs {
            bytes_per_second: self.speed,
            window: self.growth.window(),
            range: far.range.max(place.unwrap_or_default()),
            ..far
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::float_cmp)]
mod tests {
    use super::*;

    fn at(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    fn speed(meter: &Meter) -> Option<f64> {
        meter.costs().bytes_per_second
    }

    #[test]
    fn a_request_costs_its_part_of_a_round_trip() {
        let mut meter = Meter::default();
        meter.answered(at(128));
        assert_eq!(meter.costs().range, at(2));
        meter.answered(at(1));
        assert_eq!(meter.costs().range, Duration::from_micros(200));
    }

    #[test]
    fn the_least_time_of_answers_is_the_round_trip_and_never_zero() {
        let mut meter = Meter::default();
        for (answer, round_trip) in [(150, at(150)), (200, at(150)), (137, at(137))] {
            meter.answered(at(answer));
            assert_eq!(meter.costs().round_trip, round_trip);
        }
        meter.answered(Duration::ZERO);
        assert!(!meter.costs().is_near());
    }

    #[test]
    fn the_typical_time_of_answers_is_their_mean() {
        let mut meter = Meter::typical(at(2));
        assert_eq!(meter.costs().round_trip, at(2));
        (0..50).for_each(|_| meter.answered(at(20)));
        meter.answered(at(1));
        let trip = meter.costs().round_trip;
        assert!((at(17)..at(19)).contains(&trip), "{trip:?}");
    }

    /// Answers that come in one burst tell the round trip, and neither that the source is slow nor that it is fast.
    #[test]
    fn bursts_tell_no_speed() {
        let mut meter = Meter::default();
        for request in 0..200 {
            let begun = at(request * 1000);
            meter.started(begun);
            meter.answered(at(137));
            meter.arrived(1_000_000, begun + at(137));
            meter.arrived(1_000_000, begun + at(138));
            meter.ended();
        }
        assert_eq!(meter.costs().round_trip, at(137));
        assert_eq!(speed(&meter), None);
    }

    /// A window of 2 MB that comes at once each 100 ms is 20 MB/s, and not what the last cable does.
    #[test]
    fn bursts_that_follow_one_another_tell_their_speed() {
        let mut meter = Meter::default();
        meter.answered(at(100));
        meter.started(at(0));
        for trip in 1..20 {
            meter.arrived(1_000_000, at(100 * trip));
            meter.arrived(1_000_000, at(100 * trip + 1));
        }
        let speed = speed(&meter).unwrap();
        assert!((18e6..23e6).contains(&speed), "{speed}");
    }

    #[test]
    fn more_speed_is_believed_at_once_and_less_slowly() {
        let (mut meter, mut speeds) = (Meter::default(), Vec::new());
        meter.answered(at(2));
        meter.started(at(0));
        for (now, bytes) in [(1001, 10 << 20), (2001, 20 << 20), (3001, 10 << 20)] {
            meter.arrived(bytes, at(now));
            speeds.push(speed(&meter).unwrap() / f64::from(1 << 20));
        }
        assert_eq!(speeds, [10.0, 20.0, 18.0]);
        for second in 4..30 {
            meter.arrived(10 << 20, at(1000 * second + 1));
        }
        let speed = speed(&meter).unwrap();
        assert!(speed < 10.1 * f64::from(1 << 20), "{speed}");
    }

    /// A window is that of a connection in use: after a long silence it is a new one's.
    #[test]
    fn the_window_grows_with_what_comes_and_is_small_after_a_silence() {
        let mut meter = Meter::default();
        meter.answered(at(100));
        let new = meter.costs().window;
        meter.started(at(0));
        meter.arrived(1_000_000, at(100));
        let wide = meter.costs().window;
        assert!(wide >= 1_000_000);
        meter.started(at(60_000));
        assert_eq!(meter.costs().window, wide, "an answer is due all the time");
        meter.ended();
        meter.ended();
        meter.started(at(120_000));
        assert_eq!(meter.costs().window, new);
    }

    #[test]
    fn no_speed_is_told_of_little() {
        let mut meter = Meter::default();
        meter.started(Duration::ZERO);
        meter.arrived(1000, at(1));
        meter.arrived(1000, at(2));
        assert_eq!(speed(&meter), None);
    }
}
