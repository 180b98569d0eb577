//! The threads of a process that read from mounts; they start when there is work for them. Knows no file.

use crate::limits::THREADS;
use std::collections::VecDeque;
use std::convert::Infallible;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use treemill_transfer::PerProcess;

/// What a thread does, once.
pub(crate) type Job = Box<dyn FnOnce() + Send>;

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

static POOL: PerProcess<Pool> = PerProcess::new();

/// Gives these jobs to threads: `first` before all that wait, the others after them. Jobs for which no thread can be had are
/// dropped.
pub(crate) fn perform(first: Job, others: Vec<Job>) {
    let Ok(pool) = POOL.get(|| Ok::<Pool, Infallible>(Pool::default()));
    let mut state = pool.state();
    state.jobs.push_front(first);
    state.jobs.extend(others);
    let wanted = state.jobs.len().saturating_sub(state.idle);
    for _ in 0..wanted.min(THREADS.saturating_sub(state.threads)) {
        let thread = std::thread::Builder::new().name("treemill-mount".to_owned());
        if thread.spawn(|| pool.work()).is_ok() {
            state.threads = state.threads.saturating_add(1);
        }
    }
    let left = match state.threads {
        0 => std::mem::take(&mut state.jobs),
        _ => VecDeque::new(),
    };
    drop(state);
    drop(left); // their promises say so
    pool.bell.notify_all();
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
                job();
                state = self.state();
                continue;
            }
            state.idle = state.idle.saturating_add(1);
            state = self
                .bell
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
            state.idle = state.idle.saturating_sub(1);
        }
    }
}
