//! Files that Python reads: protocols that the core has no transport for go through `treemill.data.bridge`. Decides
//! nothing: it hands ranges over and takes bytes back. The GIL is taken by threads of the bridge's own only, never by a thread
//! that computes; a call that is silent for too long is an error.

use crate::limits::BRIDGE_ROUND_TRIP;
use pyo3::exceptions::{PyFileNotFoundError, PyOSError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::ops::Range;
use std::sync::Arc;
use std::time::Instant;
use treemill_remote::{
    BlockingFile, BlockingReader, Entry, PATIENCE, Protocol, Stat, shown, within,
};
use treemill_source::{
    Bytes, Costs, Identity, Info, Observed, Source, SourceError, SourceErrorKind,
};

const MODULE: &str = "treemill.data.bridge";

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
        let (file, name, size, state, at_once) = called(url, |py, url| {
            let file = py.import(MODULE)?.call_method1("open_file", (url,))?;
            let (size, _, state): Told = file.getattr("told")?.extract()?;
            let name: String = file.getattr("name")?.extract()?;
            let at_once: usize = file.getattr("at_once")?.extract()?;
            Ok((file.unbind(), name, size, state, at_once))
        })?;
        let bridged = BlockingFile {
            info: Info {
                identity: state.map(|state| Identity::of_remote(&name, size, &state)),
                ..Info::new(&name, size)
            },
            costs: Costs::far(start.elapsed().max(BRIDGE_ROUND_TRIP)),
            at_once,
            patience: PATIENCE,
        };
        let source = bridged.read_by(Reader { file, name });
        Ok(Arc::new(Observed::of(source)))
    }

    fn stat(&self, url: &str) -> Result<Stat, SourceError> {
        let (name, told): (String, Told) = called(url, |py, url| {
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
        let entries: Vec<(String, bool)> = called(url, |py, url| {
            let module = py.import(MODULE)?;
            module.call_method1("list_folder", (url,))?.extract()
        })?;
        let one = |(name, is_folder)| Entry::plain(name, is_folder);
        Ok(entries.into_iter().map(one).collect())
    }
}

/// Calls Python about an address, on a thread of its own: a server that is silent does not keep the caller's.
fn called<T: Send + 'static>(
    url: &str,
    call: impl FnOnce(Python<'_>, &str) -> PyResult<T> + Send + 'static,
) -> Result<T, SourceError> {
    let (url, name) = (url.to_owned(), shown(url));
    let own = name.clone();
    within(&name, PATIENCE, move || attached(&own, |py| call(py, &url)))
}

/// Calls Python; not while it ends.
fn attached<T>(name: &str, call: impl FnOnce(Python<'_>) -> PyResult<T>) -> Result<T, SourceError> {
    let done = Python::try_attach(|py| call(py).map_err(|error| failed(py, name, &error)));
    done.unwrap_or_else(|| Err(SourceError::new(name, "Python has ended")))
}

fn failed(py: Python<'_>, name: &str, error: &PyErr) -> SourceError {
    // Of a bridge's own SourceError its kind.
    let named = error.value(py).getattr("kind");
    let named = named.and_then(|kind| kind.extract::<String>());
    let kind = if let Some(kind) = named.ok().and_then(|name| SourceErrorKind::of_name(&name)) {
        kind
    } else if error.is_instance_of::<PyFileNotFoundError>(py) {
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

impl BlockingReader for Reader {
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
}
