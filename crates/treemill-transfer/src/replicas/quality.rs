//! How good a source is: the time to an answer and the time per byte, over the last five minutes, of which the newest
//! count most. Pure: times are given. Knows no source.

use crate::replicas::limits::{BLIND, FASTEST, HEDGE, INTERVAL, LEAST_HEDGE, SMALL, WEIGHTS};
use std::time::Duration;

/// A mean over intervals: sums of time and of what it was taken for.
#[derive(Debug, Clone, Default)]
struct Mean {
    /// The number of the newest interval.
    newest: u64,
    /// (seconds, what for), the newest first.
    sums: [(f64, f64); WEIGHTS.len()],
}

impl Mean {
    fn interval(now: Duration) -> u64 {
        now.as_secs()
            .checked_div(INTERVAL.as_secs())
            .unwrap_or_default()
    }

    fn add(&mut self, seconds: f64, units: f64, now: Duration) {
        let age = Self::interval(now).saturating_sub(self.newest);
        let shift = usize::try_from(age)
            .unwrap_or(WEIGHTS.len())
            .min(WEIGHTS.len());
        self.sums.rotate_right(shift);
        self.sums
            .iter_mut()
            .take(shift)
            .for_each(|sum| *sum = (0.0, 0.0));
        self.newest = self.newest.max(Self::interval(now));
        if let Some(sum) = self.sums.first_mut() {
            *sum = (sum.0 + seconds, sum.1 + units);
        }
    }

    /// Seconds per unit; `least` units are assumed where there are fewer, which is time that brought nothing.
    fn value(&self, now: Duration, least: f64) -> Option<f64> {
        let age = Self::interval(now).saturating_sub(self.newest);
        let weights = WEIGHTS
            .iter()
            .skip(usize::try_from(age).unwrap_or(WEIGHTS.len()));
        let (mut all, mut sum) = (0.0, 0.0);
        for (weight, (seconds, units)) in weights.zip(&self.sums) {
            if *seconds > 0.0 || *units > 0.0 {
                all += weight;
                sum += weight * seconds / units.max(least);
            }
        }
        (all > 0.0).then(|| sum / all)
    }
}

/// The time in which a source owes answers without a pause.
#[derive(Debug, Clone, Copy)]
struct Busy {
    /// When the last answer came, or when it began.
    since: Duration,
    /// What has come of it and is not counted yet.
    seconds: f64,
    bytes: u64,
    /// Whether more than a small answer has come.
    flows: bool,
}

/// What was seen of one source.
#[derive(Debug, Clone)]
pub(crate) struct Quality {
    /// The time that its opening tells for a round trip.
    round_trip: f64,
    latency: Mean,
    flow: Mean,
    busy: Option<Busy>,
    owed: u64,
    owed_bytes: u64,
}

#[allow(clippy::cast_precision_loss)]
impl Quality {
    pub(crate) fn new(round_trip: Duration) -> Self {
        Quality {
            round_trip: round_trip.as_secs_f64(),
            latency: Mean::default(),
            flow: Mean::default(),
            busy: None,
            owed: 0,
            owed_bytes: 0,
        }
    }

    /// Seconds from a small request to its answer.
    pub(crate) fn latency(&self, now: Duration) -> f64 {
        self.latency.value(now, 1.0).unwrap_or(self.round_trip)
    }

    /// Seconds per byte once bytes flow, if that was seen.
    pub(crate) fn per_byte(&self, now: Duration) -> Option<f64> {
        Some(self.flow.value(now, SMALL as f64)?.max(FASTEST))
    }

    /// Seconds that `bytes` more would take, after what is owed.
    pub(crate) fn finish(&self, bytes: u64, now: Duration) -> f64 {
        self.expected(self.owed_bytes.saturating_add(bytes), now)
    }

    /// Seconds that `bytes` take from a source that owes nothing.
    pub(crate) fn expected(&self, bytes: u64, now: Duration) -> f64 {
        self.latency(now) + bytes as f64 * self.per_byte(now).unwrap_or(BLIND)
    }

    /// Bytes that are asked for and not here.
    pub(crate) fn owed_bytes(&self) -> u64 {
        self.owed_bytes
    }

    /// When the last answer came, or when something was asked for after a pause; `None` if nothing is owed.
    pub(crate) fn since(&self) -> Option<Duration> {
        Some(self.busy?.since)
    }

    /// Something is asked for.
    pub(crate) fn asked(&mut self, bytes: u64, now: Duration) {
        self.busy.get_or_insert(Busy {
            since: now,
            seconds: 0.0,
            bytes: 0,
            flows: false,
        });
        self.owed = self.owed.saturating_add(1);
        self.owed_bytes = self.owed_bytes.saturating_add(bytes);
    }

    /// It has come.
    pub(crate) fn answered(&mut self, bytes: u64, now: Duration) {
        let round_trip = self.latency(now);
        let Some(busy) = &mut self.busy else { return };
        busy.seconds += now.saturating_sub(busy.since).as_secs_f64();
        busy.since = now;
        busy.bytes = busy.bytes.saturating_add(bytes);
        if busy.bytes > SMALL || busy.flows {
            // The first bytes' time has a round trip in it.
            let waited = if busy.flows { 0.0 } else { round_trip };
            let sample = ((busy.seconds - waited).max(0.0), busy.bytes as f64);
            (busy.flows, busy.seconds, busy.bytes) = (true, 0.0, 0);
            self.flow.add(sample.0, sample.1, now);
        }
        self.release(bytes, now);
    }

    /// It will not come.
    pub(crate) fn failed(&mut self, bytes: u64, now: Duration) {
        self.wasted(now);
        self.release(bytes, now);
    }

    /// Time has passed in which something was owed and nothing came.
    pub(crate) fn wasted(&mut self, now: Duration) {
        if let Some(busy) = &mut self.busy {
            let seconds = now.saturating_sub(busy.since).as_secs_f64();
            self.flow.add(seconds, 0.0, now);
        }
    }

    /// It is not owed any more.
    pub(crate) fn release(&mut self, bytes: u64, now: Duration) {
        self.owed = self.owed.saturating_sub(1);
        self.owed_bytes = self.owed_bytes.saturating_sub(bytes);
        if self.owed > 0 {
            return;
        }
        if let Some(busy) = self.busy.take()
            && !busy.flows
            && busy.bytes > 0
        {
            self.latency.add(busy.seconds, 1.0, now);
        }
    }
}

/// How long an answer is waited for that is expected after `seconds`.
pub(crate) fn patience(seconds: f64) -> Duration {
    let patience = Duration::try_from_secs_f64(HEDGE * seconds).unwrap_or(Duration::MAX);
    patience.max(LEAST_HEDGE)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn at(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    fn read(quality: &mut Quality, bytes: u64, from: u64, to: u64) {
        quality.asked(bytes, at(from));
        quality.answered(bytes, at(to));
    }

    #[test]
    fn small_answers_tell_the_round_trip_and_large_ones_the_speed() {
        let mut quality = Quality::new(at(500));
        assert!(quality.per_byte(at(0)).is_none());
        read(&mut quality, 100, 0, 100);
        assert!((quality.latency(at(100)) - 0.1).abs() < 1e-9);
        read(&mut quality, 1_000_000, 100, 1200);
        assert!((quality.per_byte(at(1200)).unwrap() - 1e-6).abs() < 1e-9);
        assert!((quality.expected(2_000_000, at(1200)) - 2.1).abs() < 1e-6);
    }

    #[test]
    fn answers_in_one_burst_count_as_one() {
        let mut quality = Quality::new(at(100));
        (0..10).for_each(|_| quality.asked(100_000, at(0)));
        assert_eq!(quality.owed_bytes(), 1_000_000);
        (0..10).for_each(|_| quality.answered(100_000, at(1100)));
        assert!((quality.per_byte(at(1100)).unwrap() - 1e-6).abs() < 1e-9);
        assert!((quality.latency(at(1100)) - 0.1).abs() < 1e-9);
        assert_eq!(quality.since(), None);
    }

    #[test]
    fn newer_minutes_count_more_and_old_ones_nothing() {
        let mut quality = Quality::new(at(0));
        read(&mut quality, 1_000_000, 0, 1000);
        read(&mut quality, 1_000_000, 60_000, 63_000);
        let mean = (16.0 * 3e-6 + 8.0 * 1e-6) / 24.0;
        assert!((quality.per_byte(at(63_000)).unwrap() - mean).abs() < 1e-12);
        assert!(quality.per_byte(at(500_000)).is_none());
    }

    #[test]
    fn time_without_bytes_makes_a_source_worse() {
        let mut quality = Quality::new(at(0));
        read(&mut quality, 1_000_000, 0, 1000);
        let before = quality.per_byte(at(1000)).unwrap();
        quality.asked(1000, at(1000));
        quality.wasted(at(5000));
        assert!(quality.per_byte(at(5000)).unwrap() > 4.0 * before);
    }
}
