//! What the process remembers of the files that it read: how much, and its limit.

use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;
use std::path::PathBuf;
use treemill_read::cache;
use treemill_source::cache::Readers;

/// How many bytes may be remembered.
#[pyfunction]
pub fn cache_limit() -> u64 {
    cache::limit()
}

/// Says how many bytes may be remembered; 0: none. What is too much by then is forgotten.
#[pyfunction]
pub fn set_cache_limit(py: Python<'_>, limit: u64) {
    py.detach(|| cache::set_limit(limit));
}

/// How many bytes are remembered.
#[pyfunction]
pub fn cache_held() -> u64 {
    cache::held()
}

/// Forgets all that is remembered.
#[pyfunction]
pub fn clear_cache(py: Python<'_>) {
    py.detach(cache::clear);
}

/// Names the folder of the cache on disk and the bytes that it may hold; None or 0: there is none. `readers`: who else may read
/// what is kept, "group" or "all"; None: nobody.
#[pyfunction]
pub fn set_disk_cache(
    py: Python<'_>,
    folder: Option<PathBuf>,
    limit: u64,
    readers: Option<&str>,
) -> PyResult<()> {
    let place = folder.as_deref().map(|folder| (folder, limit));
    let readers = readers_of(readers);
    py.detach(|| treemill_source::cache::set(place, readers))
        .map_err(|error| PyOSError::new_err(error.to_string()))
}

/// Names the folder of what opening files on servers reads, and the bytes that it may hold; None or 0: nothing is kept.
#[pyfunction]
pub fn set_metadata_cache(
    py: Python<'_>,
    folder: Option<PathBuf>,
    limit: u64,
    readers: Option<&str>,
) {
    let place = folder.as_deref().map(|folder| (folder, limit));
    let readers = readers_of(readers);
    py.detach(|| treemill_source::cache::set_descriptions(place, readers));
}

/// Names the folder that another account fills, and that of what opening files reads; None: there is none.
#[pyfunction]
pub fn set_shared_cache(py: Python<'_>, folders: Option<(PathBuf, PathBuf)>) -> PyResult<()> {
    let folders = folders
        .as_ref()
        .map(|(data, metadata)| (&**data, &**metadata));
    py.detach(|| treemill_source::cache::set_shared(folders))
        .map_err(|error| PyOSError::new_err(error.to_string()))
}

fn readers_of(word: Option<&str>) -> Readers {
    match word {
        Some("group") => Readers::Group,
        Some("all") => Readers::All,
        _ => Readers::Nobody,
    }
}
