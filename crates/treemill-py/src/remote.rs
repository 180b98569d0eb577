//! Files and folders on servers, as the storage of addresses asks for them.

use crate::errors::read_error;
use crate::interrupt::interruptible;
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::sync::Arc;
use treemill_read::ReadError;
use treemill_remote::{Description, Stat};
use treemill_source::{Identity, Part, Source, SourceError};
use treemill_transfer::Threads;

/// Schemes of addresses on servers that can be read.
#[pyfunction]
pub fn remote_schemes() -> Vec<&'static str> {
    treemill_remote::schemes()
}

/// (size, whether it is a folder, marks of its state or None). `soon`: the file will be opened soon.
#[pyfunction]
#[pyo3(signature = (url, *, soon=false))]
pub fn remote_stat(
    py: Python<'_>,
    url: String,
    soon: bool,
) -> PyResult<(u64, bool, Option<Vec<u64>>)> {
    let stat = asked(py, move || match soon {
        true => treemill_remote::look(&url),
        false => treemill_remote::stat(&url),
    })?;
    Ok((stat.size, stat.is_folder, stat.identity.map(marks)))
}

/// The size of each file and marks of its state, or None, as `remote_stat` gives them, asked for at once; of a file that fails
/// the error, and None of one whose server is silent. `soon`: the files may be opened next.
#[pyfunction]
#[pyo3(signature = (urls, *, soon=false))]
pub fn remote_stats(py: Python<'_>, urls: Vec<String>, soon: bool) -> PyResult<Vec<Py<PyAny>>> {
    let told = interruptible(py, move || treemill_remote::stats(&urls, soon))?;
    told.into_iter().map(|stat| answered(py, stat)).collect()
}

fn answered(py: Python<'_>, stat: Option<Result<Stat, SourceError>>) -> PyResult<Py<PyAny>> {
    match stat {
        None => Ok(py.None()),
        Some(Ok(stat)) => (stat.size, stat.identity.map(marks)).into_py_any(py),
        Some(Err(error)) => read_error(py, &ReadError::source(error)).into_py_any(py),
    }
}

/// Opens a file in the background, on no thread of its own, and its tree of this name, empty: the only one. Calls `then` when what
/// they say of themselves is here: with the size and marks of the file's state, as `remote_stats` gives them, or with the
/// error. `then` may raise nothing and must not wait.
#[pyfunction]
pub fn remote_look(py: Python<'_>, url: &str, tree: String, then: Py<PyAny>) {
    let tell = move |stat: Result<Stat, SourceError>| {
        // The runtime's threads bring bytes: they do not wait for the interpreter. At its end there is nobody to tell.
        let told = move || {
            Python::try_attach(|py| {
                let answer = answered(py, Some(stat));
                if let Err(error) = answer.and_then(|answer| then.call1(py, (answer,))) {
                    error.write_unraisable(py, None);
                }
            });
        };
        TELLING.perform(Box::new(told), Vec::new());
    };
    py.detach(|| treemill_remote::look_soon(url, describer(tree), tell));
}

/// Makes what opens a file on a server, and its tree of this name if there is such a one, of bytes that come round by round.
fn describer(tree: String) -> impl FnMut(Arc<dyn Source>) -> Option<Description> {
    let mut opened = None;
    move |source| {
        let file = match opened.take() {
            Some(file) => file,
            None => treemill_read::File::open(source).ok()?,
        };
        let _ = file.table(&tree); // who wants it meets what is wrong with it
        opened = Some(Arc::clone(&file));
        Some(file)
    }
}

/// Calls what waits for files that are open now.
static TELLING: Threads = Threads::new("treemill-tell", 1);

/// Closes those of these files that were opened when their state was asked for, and not since.
#[pyfunction]
pub fn remote_release(urls: Vec<String>) {
    treemill_remote::release(&urls);
}

/// (size, marks of its state) of a file as this process has had it open last, if it can be read before its server answers.
#[pyfunction]
pub fn remote_assumed(url: &str) -> Option<(u64, Vec<u64>)> {
    treemill_remote::assumed(url).map(|identity| (identity.size, marks(identity)))
}

/// Whether a file that this process has had open can be opened again without its server: what that reads is in memory, or on
/// this disk.
#[pyfunction]
pub fn remote_kept(url: &str) -> bool {
    treemill_remote::is_kept(url)
}

/// An identity without its size, in numbers.
pub fn marks(identity: Identity) -> Vec<u64> {
    let both = identity.place.into_iter().chain(identity.state);
    both.collect()
}

/// (name, whether it is a folder, the name as addresses write it, or None if they cannot) of all that a folder holds.
#[pyfunction]
pub fn remote_list(py: Python<'_>, url: String) -> PyResult<Vec<(String, bool, Option<String>)>> {
    let entries = asked(py, move || treemill_remote::list(&url))?;
    let named = entries
        .into_iter()
        .map(|entry| (entry.name, entry.is_folder, entry.written));
    Ok(named.collect())
}

/// The hosts that a file lies on, by the word of the server that its address names; none if it does not tell.
#[pyfunction]
pub fn remote_hosts(py: Python<'_>, url: String) -> PyResult<Vec<String>> {
    asked(py, move || treemill_remote::hosts(&url))
}

/// All bytes of a small file.
#[pyfunction]
pub fn remote_content(py: Python<'_>, url: String) -> PyResult<Bound<'_, PyBytes>> {
    let bytes = asked(py, move || treemill_remote::content(&url))?;
    Ok(PyBytes::new(py, &bytes))
}

/// This process ends: servers that keep what it had open are told, within a fraction of a second. Keeps the GIL, which a thread of
/// the user's code might not give back.
#[pyfunction]
pub fn remote_leave() {
    treemill_remote::leave();
}

/// A session of this process has worker processes from now on, which may want its connections, or has ended them.
#[pyfunction]
pub fn remote_share(has_workers: bool) {
    treemill_transfer::share_connections(has_workers);
}

/// Asks a server. Ctrl-C ends the wait.
fn asked<T: Send + 'static>(
    py: Python<'_>,
    ask: impl FnOnce() -> Result<T, SourceError> + Send + 'static,
) -> PyResult<T> {
    interruptible(py, ask)?.map_err(|e| read_error(py, &ReadError::source(e)))
}

/// Switches parts of remote reading off in this process, by their names, and all others on: to measure what each gains.
#[pyfunction]
pub fn switch_off(parts: Vec<String>) -> PyResult<()> {
    let one = |name: &String| {
        let found = Part::ALL.iter().find(|(known, _)| known == name);
        found.map(|(_, part)| *part).ok_or_else(|| {
            pyo3::exceptions::PyValueError::new_err(format!("there is no part {name}"))
        })
    };
    let parts = parts.iter().map(one).collect::<PyResult<Vec<Part>>>()?;
    treemill_source::switch_off(&parts);
    Ok(())
}

/// Records the next ranges that servers are asked for, at most this number; 0: none.
#[pyfunction]
pub fn record_reads(most: usize) {
    treemill_source::record_reads(most);
}

/// A range that was recorded: the number of its vectored read, server, file, its first byte and the one after its
/// last, when it was asked for in seconds since recording began, how many seconds it took, and whether it came.
type Recorded = (u64, String, String, u64, u64, f64, f64, bool);

/// What was recorded, and how many ranges came after the record was full.
#[pyfunction]
pub fn recorded_reads() -> (Vec<Recorded>, u64) {
    let (reads, dropped) = treemill_source::recorded_reads();
    let told = reads.into_iter().map(|read| {
        (
            read.read,
            read.server.to_string(),
            read.file.to_string(),
            read.range.start,
            read.range.end,
            read.sent.as_secs_f64(),
            read.took.as_secs_f64(),
            read.is_here,
        )
    });
    (told.collect(), dropped)
}
