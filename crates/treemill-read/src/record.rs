//! What readers did, step by step: reads with their ranges, waits, decompression, decoding, evaluation. Bounded, and off
//! unless it is asked for. Knows names and numbers; reads nothing itself.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use treemill_source::{Ticket, Watch};

/// What a step was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A vectored read of a source.
    Read,
    /// The last range of a read came, which was told of as [`Kind::Read`] before.
    Came,
    /// A thread waited for bytes of a distant source.
    Wait,
    /// A basket or page was decompressed.
    Decompress,
    /// Bytes of a basket or page became a part of a column.
    Decode,
    /// A query went over a batch.
    Evaluate,
    /// There was no room for this number of steps.
    LeftOut,
}

/// One step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// What it was.
    pub kind: Kind,
    /// A read's number among those of its worker.
    pub number: u64,
    /// When it began.
    pub began: Instant,
    /// How long it took, steps inside of it included; `None` for a read that is on its way.
    pub took: Option<Duration>,
    /// Bytes that a read has asked for, or those after decompression; rows of other steps. Of [`Kind::LeftOut`] the bytes of
    /// the reads that are left out.
    pub amount: u64,
    /// Bytes of the file; of an evaluation the entries of its batch.
    pub ranges: Vec<Range<u64>>,
    /// The file that was read.
    pub file: String,
    /// The server that was asked.
    pub server: String,
    /// Whether all came.
    pub is_here: bool,
}

impl Step {
    /// A step that is over.
    #[must_use]
    pub fn done(kind: Kind, began: Instant, took: Duration, amount: u64) -> Self {
        Step {
            kind,
            number: 0,
            began,
            took: Some(took),
            amount,
            ranges: Vec::new(),
            file: String::new(),
            server: String::new(),
            is_here: true,
        }
    }
}

/// The steps of one worker that were not taken yet.
#[derive(Debug)]
pub struct Record {
    most: usize,
    held: Mutex<Held>,
}

/// A read that is on its way.
#[derive(Debug)]
struct Flying {
    number: u64,
    began: Instant,
    watches: Vec<Watch>,
}

/// What is held, under its lock.
#[derive(Debug, Default)]
pub(crate) struct Held {
    steps: Vec<Step>,
    /// Reads that are on their way, and what they wait for.
    flying: Vec<Flying>,
    /// Room that they take: a read takes that of its ranges.
    taken: usize,
    reads: u64,
    left_out: u64,
    bytes_left_out: u64,
}

impl Held {
    /// The number of the next read.
    pub(crate) fn next_read(&mut self) -> u64 {
        self.reads = self.reads.saturating_add(1);
        self.reads
    }

    /// Ends the reads of which all bytes are here although no thread has said so yet: readers may be faster.
    fn land(&mut self, most: usize) {
        let is_over = |flying: &mut Flying| flying.watches.iter().all(Watch::is_over);
        let over: Vec<Flying> = self.flying.extract_if(.., is_over).collect();
        for read in over {
            self.end(&read, true, most);
        }
    }

    /// Notes the end of a read: where it is told of, if that was not taken yet.
    fn end(&mut self, flying: &Flying, is_here: bool, most: usize) {
        let took = flying.began.elapsed();
        let is_it = |step: &&mut Step| step.kind == Kind::Read && step.number == flying.number;
        if let Some(step) = self.steps.iter_mut().rev().find(is_it) {
            (step.took, step.is_here) = (Some(took), is_here);
            return;
        }
        let step = Step {
            number: flying.number,
            is_here,
            ..Step::done(Kind::Came, flying.began, took, 0)
        };
        self.add(step, most);
    }

    fn add(&mut self, step: Step, most: usize) {
        let room = self.taken.saturating_add(step.ranges.len().max(1));
        if room <= most {
            self.taken = room;
            self.steps.push(step);
            return;
        }
        self.left_out = self.left_out.saturating_add(1);
        if step.kind == Kind::Read {
            self.bytes_left_out = self.bytes_left_out.saturating_add(step.amount);
        }
    }
}

impl Record {
    /// A record with room for a number of steps and ranges.
    pub(crate) fn new(most: usize) -> Self {
        Record {
            most,
            held: Mutex::default(),
        }
    }

    pub(crate) fn most(&self) -> usize {
        self.most
    }

    /// Keeps others from adding and taking.
    pub(crate) fn lock(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a step.
    pub fn add(&self, step: Step) {
        self.add_to(&mut self.lock(), step);
    }

    pub(crate) fn add_to(&self, held: &mut Held, step: Step) {
        held.add(step, self.most);
    }

    /// Notes what a read waits for, which was sent then.
    pub(crate) fn watch(&self, number: u64, began: Instant, tickets: &[Ticket]) {
        let watches = tickets.iter().map(Ticket::watch).collect();
        self.lock().flying.push(Flying {
            number,
            began,
            watches,
        });
    }

    /// Notes that a read has ended, well or not.
    pub(crate) fn came(&self, number: u64, is_here: bool) {
        let mut held = self.lock();
        let place = held.flying.iter().position(|read| read.number == number);
        if let Some(place) = place {
            let read = held.flying.swap_remove(place);
            held.end(&read, is_here, self.most);
        }
    }

    /// Takes out all steps, with what `count` gives meanwhile: nothing is counted between both.
    pub(crate) fn take<T>(&self, count: impl FnOnce() -> T) -> (T, Vec<Step>) {
        let mut held = self.lock();
        let counted = count();
        held.land(self.most);
        let mut steps = std::mem::take(&mut held.steps);
        if held.left_out > 0 {
            steps.push(Step {
                number: held.left_out,
                ..Step::done(
                    Kind::LeftOut,
                    Instant::now(),
                    Duration::ZERO,
                    held.bytes_left_out,
                )
            });
        }
        (held.taken, held.left_out, held.bytes_left_out) = (0, 0, 0);
        (counted, steps)
    }
}

/// A read of which steps are kept, and that is on its way.
pub(crate) struct Sent {
    record: Arc<Record>,
    number: u64,
    began: Instant,
    left: AtomicU64,
    is_whole: AtomicBool,
}

impl Sent {
    pub(crate) fn new(record: &Arc<Record>, number: u64, began: Instant, ranges: u64) -> Self {
        Sent {
            record: Arc::clone(record),
            number,
            began,
            left: AtomicU64::new(ranges),
            is_whole: AtomicBool::new(true),
        }
    }

    /// What it waits for.
    pub(crate) fn watch(&self, tickets: &[Ticket]) {
        self.record.watch(self.number, self.began, tickets);
    }

    /// One of its ranges came, or will not.
    pub(crate) fn came(&self, is_here: bool) {
        self.is_whole.fetch_and(is_here, Ordering::AcqRel);
        if self.left.fetch_sub(1, Ordering::AcqRel) == 1 {
            let is_whole = self.is_whole.load(Ordering::Acquire);
            self.record.came(self.number, is_whole);
        }
    }
}

#[cfg(test)]
#[allow(clippy::indexing_slicing, clippy::single_range_in_vec_init)]
mod tests {
    use super::*;

    fn told(steps: &[Step]) -> Vec<(Kind, u64, u64)> {
        let one = |step: &Step| (step.kind, step.number, step.amount);
        steps.iter().map(one).collect()
    }

    #[test]
    fn a_read_whose_bytes_are_here_is_over() {
        let record = Record::new(3);
        let (ticket, promise) = Ticket::new("f", 0..1);
        let flying = Step {
            number: 1,
            took: None,
            ..Step::done(Kind::Read, Instant::now(), Duration::ZERO, 1)
        };
        record.add(flying.clone());
        record.watch(1, flying.began, std::slice::from_ref(&ticket));
        assert_eq!(record.take(|| ()).1, vec![flying.clone()]);
        record.add(Step {
            number: 2,
            ..flying.clone()
        });
        record.watch(2, flying.began, std::slice::from_ref(&ticket));
        promise.keep(Ok(treemill_source::Bytes::from_static(b"a")));
        let ((), steps) = record.take(|| ());
        assert_eq!(told(&steps), [(Kind::Read, 2, 1), (Kind::Came, 1, 0)]);
        assert!(steps.iter().all(|step| step.took.is_some()));
        assert!(record.lock().flying.is_empty());
    }

    #[test]
    fn what_there_is_no_room_for_is_counted_with_its_bytes() {
        let record = Record::new(3);
        let (ticket, _promise) = Ticket::new("f", 0..1);
        let read = |number: u64, ranges: Vec<Range<u64>>| Step {
            number,
            ranges,
            took: None,
            ..Step::done(Kind::Read, Instant::now(), Duration::ZERO, 10 * number)
        };
        record.add(read(1, vec![0..5, 10..15]));
        record.add(read(2, vec![0..5, 10..15]));
        record.add(read(3, vec![0..30]));
        for number in [1, 3] {
            record.watch(number, Instant::now(), std::slice::from_ref(&ticket));
        }
        record.came(1, true);
        let ((), steps) = record.take(|| ());
        let all = [
            (Kind::Read, 1, 10),
            (Kind::Read, 3, 30),
            (Kind::LeftOut, 1, 20),
        ];
        assert_eq!(told(&steps), all);
        assert!(steps[0].took.is_some() && steps[1].took.is_none());
        record.came(3, false);
        record.came(3, true);
        let ((), steps) = record.take(|| ());
        assert_eq!(told(&steps), [(Kind::Came, 3, 0)]);
        assert!(!steps[0].is_here);
    }
}
