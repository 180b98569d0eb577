//! What the process remembers of the files that it read: how much, and its limit.

use pyo3::prelude::*;
use treemill_read::cache;

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
