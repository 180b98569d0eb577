//! How many bytes a connection's next round trip brings. A new one brings few, and each byte that has come lets one more
//! byte come in the next round trip. Pure: times are given.

use crate::limits::{FIRST_WINDOW, MOST_WINDOW, RESTART};
use std::time::Duration;

/// A connection's window, as far as this side can tell: what was lost on the way is not seen here, and shows in the speed.
///
/// ```
/// use std::time::Duration;
/// use treemill_source::Growth;
///
/// let trip = Duration::from_millis(137);
/// let mut growth = Growth::default();
/// assert_eq!(growth.window(), 14_600); // ten segments (RFC 6928)
/// growth.arrived(14_600, trip);
/// assert_eq!(growth.window(), 29_200);
/// growth.asked(trip * 20, trip); // idle for long: it begins anew (RFC 2861)
/// assert_eq!(growth.window(), 14_600);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Growth {
    window: u64,
    /// When bytes came last.
    seen: Option<Duration>,
}

impl Default for Growth {
    fn default() -> Self {
        Growth {
            window: FIRST_WINDOW,
            seen: None,
        }
    }
}

impl Growth {
    /// Bytes have come.
    pub fn arrived(&mut self, bytes: u64, now: Duration) {
        self.window = self.window.saturating_add(bytes).min(MOST_WINDOW);
        self.seen = Some(now);
    }

    /// Something is asked for while nothing is due. A server that has sent nothing for longer than it waits for a lost
    /// packet halves the window, for each such time.
    pub fn asked(&mut self, now: Duration, round_trip: Duration) {
        let idle = self
            .seen
            .map_or(Duration::ZERO, |seen| now.saturating_sub(seen));
        let patience = round_trip.saturating_add(RESTART).as_micros().max(1);
        let times = idle.as_micros().checked_div(patience).unwrap_or(0);
        let times = u32::try_from(times).unwrap_or(u32::MAX);
        let halved = self.window.checked_shr(times).unwrap_or(0);
        self.window = halved.max(FIRST_WINDOW);
    }

    /// Bytes that the next round trip brings.
    #[must_use]
    pub fn window(&self) -> u64 {
        self.window
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn windows_grow_with_what_comes_and_shrink_with_silence_within_bounds(
            steps in prop::collection::vec((0_u64..10_000_000, 0_u64..5000), 0..40),
        ) {
            let (mut growth, mut now) = (Growth::default(), Duration::ZERO);
            for (bytes, millis) in steps {
                let before = growth.window();
                growth.arrived(bytes, now);
                prop_assert!(growth.window() >= before);
                now = now.saturating_add(Duration::from_millis(millis));
                let held = growth.window();
                growth.asked(now, Duration::from_millis(137));
                prop_assert!((FIRST_WINDOW..=held).contains(&growth.window()));
                prop_assert!(held <= MOST_WINDOW);
                if millis < 300 {
                    prop_assert_eq!(growth.window(), held, "a short silence changes nothing");
                }
            }
        }
    }
}
