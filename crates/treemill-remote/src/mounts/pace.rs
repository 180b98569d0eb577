//! What reading from a mount costs, from how long its reads take. Pure: times come in.

use crate::limits::{FROM_MEMORY, MOUNT_TRIP, MOUNT_WINDOW};
use std::time::Duration;
use treemill_source::Costs;
use treemill_transfer::Meter;

/// The typical time of a read, and the speed of all together. Reads from the system's cache tell nothing of the mount.
///
/// ```
/// use std::time::Duration;
/// use treemill_remote::mounts::Pace;
///
/// let mut pace = Pace::default();
/// assert!(!pace.costs().is_near());
/// for _ in 0..50 {
///     pace.began(Duration::ZERO);
///     pace.came(1000, Duration::from_millis(20), Duration::ZERO);
/// }
/// let trip = pace.costs().round_trip.as_millis();
/// assert!((19..=20).contains(&trip), "{trip}");
/// ```
#[derive(Debug, Clone, Default)]
pub struct Pace {
    trip: Option<Duration>,
    meter: Meter,
}

impl Pace {
    /// A read begins.
    pub fn began(&mut self, now: Duration) {
        self.meter.started(now);
    }

    /// A read has ended, and took so long.
    pub fn came(&mut self, bytes: usize, took: Duration, now: Duration) {
        if took >= FROM_MEMORY {
            // The mean, in which a read counts an eighth: bytes that were announced earlier come sooner.
            let mean = self.trip.map_or(took, |trip| {
                trip.saturating_mul(7)
                    .saturating_add(took)
                    .checked_div(8)
                    .unwrap_or(took)
            });
            self.trip = Some(mean);
            self.meter.answered(took);
            self.meter.arrived(bytes, now);
        }
        self.meter.ended();
    }

    /// A read has failed.
    pub fn failed(&mut self) {
        self.meter.ended();
    }

    /// What reading costs.
    #[must_use]
    pub fn costs(&self) -> Costs {
        Costs {
            round_trip: self.trip.unwrap_or(MOUNT_TRIP),
            window: MOUNT_WINDOW,
            ..self.meter.costs()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_from_memory_tell_nothing() {
        let mut pace = Pace::default();
        for read in 0..1000 {
            let now = Duration::from_micros(read);
            pace.began(now);
            pace.came(1 << 20, Duration::from_micros(50), now);
        }
        let costs = pace.costs();
        assert_eq!(
            (costs.round_trip, costs.bytes_per_second),
            (MOUNT_TRIP, None)
        );
    }

    #[test]
    fn the_speed_of_reads_that_overlap_is_theirs_together() {
        let mut pace = Pace::default();
        let ms = Duration::from_millis;
        let begin = |pace: &mut Pace, round| (0..4).for_each(|_| pace.began(ms(10 * round)));
        begin(&mut pace, 0);
        for round in 0..100 {
            begin(&mut pace, round); // before the last ones have ended
            for _ in 0..4 {
                pace.came(1 << 20, ms(10), ms(10 * round + 10));
            }
        }
        let speed = pace.costs().bytes_per_second.unwrap_or_default();
        assert!((300e6..900e6).contains(&speed), "{speed}");
    }
}
