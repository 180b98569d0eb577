//! Files that have a path. Those of this machine's disks are read range by range ([`Local`]); those on mounts of servers
//! (NFS, CIFS, Lustre, FUSE …) as planned: ranges are announced to the kernel as soon as they are known (`posix_fadvise`), and
//! read several at once, so that the kernel's client has many requests in flight, at all data servers of a pNFS. Which file is which,
//! `decision.rs` says. Knows no protocol and no file format.
//!
//! Pure: `kind.rs` (file systems), `decision.rs`, `plan.rs` (what is announced and read at once).
//! `device.rs`, `kernel.rs` (`statfs`, `posix_fadvise`) and `source.rs` drive.

mod decision;
mod device;
mod kernel;
mod kind;
mod mount_table;
mod plan;
mod source;

pub use decision::{FirstReads, Switch, Way, way};
pub use kind::{Kind, kind};
pub use mount_table::{Mount, mount_of};
pub use plan::{announced, reads, step};

use source::Mounted;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;
use treemill_source::{Edges, Local, Observed, Source, SourceError};

/// Opens a file by its path. The first and last bytes of one on a mount are on their way.
///
/// ```
/// let source = treemill_remote::mounts::open("Cargo.toml")?;
/// assert!(source.size() > 0);
/// # Ok::<(), treemill_source::SourceError>(())
/// ```
///
/// # Errors
/// If there is no such regular file, or it may not be read.
pub fn open(path: impl AsRef<Path>) -> Result<Arc<dyn Source>, SourceError> {
    match found(Local::open(path)?) {
        Found::Plain(local) => Ok(Arc::new(local)),
        Found::Planned(source) => Ok(Arc::new(Edges::of(Arc::new(source)))),
    }
}

/// Opens like [`open`], and asks for nothing of the file.
///
/// # Errors
/// As [`open`].
pub fn open_bare(path: impl AsRef<Path>) -> Result<Arc<dyn Source>, SourceError> {
    match found(Local::open(path)?) {
        Found::Plain(local) => Ok(Arc::new(local)),
        Found::Planned(source) => Ok(Arc::new(source)),
    }
}

enum Found {
    Plain(Local),
    Planned(Observed),
}

/// `TREEMILL_MOUNTS` in the environment: `off`, `on`, or as it is best.
fn switch() -> Switch {
    let word = std::env::var("TREEMILL_MOUNTS").unwrap_or_default();
    Switch::of(&word)
}

fn found(local: Local) -> Found {
    let switch = switch();
    if switch == Switch::Never
        || (switch == Switch::Automatic && device::is_surely_here(local.file()))
    {
        return Found::Plain(local);
    }
    let Some(device) = device::device(local.file()) else {
        return Found::Plain(local);
    };
    let way = match way(device.kind, switch) {
        Way::Measure => device.took(first_read(&local)),
        known => known,
    };
    match way {
        Way::Planned => {
            let source = Arc::new(Mounted::new(local, &device));
            Found::Planned(Observed::of(source))
        }
        Way::Plain | Way::Measure => Found::Plain(local),
    }
}

/// How long the first read of a file takes. What it says is of no interest here: the next reader meets the same.
fn first_read(local: &Local) -> std::time::Duration {
    let mut buffer =
        vec![0; usize::try_from(crate::limits::FIRST_READ.min(local.size())).unwrap_or(0)];
    let began = Instant::now();
    let _ = local.read_at(&mut buffer, 0);
    began.elapsed()
}
