//! Counters of what has been read, written by readers and watched by a progress display; and whether readers are to end.

use crate::limits::{STEPS_KEPT, STOP_GRACE};
use crate::record::{Kind, Record, Sent, Step};
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};
use treemill_source::Source;

/// Passes of this process so far.
static PASSES: AtomicU64 = AtomicU64::new(0);

/// The number of the newest pass of this process.
pub(crate) fn newest_pass() -> u64 {
    PASSES.load(Ordering::Relaxed)
}

/// What the time of a reader goes to, besides waiting for distant sources.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// Reads of near sources.
    Read,
    /// Decompression.
    Decompress,
    /// Making columns of the bytes of baskets and pages.
    Decode,
}

impl Stage {
    /// Each of them, in the order of their numbers.
    pub(crate) const ALL: [Stage; 3] = [Stage::Read, Stage::Decompress, Stage::Decode];
}

/// Totals since the counters were made, of one pass, and whether it is stopped. Shared by any number of readers.
#[derive(Debug, Default)]
pub struct Counters {
    entries: AtomicU64,
    bytes_read: AtomicU64,
    bytes_asked: AtomicU64,
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
    /// What was done step by step, if it is to be kept.
    record: OnceLock<Arc<Record>>,
    /// What these counters are a part of: it counts all that they count.
    whole: Option<Arc<Counters>>,
    stopped: OnceLock<Instant>,
}

impl Counters {
    /// Counters of one worker of a pass. `whole`, the pass's own, count all that they count.
    #[must_use]
    pub fn part_of(whole: &Arc<Self>) -> Self {
        let part = Counters {
            whole: Some(Arc::clone(whole)),
            ..Counters::default()
        };
        if let Some(record) = whole.record() {
            part.record
                .get_or_init(|| Arc::new(Record::new(record.most())));
        }
        part
    }

    /// Makes parts of these counters that are made from now on keep what is done, step by step, until it is taken.
    pub fn keep_steps(&self) {
        self.record
            .get_or_init(|| Arc::new(Record::new(STEPS_KEPT)));
    }

    /// The steps, if they are kept.
    pub fn record(&self) -> Option<&Arc<Record>> {
        self.record.get()
    }

    /// Takes out the steps that were kept, with what `count` says of these counters at the same time.
    pub fn take_steps<T>(&self, count: impl FnOnce(&Self) -> T) -> (T, Vec<Step>) {
        match self.record() {
            Some(record) => record.take(|| count(self)),
            None => (count(self), Vec::new()),
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

    /// The time of all threads together that went to this stage, without that of stages inside of it. Readers tell of
    /// it when they have read a column.
    pub fn time(&self, stage: Stage) -> Duration {
        Duration::from_nanos(self.of_stage(stage).load(Ordering::Relaxed))
    }

    /// Entries of the batches given out.
    pub fn entries(&self) -> u64 {
        self.entries.load(Ordering::Relaxed)
    }

    /// Bytes that near sources gave and far ones were asked for.
    pub fn bytes_read(&self) -> u64 {
        self.bytes_read.load(Ordering::Relaxed)
    }

    /// Bytes that distant sources were asked for.
    pub fn bytes_asked(&self) -> u64 {
        self.bytes_asked.load(Ordering::Relaxed)
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

    /// Bytes from distant sources that readers have used, each counted once. What was read beyond that lay between them, or was
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
            None => _ = self.stopped.set(Instant::now()), // once is enough
        }
    }

    /// Whether [`Counters::stop`] was called, here or for another worker of the pass.
    pub fn is_stopped(&self) -> bool {
        self.stopped_for().is_some()
    }

    /// Whether the pass was stopped so long ago that nobody who works for it waits for a server any more.
    pub fn is_overdue(&self) -> bool {
        self.stopped_for().is_some_and(|time| time >= STOP_GRACE)
    }

    /// The time since the pass was stopped.
    fn stopped_for(&self) -> Option<Duration> {
        match &self.whole {
            Some(whole) => whole.stopped_for(),
            None => Some(self.stopped.get()?.elapsed()),
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

    /// Counts time that went to a stage.
    pub(crate) fn add_time(&self, stage: Stage, time: Duration) {
        self.add(|counters| counters.of_stage(stage), nanoseconds(time));
    }

    fn of_stage(&self, stage: Stage) -> &AtomicU64 {
        let [read, decompress, decode] = &self.nanoseconds;
        match stage {
            Stage::Read => read,
            Stage::Decompress => decompress,
            Stage::Decode => decode,
        }
    }

    fn add(&self, which: impl Fn(&Self) -> &AtomicU64, n: u64) {
        which(self).fetch_add(n, Ordering::Relaxed);
        if let Some(whole) = &self.whole {
            whole.add(which, n);
        }
    }

    /// A read of one range of a near source, which began then.
    pub(crate) fn add_read(&self, source: &dyn Source, range: &Range<u64>, began: Instant) {
        let bytes = range.end.saturating_sub(range.start);
        let count = || {
            self.add(|counters| &counters.reads, 1);
            self.add(|counters| &counters.bytes_read, bytes);
        };
        let Some(record) = self.record() else {
            return count();
        };
        let took = Some(began.elapsed());
        let mut held = record.lock();
        count();
        let step = Step {
            number: held.next_read(),
            ranges: vec![range.clone()],
            file: source.name().to_owned(),
            server: source.server(),
            took,
            ..Step::done(Kind::Read, began, Duration::ZERO, bytes)
        };
        record.add_to(&mut held, step);
    }

    pub(crate) fn add_bytes_decompressed(&self, n: u64) {
        self.add(|counters| &counters.bytes_decompressed, n);
    }

    /// A read of a distant source, which is asked and not waited for. Gives what is to be told when it has ended.
    pub(crate) fn add_sent(&self, source: &dyn Source, ranges: &[Range<u64>]) -> Option<Sent> {
        let length = |range: &Range<u64>| range.end.saturating_sub(range.start);
        let bytes = ranges.iter().map(length).fold(0, u64::saturating_add);
        let count = || {
            self.add(|counters| &counters.reads, 1);
            self.add(|counters| &counters.requests, ranges.len() as u64);
            self.add(|counters| &counters.bytes_read, bytes);
            self.add(|counters| &counters.bytes_asked, bytes);
        };
        let Some(record) = self.record() else {
            count();
            return None;
        };
        let mut held = record.lock();
        count();
        let (number, began) = (held.next_read(), Instant::now());
        let step = Step {
            number,
            ranges: ranges.to_vec(),
            file: source.name().to_owned(),
            server: source.server(),
            took: None,
            ..Step::done(Kind::Read, began, Duration::ZERO, bytes)
        };
        record.add_to(&mut held, step);
        drop(held);
        Some(Sent::new(record, number, began, ranges.len() as u64))
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
        if let Some(record) = self.record() {
            let now = Instant::now();
            let began = now.checked_sub(time).unwrap_or(now);
            record.add(Step::done(Kind::Wait, began, time, 0));
        }
    }

    pub(crate) fn add_bytes_from_cache(&self, n: u64) {
        self.add(|counters| &counters.bytes_from_cache, n);
    }
}

fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
#[allow(clippy::indexing_slicing, clippy::single_range_in_vec_init)]
mod tests {
    use super::Counters;
    use crate::record::{Kind, Step};
    use std::sync::Arc;
    use std::time::{Duration, Instant};
    use treemill_source::{Costs, Memory};

    #[test]
    fn the_whole_counts_what_its_parts_count() {
        let whole = Arc::new(Counters::default());
        let (one, other) = (Counters::part_of(&whole), Counters::part_of(&whole));
        let near = Memory::new("near", Vec::new(), Costs::NEAR);
        one.add_read(&near, &(0..100), Instant::now());
        other.add_sent(&near, &[0..20, 30..50, 60..70]);
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

    fn told(steps: &[Step]) -> Vec<(Kind, u64, u64)> {
        let one = |step: &Step| (step.kind, step.number, step.amount);
        steps.iter().map(one).collect()
    }

    #[test]
    fn a_worker_has_its_own_steps_and_each_is_taken_once() {
        let whole = Arc::new(Counters::default());
        whole.keep_steps();
        let (one, other) = (Counters::part_of(&whole), Counters::part_of(&whole));
        let near = Memory::new("near", Vec::new(), Costs::NEAR);
        one.add_read(&near, &(0..100), Instant::now());
        other.add_wait(Duration::from_millis(1));
        let (bytes, steps) = one.take_steps(Counters::bytes_read);
        assert_eq!(bytes, 100);
        assert_eq!(told(&steps), [(Kind::Read, 1, 100)]);
        assert!(one.take_steps(|_| ()).1.is_empty());
        assert_eq!(told(&other.take_steps(|_| ()).1), [(Kind::Wait, 0, 0)]);
    }
}
