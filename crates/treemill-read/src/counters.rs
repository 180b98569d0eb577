//! Counters of what has been read, written by readers and watched by a progress display.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Passes of this process so far.
static PASSES: AtomicU64 = AtomicU64::new(0);

/// Totals since the counters were made, of one pass. Shared by any number of readers.
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
    pass: OnceLock<u64>,
}

impl Counters {
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

    /// The number of the pass that these counters are of, from 1 on in the order in which passes asked.
    pub(crate) fn pass(&self) -> u64 {
        let next = || PASSES.fetch_add(1, Ordering::Relaxed).saturating_add(1);
        *self.pass.get_or_init(next)
    }

    /// Counts entries as processed.
    pub fn add_entries(&self, n: u64) {
        self.entries.fetch_add(n, Ordering::Relaxed);
    }

    pub(crate) fn add_bytes_read(&self, n: u64) {
        self.bytes_read.fetch_add(n, Ordering::Relaxed);
    }

    pub(crate) fn add_bytes_decompressed(&self, n: u64) {
        self.bytes_decompressed.fetch_add(n, Ordering::Relaxed);
    }

    pub(crate) fn add_sent(&self, ranges: u64, bytes: u64) {
        self.requests.fetch_add(ranges, Ordering::Relaxed);
        self.bytes_read.fetch_add(bytes, Ordering::Relaxed);
    }

    pub(crate) fn add_bytes_from_disk(&self, n: u64) {
        self.bytes_from_disk.fetch_add(n, Ordering::Relaxed);
    }

    pub(crate) fn add_wanted(&self, n: u64) {
        self.bytes_wanted.fetch_add(n, Ordering::Relaxed);
    }

    pub(crate) fn add_wait(&self, time: Duration) {
        let time = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        self.waits.fetch_add(1, Ordering::Relaxed);
        self.nanoseconds_waited.fetch_add(time, Ordering::Relaxed);
    }

    pub(crate) fn add_bytes_from_cache(&self, n: u64) {
        self.bytes_from_cache.fetch_add(n, Ordering::Relaxed);
    }
}
