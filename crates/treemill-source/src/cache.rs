//! Caches on disk: ranges of distant files as they are there, for later passes and other processes. Knows identities and
//! ranges, not what the bytes mean. There are two, each off until it is given a folder:
//!
//! - *Data* ([`set`], [`cached_ranges`]). Each process appends to segments of its own, which all may read. A segment belongs to one
//!   state of one file, so that nothing in it is ever out of date.
//! - *Descriptions* ([`set_descriptions`], [`described`]): what opening a file has read of it, in one segment a file.
//!
//! A process that is killed leaves at worst a record in part at a segment's end, which its checksum tells. When all segments
//! of a folder together exceed its limit, those that were used longest ago are removed.

mod buffers;
mod cached_ranges;
mod described;
mod description;
mod place;
mod record;
mod sweep;

pub use cached_ranges::CachedRanges;
pub use described::described;
pub use description::Description;

use crate::Identity;
use place::{Place, check_own, make_folder};
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

static DATA: Mutex<Option<Arc<Place>>> = Mutex::new(None);
static DESCRIPTIONS: Mutex<Option<Arc<Place>>> = Mutex::new(None);

fn put(place: &Mutex<Option<Arc<Place>>>, value: Option<(&Path, u64)>) {
    let value = value.filter(|(_, limit)| *limit > 0);
    let value = value.map(|(folder, limit)| Arc::new(Place::new(folder, limit)));
    *place.lock().unwrap_or_else(PoisonError::into_inner) = value;
}

fn get(place: &Mutex<Option<Arc<Place>>>) -> Option<Arc<Place>> {
    let place = place.lock().unwrap_or_else(PoisonError::into_inner).clone();
    place.filter(|place| check_own(&place.folder).is_ok())
}

/// Names the folder of data, which is made if need be, and the bytes that it may hold; `None` or a limit of 0: no cache.
/// Files that are open keep the cache that they have.
///
/// # Errors
/// If the folder cannot be made or not be written to, or if others may write to it.
pub fn set(place: Option<(&Path, u64)>) -> io::Result<()> {
    if let Some((folder, 1..)) = place {
        make_folder(folder)?;
        check_own(folder).map_err(|why| {
            let what = format!("{why}: {}", why.advice());
            io::Error::new(io::ErrorKind::PermissionDenied, what)
        })?;
        // A new file: what others have put there is not followed.
        let (probe, _) = Place::new(folder, 1).begin(folder, ".probe")?;
        std::fs::remove_file(probe)?;
    }
    put(&DATA, place);
    Ok(())
}

/// Names the folder of descriptions and the bytes that it may hold; `None` or a limit of 0: no cache. The folder is made when
/// something is kept. If that fails, or if others may write to it, nothing is kept and nothing is taken from there.
pub fn set_descriptions(place: Option<(&Path, u64)>) {
    put(&DESCRIPTIONS, place);
}

/// What opening a file in this state has read of it; `None` if that is not kept.
#[must_use]
pub fn description(identity: &Identity) -> Option<Description> {
    let kept = Description::open(get(&DESCRIPTIONS)?, identity);
    (!kept.is_empty()).then_some(kept)
}

/// Whether what opening a file in this state reads is kept, by the names in the folder.
#[must_use]
pub fn describes(identity: &Identity) -> bool {
    get(&DESCRIPTIONS).is_some_and(|place| Description::open(place, identity).is_there())
}

/// Whether something of a file's data in this state is kept, by the names in the folder.
#[must_use]
pub fn keeps(identity: &Identity) -> bool {
    get(&DATA).is_some_and(|place| cached_ranges::is_there(&place, identity))
}

/// What is kept of a file's data in this state; `None` if there is no cache, or if it cannot be read.
#[must_use]
pub fn cached_ranges(identity: &Identity) -> Option<Arc<CachedRanges>> {
    CachedRanges::open(get(&DATA)?, identity).ok().map(Arc::new)
}
