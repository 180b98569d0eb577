//! How much one source is asked for at once: enough that it never waits for a question, and not more, so that what it has
//! no time for can still be asked of another one. Pure: times are given. Knows no requests.

use crate::replicas::limits::{
    BLIND_FLIGHT, FULL, LEAST_FLIGHT, LEAST_SAMPLE, LEAST_TIME, MOST_FLIGHT, PACES, PAIR, PART,
};
use std::collections::VecDeque;
use std::ops::Range;
use std::time::Duration;

/// The speed of a source, as far as it was seen while there was always something to ask for.
#[derive(Debug, Clone, Default)]
pub(crate) struct Pace {
    /// When a sample began, and what has come since.
    sample: Option<(Duration, u64)>,
    /// Bytes and seconds of the last samples, the newest first. When the connection has got faster, only that one and the
    /// one before it.
    samples: VecDeque<(u64, f64)>,
    /// The fastest of all pairs of samples.
    fastest: f64,
    /// Whether the last pair was not much faster than all before: the connection is as fast as it will be.
    is_steady: bool,
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
        let trips = if self.is_steady { 2.0 } else { 1.0 };
        if seconds < (trips * round_trip).max(LEAST_SAMPLE) {
            return;
        }
        self.samples.push_front((sum, seconds));
        self.samples.truncate(PACES);
        // Behind a packet that was lost bytes pile up, and come together: of a pair of samples that says little.
        let speed = self.speed_of(0..PAIR);
        self.is_steady = speed <= FULL * self.fastest;
        if !self.is_steady {
            self.samples.truncate(PAIR);
        }
        self.fastest = self.fastest.max(speed);
        self.sample = Some((now, 0));
    }

    /// There is nothing more to ask for: how fast bytes come says nothing of the source.
    pub(crate) fn paused(&mut self) {
        self.sample = None;
    }

    /// Bytes per second of some samples, of which 0 is the newest one.
    fn speed_of(&self, which: Range<usize>) -> f64 {
        let some = self.samples.iter().skip(which.start).take(which.len());
        let (bytes, seconds) = some.fold((0.0, 0.0), |(bytes, seconds), sample| {
            (bytes + sample.0 as f64, seconds + sample.1)
        });
        if seconds > 0.0 { bytes / seconds } else { 0.0 }
    }

    /// Bytes that may be in flight: two products of bandwidth and delay, for what is more waits at the narrowest place of
    /// the way, and is lost there when its queue is full. While the connection still gets faster, as many times more as
    /// it just did.
    pub(crate) fn limit(&self, round_trip: f64) -> u64 {
        let limit = match self.is_steady {
            true => {
                let speed = self.speed_of(0..PACES);
                (2.0 * speed * round_trip).max((speed * LEAST_TIME).min(LEAST_FLIGHT as f64))
            }
            false => {
                let (newest, before) = (self.speed_of(0..1), self.speed_of(1..PAIR));
                let grows = (newest / before.max(1.0)).clamp(1.0, 2.0);
                (2.0 * grows * newest * round_trip).max(BLIND_FLIGHT as f64)
            }
        };
        (limit as u64).clamp(PART, MOST_FLIGHT)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::arithmetic_side_effects)]
mod tests {
    use super::*;

    const TRIP: f64 = 0.137;

    /// The pace after some round trips of a connection of this speed, whose window doubles; an answer for each 512 KiB.
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
            assert!(limit >= 0.9 * next, "{limit} after {trips}");
        }
    }

    #[test]
    fn pauses_say_nothing() {
        let mut pace = after(60, 20e6);
        pace.paused();
        let before = pace.limit(TRIP);
        for second in 100..200 {
            pace.flowed(1000, TRIP, Duration::from_secs(second));
            pace.paused();
        }
        assert_eq!(pace.limit(TRIP), before);
    }
    /// Half a second without a byte, for one of them was lost, and then all that has piled up after it.
    #[test]
    fn what_comes_together_is_not_taken_for_speed() {
        let mut pace = after(60, 20e6);
        let expected = pace.limit(TRIP);
        let mut now = Duration::from_secs_f64(60.0 * TRIP);
        for _ in 0..20 {
            for (millis, bytes) in [(500, 0_u64), (140, 12_800_000), (360, 7_200_000)] {
                let parts = bytes.div_ceil(524_288);
                for part in 1..=parts {
                    let share = f64::from(u32::try_from(part).unwrap()) / parts as f64;
                    let at = now + Duration::from_millis(millis).mul_f64(share);
                    pace.flowed(bytes / parts, TRIP, at);
                    let limit = pace.limit(TRIP);
                    assert!(limit < expected * 17 / 10, "{limit}, before {expected}");
                }
                now += Duration::from_millis(millis);
            }
        }
        let limit = pace.limit(TRIP);
        assert!(limit > expected / 2, "{limit}, before {expected}");
    }
}
