//! What a running query and its watchers share: a stop flag and counters, readable at any time.

use crate::interrupt;
use pyo3::prelude::*;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};
use treemill_read::{Counters, Kind, Stage, Step};
use treemill_source::{ServerCounts, opening_bytes, servers};

/// Stop flag and counters of one run; made in Python, given to every packet.
#[pyclass(frozen)]
pub struct Control {
    inner: treemill_engine::Control,
    before: Before,
    /// What servers had been asked for when the run ended.
    after: Arc<OnceLock<Before>>,
}

/// What servers had been asked for in this process, and how many bytes opening files had used.
#[derive(Clone)]
struct Before {
    servers: BTreeMap<Arc<str>, ServerCounts>,
    opening: u64,
}

impl Before {
    fn now() -> Self {
        Before {
            servers: servers(),
            opening: opening_bytes(),
        }
    }
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

/// A step of a worker: what it was, a read's number, how many seconds ago it began, how many it took (-1: it is on its way),
/// bytes or rows, ranges, file, server, and whether all came.
type Done = (
    &'static str,
    u64,
    f64,
    f64,
    u64,
    Vec<(u64, u64)>,
    String,
    String,
    bool,
);

fn word(kind: Kind) -> &'static str {
    match kind {
        Kind::Read => "read",
        Kind::Came => "came",
        Kind::Wait => "wait",
        Kind::Decompress => "decompress",
        Kind::Decode => "decode",
        Kind::Evaluate => "evaluate",
        Kind::LeftOut => "left out",
    }
}

fn done(step: Step, now: Instant) -> Done {
    let range = |range: Range<u64>| (range.start, range.end);
    (
        word(step.kind),
        step.number,
        now.saturating_duration_since(step.began).as_secs_f64(),
        step.took.map_or(-1.0, |took| took.as_secs_f64()),
        step.amount,
        step.ranges.into_iter().map(range).collect(),
        step.file,
        step.server,
        step.is_here,
    )
}

fn counted(counters: &Counters) -> Counted {
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

#[pymethods]
impl Control {
    #[new]
    fn new() -> Self {
        Control {
            inner: treemill_engine::Control::default(),
            before: Before::now(),
            after: Arc::default(),
        }
    }

    /// The control of one worker of the run: the run counts what the worker counts, and stops with it.
    fn part(&self) -> Self {
        Control {
            inner: self.inner.part(),
            before: self.before.clone(),
            after: Arc::clone(&self.after),
        }
    }

    /// What was counted so far, in the order of `Counted`.
    #[getter]
    fn counted(&self) -> Counted {
        counted(&self.inner.counters)
    }

    /// Makes workers' parts of this control keep what they do from now on, step by step.
    fn keep_steps(&self) {
        self.inner.counters.keep_steps();
    }

    /// Whether steps are kept.
    #[getter]
    fn keeps_steps(&self) -> bool {
        self.inner.counters.record().is_some()
    }

    /// Takes out the steps that were kept, with `counted` at the same time.
    fn take_steps(&self) -> (Counted, Vec<Done>) {
        let (counted, steps) = self.inner.counters.take_steps(counted);
        let now = Instant::now();
        let told = steps.into_iter().map(|step| done(step, now));
        (counted, told.collect())
    }

    /// Keeps that the entries of a batch were evaluated in Python, which has just ended and took this number of
    /// seconds.
    fn add_evaluated(&self, start: u64, stop: u64, seconds: f64) {
        let Some(record) = self.inner.counters.record() else {
            return;
        };
        let (now, took) = (
            Instant::now(),
            Duration::try_from_secs_f64(seconds).unwrap_or_default(),
        );
        let began = now.checked_sub(took).unwrap_or(now);
        let mut step = Step::done(Kind::Evaluate, began, took, stop.saturating_sub(start));
        step.ranges.push(start..stop);
        record.add(step);
    }

    /// The run has ended: what servers are asked for from now on is not its own.
    fn end(&self) {
        let _ = self.after.set(Before::now());
    }

    /// Asks every packet that runs to end at its next batch.
    fn stop(&self) {
        self.inner.stop();
    }

    /// What the calling thread waits for at servers ends a second after `stop`, until it calls `leave`.
    fn enter(&self) {
        interrupt::work_for(Some(Arc::clone(&self.inner.counters)));
    }

    /// The calling thread works for no run any more.
    #[staticmethod]
    fn leave() {
        interrupt::work_for(None);
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

    /// Bytes that distant sources were asked for.
    #[getter]
    fn bytes_asked(&self) -> u64 {
        self.inner.counters.bytes_asked()
    }

    /// Bytes that opening files on servers has used in this process since the run began.
    #[getter]
    fn bytes_opening(&self) -> u64 {
        let now = self
            .after
            .get()
            .map_or_else(opening_bytes, |after| after.opening);
        now.saturating_sub(self.before.opening)
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
        let now = self
            .after
            .get()
            .map_or_else(servers, |after| after.servers.clone());
        let now = now.into_iter();
        let since = now.map(|(name, counts)| {
            let before = self.before.servers.get(&name).copied().unwrap_or_default();
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
