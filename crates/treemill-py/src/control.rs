//! What a running query and its watchers share: a stop flag and counters, readable at any time.

use pyo3::prelude::*;
use std::collections::BTreeMap;
use std::sync::Arc;
use treemill_read::Stage;
use treemill_source::{ServerCounts, servers};

/// Stop flag and counters of one run; made in Python, given to every packet.
#[pyclass(frozen)]
pub struct Control {
    inner: treemill_engine::Control,
    /// What servers had been asked for when the run began.
    before: BTreeMap<Arc<str>, ServerCounts>,
}

impl Control {
    pub fn inner(&self) -> &treemill_engine::Control {
        &self.inner
    }
}

/// What a server was asked for: its name, files, messages, ranges, bytes, errors; how often threads waited and for how many
/// seconds; seconds in which it had something to do.
type Told = (String, u64, u64, u64, u64, u64, u64, f64, f64);

/// What was counted: bytes read, reads, ranges of distant sources, bytes after decompression, bytes from memory, waits;
/// seconds waited, and those that went to reads of near sources, to decompression and to decoding.
type Counted = (u64, u64, u64, u64, u64, u64, f64, f64, f64, f64);

#[pymethods]
impl Control {
    #[new]
    fn new() -> Self {
        Control {
            inner: treemill_engine::Control::default(),
            before: servers(),
        }
    }

    /// The control of one worker of the run: the run counts what the worker counts, and stops with it.
    fn part(&self) -> Self {
        Control {
            inner: self.inner.part(),
            before: self.before.clone(),
        }
    }

    /// What was counted so far, in the order of `Counted`.
    #[getter]
    fn counted(&self) -> Counted {
        let counters = &self.inner.counters;
        let of = |stage| counters.time(stage).as_secs_f64();
        let (waits, waited) = counters.waits();
        (
            counters.bytes_read(),
            counters.reads(),
            counters.requests(),
            counters.bytes_decompressed(),
            counters.bytes_from_cache(),
            waits,
            waited.as_secs_f64(),
            of(Stage::Read),
            of(Stage::Decompress),
            of(Stage::Decode),
        )
    }

    /// Asks every packet that runs to end at its next batch.
    fn stop(&self) {
        self.inner.stop();
    }

    /// Whether `stop` was called.
    #[getter]
    fn stopped(&self) -> bool {
        self.inner.stopped()
    }

    /// Counts entries that were processed in Python.
    fn add_entries(&self, entries: u64) {
        self.inner.counters.add_entries(entries);
    }

    /// Entries of the batches begun.
    #[getter]
    fn entries(&self) -> u64 {
        self.inner.counters.entries()
    }

    /// Bytes that sources gave.
    #[getter]
    fn bytes_read(&self) -> u64 {
        self.inner.counters.bytes_read()
    }

    /// Bytes of distant files that came from the cache on disk.
    #[getter]
    fn bytes_from_disk(&self) -> u64 {
        self.inner.counters.bytes_from_disk()
    }

    /// Ranges that distant sources were asked for.
    #[getter]
    fn requests(&self) -> u64 {
        self.inner.counters.requests()
    }

    /// Bytes from distant sources that were used.
    #[getter]
    fn bytes_wanted(&self) -> u64 {
        self.inner.counters.bytes_wanted()
    }

    /// How often a thread has waited for bytes of a distant source, and the seconds of all threads together.
    #[getter]
    fn waits(&self) -> (u64, f64) {
        let (waits, time) = self.inner.counters.waits();
        (waits, time.as_secs_f64())
    }

    /// Bytes of baskets after decompression.
    #[getter]
    fn bytes_decompressed(&self) -> u64 {
        self.inner.counters.bytes_decompressed()
    }

    /// Bytes that earlier passes have decompressed, and this one took from memory.
    #[getter]
    fn bytes_from_cache(&self) -> u64 {
        self.inner.counters.bytes_from_cache()
    }

    /// What each server was asked for by this process since the run began, opening files included.
    #[getter]
    fn servers(&self) -> Vec<Told> {
        let now = servers().into_iter();
        let since = now.map(|(name, counts)| {
            let before = self.before.get(&name).copied().unwrap_or_default();
            (name, counts.since(&before))
        });
        let told = since.filter(|(_, counts)| *counts != ServerCounts::default());
        told.map(|(name, counts)| {
            (
                name.to_string(),
                counts.files,
                counts.messages,
                counts.requests,
                counts.bytes,
                counts.errors,
                counts.waits,
                counts.waited.as_secs_f64(),
                counts.busy.as_secs_f64(),
            )
        })
        .collect()
    }
}
