//! The threads that ask a reader for batches of ranges, and the one that gives up what a reader is silent about. Started when they
//! are needed.

use super::{BlockingReader, silent};
use crate::limits::{BATCH_BYTES, BATCH_RANGES};
use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use treemill_source::{Bytes, Promise, SourceError};

/// Ranges that a reader is asked for in one call.
pub(super) type Batch = Vec<(Range<u64>, Promise)>;

fn length(range: &Range<u64>) -> u64 {
    range.end.saturating_sub(range.start)
}

fn bytes(batch: &Batch) -> u64 {
    let lengths = batch.iter().map(|(range, _)| length(range));
    lengths.fold(0, u64::saturating_add)
}

/// Divides what is asked for: with many ranges or bytes in one call, the first ones would wait for the last ones, and one
/// could not tell a slow reader from a silent one.
pub(super) fn batches(asked: Batch) -> Vec<Batch> {
    let mut all: Vec<Batch> = Vec::new();
    let mut room = 0;
    for (range, promise) in asked {
        let wanted = length(&range);
        match all.last_mut() {
            Some(last) if last.len() < BATCH_RANGES && wanted <= room => {
                room = room.saturating_sub(wanted);
                last.push((range, promise));
            }
            _ => {
                room = BATCH_BYTES.saturating_sub(wanted);
                all.push(vec![(range, promise)]);
            }
        }
    }
    all
}

/// How long a reader may take for this many bytes: its patience, and as much again for each further batch's worth.
pub(super) fn allowed(patience: Duration, bytes: u64) -> Duration {
    let parts = bytes.div_ceil(BATCH_BYTES).max(1);
    patience.saturating_mul(u32::try_from(parts).unwrap_or(u32::MAX))
}

/// A batch that a thread asks for now.
struct Asked {
    promises: Batch,
    until: Instant,
}

#[derive(Default)]
struct State {
    /// The process that has the threads.
    process: u32,
    waiting: VecDeque<Batch>,
    asked: BTreeMap<u64, Asked>,
    last: u64,
    /// Threads that ask or wait for batches. One that the reader keeps for too long is not counted.
    threads: usize,
    idle: usize,
    watches: bool,
    has_ended: bool,
}

struct Shared {
    name: String,
    reader: Arc<dyn BlockingReader>,
    at_once: usize,
    patience: Duration,
    state: Mutex<State>,
    /// Rings when there is a batch, when one is done, and at the end.
    bell: Condvar,
}

/// The threads that ask: as many as the reader takes at once. They end with the source.
pub(super) struct Threads(Arc<Shared>);

impl Threads {
    pub(super) fn new(
        name: &str,
        reader: Arc<dyn BlockingReader>,
        at_once: usize,
        patience: Duration,
    ) -> Self {
        Threads(Arc::new(Shared {
            name: name.to_owned(),
            reader,
            at_once: at_once.max(1),
            patience,
            state: Mutex::default(),
            bell: Condvar::new(),
        }))
    }

    /// Asks for a batch as soon as a thread is free.
    pub(super) fn hand_over(&self, batch: Batch) {
        let mut state = self.0.state();
        let process = std::process::id();
        if state.process != process {
            // A forked child has its parent's promises, and not its threads: it starts its own.
            let own = State {
                process,
                ..State::default()
            };
            std::mem::forget(std::mem::replace(&mut *state, own));
        }
        state.waiting.push_back(batch);
        let is_short = state.idle < state.waiting.len() && state.threads < self.0.at_once;
        if is_short && start(&self.0, "bridge", Shared::ask) {
            state.threads = state.threads.saturating_add(1);
        }
        if !state.watches {
            state.watches = start(&self.0, "bridge-watch", Shared::watch);
        }
        if state.threads == 0 {
            // No thread can be started: the promises are broken, which is an error of each ticket.
            state.waiting.clear();
        }
        drop(state);
        self.0.bell.notify_all();
    }
}

impl Drop for Threads {
    fn drop(&mut self) {
        self.0.state().has_ended = true;
        self.0.bell.notify_all();
    }
}

fn start(shared: &Arc<Shared>, name: &str, work: fn(&Shared)) -> bool {
    let shared = Arc::clone(shared);
    let thread = std::thread::Builder::new().name(name.to_owned());
    thread.spawn(move || work(&shared)).is_ok()
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A thread that asks the reader: for what waits, until the source has ended.
    fn ask(&self) {
        while let Some((number, ranges)) = self.next() {
            let found = self.reader.read(&ranges);
            let mut state = self.state();
            let Some(asked) = state.asked.remove(&number) else {
                return; // it took too long, and another thread stands in for this one
            };
            drop(state);
            self.bell.notify_all();
            self.answer(asked.promises, found);
        }
    }

    /// The next batch, noted as asked for. None at the end.
    fn next(&self) -> Option<(u64, Vec<Range<u64>>)> {
        let mut state = self.state();
        loop {
            if let Some(promises) = state.waiting.pop_front() {
                let ranges = promises.iter().map(|(range, _)| range.clone()).collect();
                let until = Instant::now()
                    .checked_add(allowed(self.patience, bytes(&promises)))
                    .unwrap_or_else(Instant::now);
                state.last = state.last.saturating_add(1);
                let number = state.last;
                state.asked.insert(number, Asked { promises, until });
                drop(state);
                self.bell.notify_all(); // the watch has something to look at
                return Some((number, ranges));
            }
            if state.has_ended {
                state.threads = state.threads.saturating_sub(1);
                return None;
            }
            state.idle = state.idle.saturating_add(1);
            state = self
                .bell
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
            state.idle = state.idle.saturating_sub(1);
        }
    }

    fn answer(&self, promises: Batch, found: Result<Vec<Bytes>, SourceError>) {
        let mut parts = found.map(Vec::into_iter);
        for (range, promise) in promises {
            let part = match &mut parts {
                Ok(parts) => Ok(parts.next().unwrap_or_default()),
                Err(error) => Err(error.clone()),
            };
            let answer = part.and_then(|part| match part.len() as u64 == length(&range) {
                true => Ok(part),
                false => {
                    let what = format!("only {} bytes came", part.len());
                    Err(SourceError::new(&self.name, what))
                }
            });
            let range = Some(range);
            promise.keep(answer.map_err(|error| SourceError { range, ..error }));
        }
    }

    /// The thread that gives up what takes too long, as long as anything is asked for.
    fn watch(&self) {
        let mut state = self.state();
        loop {
            let until = state.asked.values().map(|asked| asked.until).min();
            let Some(until) = until else {
                if state.waiting.is_empty() {
                    state.watches = false;
                    return;
                }
                state = self
                    .bell
                    .wait(state)
                    .unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            let now = Instant::now();
            let left = until.saturating_duration_since(now);
            if left.is_zero() {
                let late = give_up(&mut state, now);
                drop(state);
                self.answer(late, Err(silent(&self.name, self.patience)));
                state = self.state();
            } else {
                let waited = self.bell.wait_timeout(state, left);
                state = waited.unwrap_or_else(PoisonError::into_inner).0;
            }
        }
    }
}

/// Takes out what is late, and what waits behind it: the next submission gets new threads.
fn give_up(state: &mut State, now: Instant) -> Batch {
    let late: Vec<u64> = state
        .asked
        .iter()
        .filter(|(_, asked)| asked.until <= now)
        .map(|(number, _)| *number)
        .collect();
    let mut all = Batch::new();
    for number in late {
        let asked = state.asked.remove(&number);
        all.extend(asked.into_iter().flat_map(|asked| asked.promises));
        state.threads = state.threads.saturating_sub(1);
    }
    all.extend(std::mem::take(&mut state.waiting).into_iter().flatten());
    all
}
