//! How fast bytes flow from a server, from when they were asked for and when they came. Pure: times are given.

use crate::limits::{FLOW_BYTES, FLOW_TRIPS};
use std::time::Duration;

/// Samples of the speed of a flow. It begins when something is asked for while nothing is due, and ends when nothing is.
///
/// ```
/// use std::time::Duration;
/// use treemill_source::Flow;
///
/// let trip = Duration::from_millis(100);
/// let mut flow = Flow::default();
/// flow.asked(Duration::ZERO);
/// let samples = (1..=4).filter_map(|n| flow.arrived(10 << 20, trip * n, trip));
/// let (bytes, time) = samples.last().unwrap();
/// assert_eq!(bytes, 40 << 20);
/// assert_eq!(time, trip * 7 / 2, "half a round trip is the way of the question");
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Flow(Option<Sample>);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Sample {
    began: Duration,
    bytes: u64,
    /// Whether it began with a question, and not in the middle of an answer.
    is_first: bool,
}

impl Flow {
    /// Something is asked for. Bytes may be due already.
    pub fn asked(&mut self, now: Duration) {
        let (began, bytes, is_first) = (now, 0, true);
        self.0.get_or_insert(Sample {
            began,
            bytes,
            is_first,
        });
    }

    /// Bytes came: a sample, if one is complete, as its bytes and its time.
    pub fn arrived(
        &mut self,
        bytes: u64,
        now: Duration,
        round_trip: Duration,
    ) -> Option<(u64, Duration)> {
        let sample = self.0.as_mut()?;
        sample.bytes = sample.bytes.saturating_add(bytes);
        let lasted = now.saturating_sub(sample.began);
        if sample.bytes < FLOW_BYTES || lasted < round_trip.saturating_mul(FLOW_TRIPS) {
            return None;
        }
        let way = match sample.is_first {
            true => round_trip.checked_div(2).unwrap_or_default(),
            false => Duration::ZERO,
        };
        let whole = (sample.bytes, lasted.saturating_sub(way));
        let (began, bytes, is_first) = (now, 0, false);
        self.0 = Some(Sample {
            began,
            bytes,
            is_first,
        });
        Some(whole)
    }

    /// Nothing is due any more.
    pub fn idle(&mut self) {
        self.0 = None;
    }
}

#[cfg(test)]
#[allow(
    clippy::arithmetic_side_effects,
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss
)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const TRIP: Duration = Duration::from_millis(137);

    /// Speeds that samples tell of `bytes` over a connection of this speed whose window grows from the usual first one:
    /// each round trip brings one window in pieces of 64 KiB.
    fn told(bytes: u64, speed: f64, first: Duration) -> Vec<f64> {
        let (mut flow, mut speeds) = (Flow::default(), Vec::new());
        flow.asked(first);
        let product = (speed * TRIP.as_secs_f64()) as u64;
        let (mut window, mut left, mut trip) = (14_600_u64, bytes, first);
        while left > 0 {
            trip += TRIP;
            // A burst comes at ten times the speed of the whole.
            let (mut now, mut burst) = (trip, window.min(product).min(left));
            left -= burst;
            while burst > 0 {
                let piece = burst.min(64 << 10);
                burst -= piece;
                now += Duration::from_secs_f64(piece as f64 / speed / 10.0);
                if let Some((bytes, time)) = flow.arrived(piece, now, TRIP) {
                    speeds.push(bytes as f64 / time.as_secs_f64());
                }
            }
            window = window.saturating_mul(2);
        }
        speeds
    }

    proptest! {
        /// However much is asked for, no sample tells much more than the link can do.
        #[test]
        fn bursts_are_not_the_speed(bytes in 1_u64..400 << 20, speed in 1e6..1e9_f64) {
            for told in told(bytes, speed, Duration::ZERO) {
                prop_assert!(told < 1.3 * speed, "{told} of {speed}");
            }
        }
    }

    #[test]
    fn a_long_flow_tells_the_links_speed() {
        for speed in [5e6, 20e6, 100e6] {
            let told = told((speed * 20.0) as u64, speed, Duration::from_secs(7));
            let last = told.last().copied().unwrap_or_default();
            assert!((0.75..1.25).contains(&(last / speed)), "{last} of {speed}");
        }
    }

    #[test]
    fn little_tells_nothing() {
        assert!(told(500_000, 1e9, Duration::ZERO).is_empty());
        assert!(told(3 << 20, 1e9, Duration::ZERO).len() <= 1);
    }

    #[test]
    fn idle_times_do_not_count() {
        let (mut flow, ms) = (Flow::default(), Duration::from_millis(1));
        for second in 0..10 {
            let begun = Duration::from_secs(second);
            flow.asked(begun);
            flow.asked(begun + ms);
            assert_eq!(flow.arrived(1 << 19, begun + 50 * ms, ms), None);
            let (bytes, time) = flow
                .arrived(1 << 19, begun + 100 * ms, ms)
                .unwrap_or_default();
            assert_eq!((bytes, time.as_millis()), (1 << 20, 99));
            flow.idle();
            assert_eq!(flow.arrived(9 << 20, begun + 200 * ms, ms), None, "unasked");
        }
    }
}
