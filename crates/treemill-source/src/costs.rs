//! What it costs to read from a source. Data only.

use crate::limits::{BLIND_GAP, BLIND_OVER_READ, LEAST_AHEAD, MOST_AHEAD};
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
    /// Time that one more range costs, beside its bytes.
    pub range: Duration,
    /// Bytes of one range at most: larger ones are better asked for in parts.
    pub most_bytes: u64,
}

impl Costs {
    /// Memory and local files.
    pub const NEAR: Costs = Costs {
        round_trip: Duration::ZERO,
        bytes_per_second: None,
        range: Duration::ZERO,
        most_bytes: u64::MAX,
    };

    /// A source that answers after `round_trip`, and of which nothing else is known yet.
    #[must_use]
    pub const fn far(round_trip: Duration) -> Self {
        Costs {
            round_trip,
            bytes_per_second: None,
            range: Duration::from_micros(200),
            most_bytes: 8 << 20,
        }
    }

    /// Whether ranges are best read one by one, when they are needed.
    #[must_use]
    pub fn is_near(&self) -> bool {
        self.round_trip.is_zero()
    }

    /// Bytes between two ranges up to which it is cheaper to read them, too, than to ask for two ranges.
    #[must_use]
    pub fn gap(&self) -> u64 {
        let known = |speed: f64| in_bytes(speed * self.range.as_secs_f64());
        self.bytes_per_second
            .map_or(BLIND_GAP, known)
            .min(BLIND_GAP)
    }

    /// Bytes between ranges of one submission that may be read with them. While the speed is not known, it is not known
    /// either what they cost.
    #[must_use]
    pub fn over_read(&self) -> u64 {
        self.bytes_per_second.map_or(BLIND_OVER_READ, |_| u64::MAX)
    }

    /// Bytes that should be in flight or waiting for their use: two products of bandwidth and delay.
    #[must_use]
    pub fn ahead(&self) -> u64 {
        let both = |speed: f64| in_bytes(2.0 * speed * self.round_trip.as_secs_f64());
        self.bytes_per_second
            .map_or(MOST_AHEAD, both)
            .clamp(LEAST_AHEAD, MOST_AHEAD)
    }
}

/// A number of bytes; one that is no number or negative is none.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
fn in_bytes(bytes: f64) -> u64 {
    bytes as u64 // saturates
}
