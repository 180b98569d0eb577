//! A cache on disk: ranges of distant files as they are there, for later passes and other processes. Off until
//! [`set`] names a folder. Knows identities and ranges, not what the bytes mean.
//!
//! Each process appends to segments of its own, which all may read. A segment belongs to one state of one file, so that
//! nothing in it is ever out of date. A process that is killed leaves at worst a record in part at a segment's end, which
//! its checksum tells. When all segments together exceed the limit, those that were used longest ago are removed.
#![forbid(unsafe_code)]

mod limits;
mod record;
mod shelf;
mod sweep;

pub use shelf::Shelf;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use treemill_source::Identity;

/// The folder and its limit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Place {
    folder: PathBuf,
    limit: u64,
}

static PLACE: Mutex<Option<Place>> = Mutex::new(None);

/// Names the folder, which is made if need be, and the bytes that it may hold; `None` or a limit of 0: no cache. Files
/// that are open keep the cache that they have.
///
/// # Errors
/// If the folder cannot be made or not be written to.
pub fn set(place: Option<(&Path, u64)>) -> io::Result<()> {
    let place = match place {
        Some((folder, limit)) if limit > 0 => {
            shelf::make_folder(folder)?;
            Some(Place {
                folder: folder.to_owned(),
                limit,
            })
        }
        _ => None,
    };
    *PLACE.lock().unwrap_or_else(PoisonError::into_inner) = place;
    Ok(())
}

/// What is kept of a file in this state; `None` if there is no cache, or if it cannot be read.
#[must_use]
pub fn shelf(identity: &Identity) -> Option<Arc<Shelf>> {
    let place = PLACE.lock().unwrap_or_else(PoisonError::into_inner).clone();
    Shelf::open(place?, identity).ok().map(Arc::new)
}
