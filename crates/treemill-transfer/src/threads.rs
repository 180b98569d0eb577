//! Threads of a process for work that waits, for servers or for a mount. They start when there is work for them, and end when
//! there was none for a while: a new thread for each wait would cost more than most answers take to be read. Knows no work.

use crate::limits::IDLE;
use crate::process::PerProcess;
use std::collections::VecDeque;
use std::convert::Infallible;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// What a thread does once.
pub type Job = Box<dyn FnOnce() + Send>;

/// The threads of each process for one kind of work.
///
/// ```
/// use std::sync::mpsc::channel;
/// use treemill_transfer::Threads;
///
/// static THREADS: Threads = Threads::new("adding", 2);
/// let (sender, receiver) = channel();
/// THREADS.perform(Box::new(move || sender.send(1 + 1).unwrap_or_default()), Vec::new());
/// assert_eq!(receiver.recv(), Ok(2));
/// ```
pub struct Threads {
    name: &'static str,
    most: usize,
    pool: PerProcess<Pool>,
}

#[derive(Default)]
struct Pool {
    state: Mutex<State>,
    bell: Condvar,
}

#[derive(Default)]
struct State {
    jobs: VecDeque<Job>,
    threads: usize,
    idle: usize,
}

impl Threads {
    /// None yet, and never more than `most` in a process.
    #[must_use]
    pub const fn new(name: &'static str, most: usize) -> Self {
        Threads {
            name,
            most,
            pool: PerProcess::new(),
        }
    }

    /// Gives these jobs to threads: `first` before all that wait, the others after them. Jobs for which no thread can be had are
    /// dropped. One that panics ends alone.
    pub fn perform(&self, first: Job, others: Vec<Job>) {
        let Ok(pool) = self.pool.get(|| Ok::<Pool, Infallible>(Pool::default()));
        let new = others.len().saturating_add(1);
        let mut state = pool.state();
        state.jobs.push_front(first);
        state.jobs.extend(others);
        let wanted = state.jobs.len().saturating_sub(state.idle);
        for _ in 0..wanted.min(self.most.saturating_sub(state.threads)) {
            let thread = std::thread::Builder::new().name(self.name.to_owned());
            if thread.spawn(|| pool.work()).is_err() {
                break;
            }
            state.threads = state.threads.saturating_add(1);
        }
        let left = match state.threads {
            0 => std::mem::take(&mut state.jobs),
            _ => VecDeque::new(),
        };
        drop(state);
        drop(left); // their promises say so
        (0..new).for_each(|_| pool.bell.notify_one());
    }
}

impl Pool {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn work(&self) {
        let mut state = self.state();
        loop {
            if let Some(job) = state.jobs.pop_front() {
                drop(state);
                // What waits for a job that has panicked hears nothing of it any more.
                let _ = catch_unwind(AssertUnwindSafe(job));
                state = self.state();
                continue;
            }
            state.idle = state.idle.saturating_add(1);
            let waited = self.bell.wait_timeout(state, IDLE);
            let (again, waited) = waited.unwrap_or_else(PoisonError::into_inner);
            state = again;
            state.idle = state.idle.saturating_sub(1);
            if waited.timed_out() && state.jobs.is_empty() {
                state.threads = state.threads.saturating_sub(1);
                return;
            }
        }
    }
}

#[cfg(test)]
#[allow(clippy::panic)]
mod tests {
    use super::*;
    use std::sync::mpsc::{Receiver, channel};
    use std::sync::{Arc, Barrier};
    use std::thread::{ThreadId, current};

    /// Performs a job that tells which thread it runs on.
    fn thread_of(threads: &Threads) -> Receiver<ThreadId> {
        let (sender, receiver) = channel();
        let job = move || sender.send(current().id()).unwrap_or_default();
        threads.perform(Box::new(job), Vec::new());
        receiver
    }

    #[test]
    fn jobs_are_done_side_by_side_as_far_as_there_may_be_threads() {
        let threads = Threads::new("test", 5);
        let all = Arc::new(Barrier::new(5));
        let (sender, receiver) = channel();
        let job = |_| -> Job {
            let (all, sender) = (Arc::clone(&all), sender.clone());
            Box::new(move || {
                all.wait(); // ends only if five wait
                sender.send(current().id()).unwrap_or_default();
            })
        };
        threads.perform(job(0), (1..10).map(job).collect());
        drop(sender);
        let mut seen: Vec<ThreadId> = receiver.iter().collect();
        assert_eq!(seen.len(), 10);
        seen.sort_by_key(|id| format!("{id:?}"));
        seen.dedup();
        assert_eq!(seen.len(), 5);
    }

    #[test]
    fn a_thread_does_the_next_job_too_even_after_a_panic() {
        let threads = Threads::new("test", 1);
        let first = thread_of(&threads).recv();
        assert!(first.is_ok());
        threads.perform(Box::new(|| panic!("on purpose")), Vec::new());
        assert_eq!(thread_of(&threads).recv(), first);
    }

    #[test]
    fn jobs_without_threads_are_dropped() {
        let threads = Threads::new("test", 0);
        assert!(thread_of(&threads).recv().is_err());
    }
}
