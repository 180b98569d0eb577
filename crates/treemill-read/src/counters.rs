//! Counters of what has been read, written by readers and watched by a progress display; and whether readers are to end.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

/// Passes of this process so far.
static PASSES: AtomicU64 = AtomicU64::new(0);

/// What the time of a reader goes to, besides waiting for distant sources.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// Reads of near sources.
    Read,
    /// Decompression.
    Decompress,
    /// From the bytes of baskets and pages to columns.
    Decode,
}

/// Totals since the counters were made, of one pass, and whether it is stopped. Shared by any number of readers.
#[derive(Debug, Default)]
pub struct Counters {
    entries: AtomicU64,
    bytes_read: AtomicU64,
    bytes_decompressed: AtomicU64,
    bytes_from_cache: AtomicU64,
    bytes_from_disk: AtomicU64,
    requests: AtomicU64,
    bytes_wanted: AtomicU64,
    waits: AtomicU64,
    nanoseconds_waited: AtomicU64,
    reads: AtomicU64,
    nanoseconds: [AtomicU64; 3],
    pass: OnceLock<u64>,
    /// What these counters are a part of: it counts all that they count.
    whole: Option<Arc<Counters>>,
    is_stopped: AtomicBool,
}

impl Counters {
    /// Counters of one worker of a pass. `whole`, the pass's own, count all that they count.
    #[must_use]
    pub fn part_of(whole: &Arc<Self>) -> Self {
        Counters {
            whole: Some(Arc::clone(whole)),
            ..Counters::default()
        }
    }

    /// Whether both are of one pass.
    #[must_use]
    pub fn is_of_the_pass_of(&self, other: &Self) -> bool {
        self.pass() == other.pass()
    }

    /// Reads of sources; each may have many ranges.
    pub fn reads(&self) -> u64 {
        self.reads.load(Ordering::Relaxed)
    }

    /// The time of all threads together that went to this stage, without that of stages inside of it.
    pub fn time(&self, stage: Stage) -> Duration {
        let time = self.nanoseconds.get(stage as usize);
        Duration::from_nanos(time.map_or(0, |time| time.load(Ordering::Relaxed)))
    }

    /// Entries of the batches given out.
    pub fn entries(&self) -> u64 {
        self.entries.load(Ordering::Relaxed)
    }

    /// Bytes that sources were asked for and gave.
    pub fn bytes_read(&self) -> u64 {
        self.bytes_read.load(Ordering::Relaxed)
    }

    /// Bytes of baskets after decompression (stored baskets count too).
    pub fn bytes_decompressed(&self) -> u64 {
        self.bytes_decompressed.load(Ordering::Relaxed)
    }

    /// Bytes, decompressed long ago, that were taken from memory instead.
    pub fn bytes_from_cache(&self) -> u64 {
        self.bytes_from_cache.load(Ordering::Relaxed)
    }

    /// Bytes of distant files, as they are stored there, that were taken from the cache on disk instead.
    pub fn bytes_from_disk(&self) -> u64 {
        self.bytes_from_disk.load(Ordering::Relaxed)
    }

    /// Ranges that distant sources were asked for, each counted once however many messages it takes.
    pub fn requests(&self) -> u64 {
        self.requests.load(Ordering::Relaxed)
    }

    /// Bytes from distant sources that readers have used. What was read beyond that lay between them, or was
    /// asked for and not needed.
    pub fn bytes_wanted(&self) -> u64 {
        self.bytes_wanted.load(Ordering::Relaxed)
    }

    /// How often a thread has waited for bytes of a distant source, and for how long, all threads together.
    pub fn waits(&self) -> (u64, Duration) {
        let time = self.nanoseconds_waited.load(Ordering::Relaxed);
        (
            self.waits.load(Ordering::Relaxed),
            Duration::from_nanos(time),
        )
    }

    /// Asks the pass's readers to end: they do not wait for a distant source for long any more.
    pub fn stop(&self) {
        match &self.whole {
            Some(whole) => whole.stop(),
            None => self.is_stopped.store(true, Ordering::Relaxed),
        }
    }

    /// Whether [`Counters::stop`] was called, here or for another worker of the pass.
    pub fn is_stopped(&self) -> bool {
        match &self.whole {
            Some(whole) => whole.is_stopped(),
            None => self.is_stopped.load(Ordering::Relaxed),
        }
    }

    /// The number of the pass that these counters are of, from 1 on in the order in which passes asked.
    pub(crate) fn pass(&self) -> u64 {
        if let Some(whole) = &self.whole {
            return whole.pass();
        }
        let next = || PASSES.fetch_add(1, Ordering::Relaxed).saturating_add(1);
        *self.pass.get_or_init(next)
    }

    /// Counts entries as processed.
    pub fn add_entries(&self, n: u64) {
        self.add(|counters| &counters.entries, n);
    }

    /// Runs a stage, and counts how long it takes.
    pub(crate) fn timed<T>(&self, stage: Stage, run: impl FnOnce() -> T) -> T {
        let (began, inside) = (Instant::now(), self.inside());
        let done = run();
        let own = nanoseconds(began.elapsed()).saturating_sub(self.inside().saturating_sub(inside));
        let mut each = Some(self);
        while let Some(counters) = each {
            if let Some(time) = counters.nanoseconds.get(stage as usize) {
                time.fetch_add(own, Ordering::Relaxed);
            }
            each = counters.whole.as_deref();
        }
        done
    }

    /// All nanoseconds that are counted so far.
    fn inside(&self) -> u64 {
        let waited = self.nanoseconds_waited.load(Ordering::Relaxed);
        let stages = self.nanoseconds.iter();
        stages.fold(waited, |sum, time| {
            sum.saturating_add(time.load(Ordering::Relaxed))
        })
    }

    fn add(&self, which: impl Fn(&Self) -> &AtomicU64, n: u64) {
        which(self).fetch_add(n, Ordering::Relaxed);
        if let Some(whole) = &self.whole {
            whole.add(which, n);
        }
    }

    /// A read of a near source.
    pub(crate) fn add_read(&self, bytes: u64) {
        self.add(|counters| &counters.reads, 1);
        self.add(|counters| &counters.bytes_read, bytes);
    }

    pub(crate) fn add_bytes_decompressed(&self, n: u64) {
        self.add(|counters| &counters.bytes_decompressed, n);
    }

    /// A read of a distant source, which is asked and not waited for.
    pub(crate) fn add_sent(&self, ranges: u64, bytes: u64) {
        self.add(|counters| &counters.reads, 1);
        self.add(|counters| &counters.requests, ranges);
        self.add(|counters| &counters.bytes_read, bytes);
    }

    pub(crate) fn add_bytes_from_disk(&self, n: u64) {
        self.add(|counters| &counters.bytes_from_disk, n);
    }

    pub(crate) fn add_wanted(&self, n: u64) {
        self.add(|counters| &counters.bytes_wanted, n);
    }

    pub(crate) fn add_wait(&self, time: Duration) {
        self.add(|counters| &counters.waits, 1);
        self.add(|counters| &counters.nanoseconds_waited, nanoseconds(time));
    }

    pub(crate) fn add_bytes_from_cache(&self, n: u64) {
        self.add(|counters| &counters.bytes_from_cache, n);
    }
}

fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::{Counters, Stage};
    use std::sync::Arc;
    use std::time::Duration;

    #[test]
    fn the_whole_counts_what_its_parts_count() {
        let whole = Arc::new(Counters::default());
        let (one, other) = (Counters::part_of(&whole), Counters::part_of(&whole));
        one.add_read(100);
        other.add_sent(3, 50);
        other.add_wait(Duration::from_millis(2));
        assert_eq!((one.bytes_read(), one.reads(), one.requests()), (100, 1, 0));
        assert_eq!(
            (whole.bytes_read(), whole.reads(), whole.requests()),
            (150, 2, 3)
        );
        assert_eq!(whole.waits(), other.waits());
        assert!(one.is_of_the_pass_of(&other));
        assert!(!one.is_of_the_pass_of(&Counters::default()));
    }

    #[test]
    fn a_stage_has_no_time_of_the_stages_inside() {
        let counters = Counters::default();
        counters.timed(Stage::Decode, || {
            counters.timed(Stage::Read, || {
                counters.add_wait(Duration::from_secs(3600));
            });
        });
        assert_eq!(counters.time(Stage::Read), Duration::ZERO);
        assert_eq!(counters.time(Stage::Decode), Duration::ZERO);
    }
}
