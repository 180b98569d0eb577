//! Waiting for servers without keeping Ctrl-C, or a run that is stopped, waiting.

use crate::limits::LOOKED_EVERY;
use pyo3::exceptions::PyRuntimeError;
use pyo3::intern;
use pyo3::prelude::*;
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, channel};
use treemill_read::Counters;
use treemill_transfer::Threads;

/// What may wait for a server, while its caller looks for signals.
static WAITING: Threads = Threads::new("treemill-wait", usize::MAX);

thread_local! {
    /// The run that this thread works for.
    static RUN: RefCell<Option<Arc<Counters>>> = const { RefCell::new(None) };
}

/// This thread works from now on for the run of these counters, or for none.
pub fn work_for(run: Option<Arc<Counters>>) {
    RUN.set(run);
}

/// Does what may wait for a server, detached from the GIL. A worker's thread waits no longer than its run, and the main thread
/// until Ctrl-C: Python runs handlers of signals on that one only. For both a thread of its own does the work, which goes on
/// alone if it is not waited for any more.
///
/// # Errors
/// What the handler of a signal raises; `SourceError` if the run was stopped.
pub fn interruptible<T: Send + 'static>(
    py: Python<'_>,
    work: impl FnOnce() -> T + Send + 'static,
) -> PyResult<T> {
    let run = RUN.with_borrow(Clone::clone);
    if run.is_none() && !is_main_thread(py)? {
        return Ok(py.detach(work));
    }
    let (sender, mut receiver) = channel();
    let work = move || {
        let done = catch_unwind(AssertUnwindSafe(work));
        drop(sender.send(done)); // what comes too late is dropped
    };
    WAITING.perform(Box::new(work), Vec::new());
    loop {
        let answer;
        (receiver, answer) = py.detach(move || {
            let answer = receiver.recv_timeout(LOOKED_EVERY);
            (receiver, answer)
        });
        match answer {
            Ok(Ok(done)) => return Ok(done),
            // The work has panicked, which is the caller's panic.
            Ok(Err(panic)) => resume_unwind(panic),
            Err(RecvTimeoutError::Timeout) => py.check_signals()?,
            Err(RecvTimeoutError::Disconnected) => {
                return Err(PyRuntimeError::new_err("no more threads can be started"));
            }
        }
        if run.as_ref().is_some_and(|run| run.is_overdue()) {
            return Err(given_up(py));
        }
    }
}

fn is_main_thread(py: Python<'_>) -> PyResult<bool> {
    let threading = py.import(intern!(py, "threading"))?;
    let main = threading.call_method0(intern!(py, "main_thread"))?;
    let own = threading.call_method0(intern!(py, "get_ident"))?;
    main.getattr(intern!(py, "ident"))?.eq(own)
}

fn given_up(py: Python<'_>) -> PyErr {
    let what = "the run was stopped while a server was waited for";
    let made = || {
        let class = py.import("treemill.errors")?.getattr("SourceError")?;
        class.call1((what,))
    };
    made().map_or_else(|error| error, PyErr::from_value)
}
