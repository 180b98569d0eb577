//! Files that Python reads: protocols that the core has no transport for go through `treemill.tree.bridge`. Decides
//! nothing: it hands ranges over and takes bytes back. The GIL is taken by threads of its own only, never by a thread
//! that computes.

use crate::limits::{BRIDGE_BATCH, BRIDGE_ROUND_TRIP};
use pyo3::exceptions::{PyFileNotFoundError, PyOSError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::ops::Range;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;
use treemill_remote::{Entry, Protocol, Stat};
use treemill_source::{
    Bytes, Costs, Identity, Observed, Promise, Request, Source, SourceError, SourceErrorKind,
    Ticket, read_by_tickets,
};

const MODULE: &str = "treemill.tree.bridge";

/// Gives the core its bridge.
pub fn set() {
    treemill_remote::set_bridge(Box::new(Bridge));
}

/// Python's functions for addresses.
struct Bridge;

/// (bytes, whether it is a folder, what identifies the state).
type Told = (u64, bool, Option<String>);

impl Protocol for Bridge {
    fn open(&self, url: &str) -> Result<Arc<dyn Source>, SourceError> {
        let start = Instant::now();
        let (file, name, size, state, at_once) = attached(url, |py| {
            let file = py.import(MODULE)?.call_method1("open_file", (url,))?;
            let (size, _, state): Told = file.getattr("told")?.extract()?;
            let name: String = file.getattr("name")?.extract()?;
            let at_once: usize = file.getattr("at_once")?.extract()?;
            Ok((file.unbind(), name, size, state, at_once))
        })?;
        let identity = state.map(|state| Identity::of_remote(&name, size, &state));
        let costs = Costs::far(start.elapsed().max(BRIDGE_ROUND_TRIP));
        let threads = Threads::new(Arc::new(Reader { file, name }), at_once);
        Ok(Arc::new(Observed::of(Arc::new(Bridged {
            size,
            identity,
            costs,
            threads,
        }))))
    }

    fn stat(&self, url: &str) -> Result<Stat, SourceError> {
        let (name, told): (String, Told) = attached(url, |py| {
            py.import(MODULE)?.call_method1("stat", (url,))?.extract()
        })?;
        let (size, is_folder, state) = told;
        Ok(Stat {
            size,
            is_folder,
            identity: state.map(|state| Identity::of_remote(&name, size, &state)),
        })
    }

    fn list(&self, url: &str) -> Result<Vec<Entry>, SourceError> {
        let entries: Vec<(String, bool)> = attached(url, |py| {
            let module = py.import(MODULE)?;
            module.call_method1("list_folder", (url,))?.extract()
        })?;
        let one = |(name, is_folder)| Entry { name, is_folder };
        Ok(entries.into_iter().map(one).collect())
    }
}

/// Calls Python; not while it ends.
fn attached<T>(name: &str, call: impl FnOnce(Python<'_>) -> PyResult<T>) -> Result<T, SourceError> {
    let done = Python::try_attach(|py| call(py).map_err(|error| failed(py, name, &error)));
    done.unwrap_or_else(|| Err(SourceError::new(name, "Python has ended")))
}

fn failed(py: Python<'_>, name: &str, error: &PyErr) -> SourceError {
    let kind = if error.is_instance_of::<PyFileNotFoundError>(py) {
        SourceErrorKind::Missing
    } else if error.is_instance_of::<PyOSError>(py) {
        SourceErrorKind::Transient
    } else {
        SourceErrorKind::Permanent
    };
    SourceError::of(kind, name, error.value(py).to_string())
}

/// An open file of Python's.
struct Reader {
    file: Py<PyAny>,
    name: String,
}

impl Reader {
    /// The bytes of each range, or why there are none of any.
    fn read(&self, ranges: &[Range<u64>]) -> Result<Vec<Bytes>, SourceError> {
        let pairs: Vec<_> = ranges
            .iter()
            .map(|range| (range.start, range.end))
            .collect();
        attached(&self.name, |py| {
            let parts = self.file.bind(py).call_method1("read", (pairs,))?;
            let parts: Vec<Bound<'_, PyBytes>> = parts.extract()?;
            let copied = parts
                .iter()
                .map(|part| Bytes::copy_from_slice(part.as_bytes()));
            Ok(copied.collect())
        })
    }

    fn answer(&self, asked: Vec<(Range<u64>, Promise)>) {
        let (ranges, promises): (Vec<_>, Vec<_>) = asked.into_iter().unzip();
        let mut parts = self.read(&ranges).map(Vec::into_iter);
        for (range, promise) in ranges.into_iter().zip(promises) {
            let part = match &mut parts {
                Ok(parts) => parts.next().unwrap_or_default(),
                Err(error) => {
                    let range = Some(range);
                    promise.keep(Err(SourceError {
                        range,
                        ..error.clone()
                    }));
                    continue;
                }
            };
            let wanted = range.end.saturating_sub(range.start);
            let answer = match part.len() as u64 == wanted {
                true => Ok(part),
                false => Err(SourceError {
                    range: Some(range),
                    ..SourceError::new(&self.name, format!("only {} bytes came", part.len()))
                }),
            };
            promise.keep(answer);
        }
    }
}

type Batch = Vec<(Range<u64>, Promise)>;

/// Threads that ask Python for bytes: as many as the file's protocol may be asked by at once, started when they are
/// needed. They end with the source.
struct Threads {
    reader: Arc<Reader>,
    batches: Sender<Batch>,
    waiting: Arc<Mutex<Receiver<Batch>>>,
    /// How many may still be started.
    left: Mutex<usize>,
}

impl Threads {
    fn new(reader: Arc<Reader>, at_once: usize) -> Self {
        let (batches, waiting) = channel();
        Threads {
            reader,
            batches,
            waiting: Arc::new(Mutex::new(waiting)),
            left: Mutex::new(at_once.max(1)),
        }
    }

    fn hand_over(&self, batch: Batch) {
        self.start_one();
        // A batch that no thread takes breaks its promises, which is an error of each ticket.
        let _ = self.batches.send(batch);
    }

    fn start_one(&self) {
        let mut left = self.left.lock().unwrap_or_else(PoisonError::into_inner);
        if *left == 0 {
            return;
        }
        let (reader, waiting) = (Arc::clone(&self.reader), Arc::clone(&self.waiting));
        let work = move || {
            loop {
                let next = waiting
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .recv();
                let Ok(batch) = next else { return };
                reader.answer(batch);
            }
        };
        let started = std::thread::Builder::new()
            .name("bridge".to_owned())
            .spawn(work);
        if started.is_ok() {
            *left = left.saturating_sub(1);
        }
    }
}

/// A file that Python reads.
struct Bridged {
    size: u64,
    identity: Option<Identity>,
    costs: Costs,
    threads: Threads,
}

impl Source for Bridged {
    fn name(&self) -> &str {
        &self.threads.reader.name
    }

    fn size(&self) -> u64 {
        self.size
    }

    fn costs(&self) -> Costs {
        self.costs
    }

    fn identity(&self) -> Option<Identity> {
        self.identity
    }

    fn read(&self, requests: &mut [Request]) -> Result<(), SourceError> {
        read_by_tickets(self, requests)
    }

    fn submit(&self, ranges: Vec<Range<u64>>) -> Vec<Ticket> {
        let mut batch = Batch::new();
        let mut tickets = Vec::with_capacity(ranges.len());
        for range in ranges {
            if range.start > range.end || range.end > self.size {
                let what = format!("the source has {} bytes", self.size);
                let error = SourceError::new(self.name(), what);
                let range = Some(range);
                tickets.push(Ticket::ready(Err(SourceError { range, ..error })));
                continue;
            }
            let (ticket, promise) = Ticket::new(self.name(), range.clone());
            tickets.push(ticket);
            batch.push((range, promise));
            if batch.len() == BRIDGE_BATCH {
                self.threads.hand_over(std::mem::take(&mut batch));
            }
        }
        if !batch.is_empty() {
            self.threads.hand_over(batch);
        }
        tickets
    }
}
