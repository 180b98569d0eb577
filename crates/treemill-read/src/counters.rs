//! What has been read so far: written by readers, watched by a progress display.

use std::sync::atomic::{AtomicU64, Ordering};

/// Totals since the counters were made. Shared by any number of readers.
#[derive(Debug, Default)]
pub struct Counters {
    entries: AtomicU64,
    bytes_read: AtomicU64,
    bytes_decompressed: AtomicU64,
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
}
