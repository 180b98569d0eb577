//! What a running query and its watchers share: a stop flag and counters, readable at any time.

use pyo3::prelude::*;

/// Stop flag and counters of one run; made in Python, given to every packet.
#[pyclass(frozen)]
#[derive(Default)]
pub struct Control(treemill_engine::Control);

impl Control {
    pub fn inner(&self) -> &treemill_engine::Control {
        &self.0
    }
}

#[pymethods]
impl Control {
    #[new]
    fn new() -> Self {
        Self::default()
    }

    /// Asks every packet that runs to end at its next batch.
    fn stop(&self) {
        self.0.stop();
    }

    /// Whether `stop` was called.
    #[getter]
    fn stopped(&self) -> bool {
        self.0.stopped()
    }

    /// Counts entries that were processed in Python.
    fn add_entries(&self, entries: u64) {
        self.0.counters.add_entries(entries);
    }

    /// Entries of the batches begun.
    #[getter]
    fn entries(&self) -> u64 {
        self.0.counters.entries()
    }

    /// Bytes that sources gave.
    #[getter]
    fn bytes_read(&self) -> u64 {
        self.0.counters.bytes_read()
    }

    /// Bytes of distant files that came from the cache on disk.
    #[getter]
    fn bytes_from_disk(&self) -> u64 {
        self.0.counters.bytes_from_disk()
    }

    /// Ranges that distant sources were asked for.
    #[getter]
    fn requests(&self) -> u64 {
        self.0.counters.requests()
    }

    /// Bytes from distant sources that were used.
    #[getter]
    fn bytes_wanted(&self) -> u64 {
        self.0.counters.bytes_wanted()
    }

    /// How often a thread has waited for bytes of a distant source, and the seconds of all threads together.
    #[getter]
    fn waits(&self) -> (u64, f64) {
        let (waits, time) = self.0.counters.waits();
        (waits, time.as_secs_f64())
    }

    /// Bytes of baskets after decompression.
    #[getter]
    fn bytes_decompressed(&self) -> u64 {
        self.0.counters.bytes_decompressed()
    }

    /// Bytes that earlier passes have decompressed, and this one took from memory.
    #[getter]
    fn bytes_from_cache(&self) -> u64 {
        self.0.counters.bytes_from_cache()
    }
}
