//! How much of a request each of two sources takes, so that both finish at the same time. Pure: qualities are given.

use crate::replicas::limits::{ALIKE, BLIND, SHARE, TRIAL};
use crate::replicas::quality::Quality;
use std::time::Duration;

/// The sources that take a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Share {
    /// The first source takes this number of bytes from its beginning, the second one the rest.
    Both(u64),
    /// One of them takes it, and they are as good as one another.
    Either,
    /// The first one takes it.
    First,
}

/// How to share a request of `bytes`, where the first source would finish all of it no later than the second.
#[allow(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss
)]
pub(crate) fn share(bytes: u64, first: &Quality, second: &Quality, now: Duration) -> Share {
    let known = [first, second].map(|quality| quality.per_byte(now));
    // What is not known of one is taken to be as with the other.
    let blind = known.into_iter().flatten().next().unwrap_or(BLIND);
    let [fast, slow] = known.map(|per_byte| per_byte.unwrap_or(blind));
    let start = |quality: &Quality, per_byte: f64| {
        quality.latency(now) + quality.owed_bytes() as f64 * per_byte
    };
    let head = start(second, slow) - start(first, fast) + bytes as f64 * slow;
    let boundary = (head / (fast + slow)).clamp(0.0, bytes as f64) as u64;
    // One whose speed was never seen is tried with little.
    let trial = |quality: &Quality| TRIAL.saturating_sub(quality.owed_bytes());
    let boundary = match known {
        [_, None] => boundary.max(bytes.saturating_sub(trial(second))),
        [None, _] => boundary.min(trial(first)),
        _ => boundary,
    };
    if boundary >= SHARE && bytes.saturating_sub(boundary) >= SHARE {
        return Share::Both(boundary);
    }
    let is_small = bytes < SHARE.saturating_mul(2);
    let is_alike = second.finish(bytes, now) <= ALIKE * first.finish(bytes, now);
    match is_small && is_alike {
        true => Share::Either,
        false => Share::First,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Duration = Duration::from_secs(10);

    /// Measured: this round trip, and these milliseconds for a MB.
    fn measured(round_trip: u64, per_mb: u64) -> Quality {
        let mut quality = Quality::new(Duration::from_millis(round_trip));
        quality.asked(1_000_000, Duration::ZERO);
        let took = Duration::from_millis(round_trip.saturating_add(per_mb));
        quality.answered(1_000_000, took);
        quality
    }

    #[test]
    fn each_takes_as_much_as_it_is_fast() {
        let (fast, slow) = (measured(100, 50), measured(100, 200));
        assert!(matches!(
            share(10_000_000, &fast, &slow, NOW),
            Share::Both(7_990_000..8_010_000)
        ));
    }

    #[test]
    fn what_is_owed_already_counts() {
        let (mut one, other) = (measured(100, 50), measured(100, 50));
        one.asked(5_000_000, NOW);
        assert!(matches!(
            share(10_000_000, &one, &other, NOW),
            Share::Both(2_490_000..2_510_000)
        ));
    }

    #[test]
    fn an_unknown_source_is_tried_with_little() {
        let (known, unknown) = (measured(100, 50), Quality::new(Duration::from_millis(100)));
        let rest = 100_000_000 - TRIAL;
        assert_eq!(share(100_000_000, &known, &unknown, NOW), Share::Both(rest));
    }

    #[test]
    fn small_requests_are_not_shared() {
        let (one, other) = (measured(100, 50), measured(110, 50));
        assert_eq!(share(1000, &one, &other, NOW), Share::Either);
        assert_eq!(share(1000, &one, &measured(200, 50), NOW), Share::First);
    }
}
