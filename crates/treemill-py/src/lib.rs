//! The Python module `treemill._core`: converts, detaches from the GIL, calls, maps errors.
//! No logic lives here: what is read is decided in treemill-read, what is computed in treemill-query, and
//! treemill-engine has the two meet.

mod arrow;
mod beside;
mod bins;
mod bridge;
mod building;
mod cache;
mod control;
mod errors;
mod file;
mod foreign;
mod functions;
mod interrupt;
mod level;
mod limits;
mod listing;
mod models;
mod near_files;
mod nodes;
mod outcome;
mod own;
mod own_functions;
mod partial;
mod query;
mod remote;
mod small_files;
mod stored;

use pyo3::prelude::*;
use treemill_native::allocator::MiMalloc;

/// Keeps pages that were freed for a while, because the kernel clears each fresh page
/// (docs/decisions/0008-allocator.md).
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

/// treemill's native core. A Python without the GIL switches it on for this module: nothing has been tested without.
#[pymodule(gil_used = true)]
mod _core {
    #[pymodule_export]
    const BATCH_ENTRIES: u64 = treemill_read::plan::BATCH_ENTRIES;
    #[pymodule_export]
    const LEAST_ENTRIES: u64 = treemill_read::plan::LEAST_ENTRIES;
    #[pymodule_export]
    use crate::arrow::Column;
    #[pymodule_export]
    use crate::beside::Beside;
    #[pymodule_export]
    use crate::bins::Bins;
    #[pymodule_export]
    use crate::cache::{
        cache_held, cache_limit, clear_cache, set_cache_limit, set_disk_cache, set_metadata_cache,
        set_shared_cache,
    };
    #[pymodule_export]
    use crate::control::Control;
    #[pymodule_export]
    use crate::file::{Asked, File, Tree};
    #[pymodule_export]
    use crate::functions::{Corrections, Functions};
    #[pymodule_export]
    const CPU_LEVEL: &str = crate::level::LEVEL;
    #[pymodule_export]
    use crate::listing::{called, referred};
    #[pymodule_export]
    use crate::models::BoostedTrees;
    #[pymodule_export]
    use crate::near_files::{NearFiles, are_plain, ends};
    #[pymodule_export]
    use crate::nodes::Values;
    #[pymodule_export]
    use crate::own::{check_own, read_own};
    #[pymodule_export]
    use crate::partial::Partial;
    #[pymodule_export]
    use crate::query::{Bound, Query};
    #[pymodule_export]
    use crate::remote::{
        record_reads, recorded_reads, remote_assumed, remote_content, remote_hosts, remote_kept,
        remote_leave, remote_list, remote_look, remote_release, remote_schemes, remote_share,
        remote_stat, remote_stats, switch_off,
    };
    #[pymodule_export]
    use crate::stored::Stored;

    #[pymodule_init]
    fn init(_module: &pyo3::Bound<'_, pyo3::types::PyModule>) -> pyo3::PyResult<()> {
        treemill_native::allocator::keep_pages(crate::limits::KEPT_PAGES);
        crate::bridge::set();
        treemill_remote::set_remembers(treemill_read::cache::recalls);
        Ok(())
    }
}
