//! What it costs to read from a source now. Data only; what stays is in `identity.rs`.

use crate::limits::{
    BLIND_GAP, BLIND_OVER_READ, BLIND_RANGE, FIRST_WINDOW, HELD, LEAST_AHEAD, MOST_AHEAD,
    MOST_GAP_SPEED, MOST_RANGE,
};
use std::time::Duration;

/// The costs of reading from a source. They decide which ranges are read as one, and how far ahead a reader asks.
///
/// ```
/// use std::time::Duration;
/// use treemill_source::Costs;
///
/// let ocean = Costs { bytes_per_second: Some(20e6), ..Costs::far(Duration::from_millis(137)) };
/// assert!(Costs::NEAR.is_near() && !ocean.is_near());
/// // Two products of bandwidth and delay, or the least that keeps a reader busy.
/// assert_eq!(ocean.ahead(), 16 << 20);
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Costs {
    /// Time from a request to its first byte; zero for memory and local files, which are read when they are needed.
    pub round_trip: Duration,
    /// Bytes per second of all requests in flight together, once they flow; `None` if it has not been seen yet.
    pub bytes_per_second: Option<f64>,
    /// Bytes that come in the next round trip, of all connections together; each later one brings twice as many, up to
    /// the speed ([`Growth`](crate::Growth)).
    pub window: u64,
    /// Time that one more range costs, beside its bytes.
    pub range: Duration,
    /// Bytes of one range at most: larger ones are better asked for in parts.
    pub most_bytes: u64,
    /// Bytes that were asked for over the same connections and have not come, for whatever file; 0 if that is not known.
    pub due: u64,
    /// Whether the connection to the server is lost for now: what was asked for comes if and when there is a new one. Another
    /// source of the same file can be asked meanwhile.
    pub is_lost: bool,
}

impl Costs {
    /// Memory and local files.
    pub const NEAR: Costs = Costs {
        round_trip: Duration::ZERO,
        bytes_per_second: None,
        window: u64::MAX,
        range: Duration::ZERO,
        most_bytes: u64::MAX,
        due: 0,
        is_lost: false,
    };

    /// A source that answers after `round_trip`, and of which nothing else is known yet.
    #[must_use]
    pub const fn far(round_trip: Duration) -> Self {
        Costs {
            round_trip,
            bytes_per_second: None,
            window: FIRST_WINDOW,
            range: BLIND_RANGE,
            most_bytes: MOST_RANGE,
            due: 0,
            is_lost: false,
        }
    }

    /// Whether ranges are best read one by one, when they are needed.
    #[must_use]
    pub fn is_near(&self) -> bool {
        self.round_trip.is_zero()
    }

    /// Bytes between two ranges up to which it is cheaper to read them, too, than to ask for two ranges, among ranges that
    /// have `bytes` in all. While the speed is not known, it is what `bytes` take over connections that are new. None where a
    /// range costs nothing beside its bytes.
    ///
    /// ```
    /// use std::time::Duration;
    /// use treemill_source::Costs;
    ///
    /// let far = Costs::far(Duration::from_millis(20));
    /// assert_eq!(far.gap(1 << 20), 32 << 10);
    /// assert_eq!(Costs { range: Duration::ZERO, ..far }.gap(1 << 20), 0);
    /// let requests = Costs { range: far.round_trip / 64, bytes_per_second: Some(100e6), ..far };
    /// assert_eq!(requests.gap(1 << 20), 31_250);
    /// ```
    #[must_use]
    pub fn gap(&self, bytes: u64) -> u64 {
        if self.range.is_zero() {
            return 0;
        }
        let at = |speed: f64| in_bytes(speed.min(MOST_GAP_SPEED) * self.range.as_secs_f64());
        match self.bytes_per_second {
            Some(speed) => at(speed),
            None => at(self.growing(bytes)).max(BLIND_GAP),
        }
    }

    /// The speed at which connections that are new bring `bytes`, in bytes per second.
    #[allow(clippy::cast_precision_loss)]
    fn growing(&self, bytes: u64) -> f64 {
        // Of no bytes at all, too: one byte takes as long as any other of the first window.
        let bytes = bytes.max(1);
        bytes as f64 / (self.trips(bytes) * self.round_trip.as_secs_f64())
    }

    /// Bytes between ranges that may be read with them, if the ranges have `bytes` in all. While the speed is not known, it
    /// is not known either what they cost; where a range is a request of its own, no more is read than is wanted.
    #[must_use]
    pub fn over_read(&self, bytes: u64) -> u64 {
        match self.bytes_per_second {
            _ if self.range > BLIND_RANGE => bytes.max(BLIND_OVER_READ),
            Some(_) => u64::MAX,
            None => BLIND_OVER_READ,
        }
    }

    /// Round trips in which a number of bytes comes, beyond the one before the first byte: while connections are
    /// new, each brings twice as many bytes as the one before; later each brings what the speed allows. Within a round
    /// trip, bytes come evenly.
    ///
    /// ```
    /// use std::time::Duration;
    /// use treemill_source::Costs;
    ///
    /// let new = Costs::far(Duration::from_millis(100));
    /// assert_eq!(new.trips(14_600 * 7), 3.0); // 1 + 2 + 4 windows
    /// let fast = Costs { window: 1 << 20, bytes_per_second: Some(20e6), ..new };
    /// assert!((fast.trips(40_000_000) - 20.0).abs() < 1.0);
    /// ```
    #[must_use]
    #[allow(clippy::cast_precision_loss)]
    pub fn trips(&self, bytes: u64) -> f64 {
        let (bytes, window) = (bytes as f64, self.window.max(1) as f64);
        let product = |speed: f64| (speed * self.round_trip.as_secs_f64()).max(window);
        let most = self.bytes_per_second.map_or(f64::INFINITY, product);
        // The round trips of the growth that are over when the last byte comes.
        let growing = (most / window).log2().ceil();
        let over = (bytes / window + 1.0).log2().floor().min(growing);
        let grown = over.exp2();
        over + (bytes - window * (grown - 1.0)) / (window * grown).min(most)
    }

    /// Bytes that should be in flight: two products of bandwidth and delay.
    #[must_use]
    pub fn ahead(&self) -> u64 {
        let both = |speed: f64| in_bytes(2.0 * speed * self.round_trip.as_secs_f64());
        self.bytes_per_second
            .map_or(MOST_AHEAD, both)
            .clamp(LEAST_AHEAD, MOST_AHEAD)
    }

    /// Bytes that may be in flight or wait for their use. What waits is of packets whose other bytes have not come: some
    /// times as much as is in flight on a near link, and no more than that on a far one.
    ///
    /// ```
    /// use std::time::Duration;
    /// use treemill_source::Costs;
    ///
    /// let costs = Costs { bytes_per_second: Some(20e6), ..Costs::far(Duration::from_millis(20)) };
    /// assert_eq!((costs.ahead(), costs.held()), (16 << 20, 64 << 20));
    /// ```
    #[must_use]
    pub fn held(&self) -> u64 {
        self.ahead().saturating_mul(HELD).min(MOST_AHEAD)
    }
}

/// A number of bytes; one that is no number or negative is none.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
fn in_bytes(bytes: f64) -> u64 {
    bytes as u64 // saturates
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn known(window: u64, bytes_per_second: Option<f64>) -> Costs {
        Costs {
            window,
            bytes_per_second,
            ..Costs::far(Duration::from_millis(137))
        }
    }

    #[test]
    fn the_round_trip_that_reaches_the_speed_takes_no_longer_with_more_speed() {
        let (bytes, window, speed) = (818_668_228, 6_411_365, 6_022_478_766.742_745);
        let trips = known(window, Some(speed)).trips(bytes);
        assert!(known(window, Some(speed * 2.0)).trips(bytes) <= trips);
        assert!(known(window, None).trips(bytes) <= trips);
        // Half of the fourth round trip, which brings 8 windows, or 5 of them at this speed.
        assert_eq!(known(1000, None).trips(7000 + 4000), 3.5);
        let capped = Costs {
            round_trip: Duration::from_secs(1),
            ..known(1000, Some(5000.0))
        };
        assert_eq!(capped.trips(7000 + 4000), 3.8);
    }

    #[test]
    fn wide_gaps_are_read_where_each_range_is_a_request() {
        let far = known(64 * FIRST_WINDOW, None);
        let requests = Costs {
            range: far.round_trip / 64,
            ..far
        };
        // 30 MB come in five round trips: 6 MB in each, of which a request is a sixty-fourth.
        let gap = requests.gap(30_000_000);
        assert!((90_000..100_000).contains(&gap), "{gap}");
        assert_eq!(requests.over_read(30_000_000), 30_000_000);
        assert_eq!((requests.gap(0), requests.gap(1)), (BLIND_GAP, BLIND_GAP));
        assert_eq!(far.gap(30_000_000), BLIND_GAP);
        let slow = known(FIRST_WINDOW, Some(1e6));
        assert_eq!((slow.gap(0), slow.over_read(0)), (200, u64::MAX));
        // A link without limits is no reason to read without limits.
        let fast = Costs {
            bytes_per_second: Some(1e12),
            ..requests
        };
        assert!(fast.gap(0) < 12 * BLIND_GAP);
    }

    proptest! {
        #[test]
        fn more_bytes_take_longer_and_more_window_or_speed_shorter(
            bytes in 0_u64..1 << 40, more in 0_u64..1 << 30, window in 1_u64..1 << 24, speed in 1e4..1e10,
        ) {
            let costs = known(window, Some(speed));
            let trips = costs.trips(bytes);
            prop_assert!(trips >= 0.0 && trips.is_finite());
            prop_assert!(costs.trips(bytes.saturating_add(more)) >= trips);
            prop_assert!(known(window.saturating_mul(2), Some(speed)).trips(bytes) <= trips + 1e-9);
            prop_assert!(known(window, Some(speed * 2.0)).trips(bytes) <= trips + 1e-9);
            prop_assert!(known(window, None).trips(bytes) <= trips + 1e-9);
        }
    }
}
