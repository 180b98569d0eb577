//! Caches on disk: ranges of distant files as they are there, for later passes and other processes. Knows identities and
//! ranges, not what the bytes mean. There are two, each off until a folder is named:
//!
//! - *Data* ([`set`], [`cached_ranges`]). Each process appends to segments of its own, which all may read. A segment belongs to one
//!   state of one file, so that nothing in it is ever out of date.
//! - *Descriptions* ([`set_descriptions`], [`described`]): what opening a file has read of it, in one segment a file.
//!
//! What a user keeps is that user's own: nothing is taken from a folder that others may write to, as nobody can tell whether
//! bytes of a file's middle are the file's. One account may let others read what it keeps ([`Readers`]). Where they trust it,
//! they name its folder ([`set_shared`]), which is read beside their own, and never written to. Identities are what servers say
//! when files are opened, so nothing is found of a file that the server has not opened for this user.
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
pub use place::Readers;

use crate::Identity;
use crate::own::check_account;
use place::{Place, check_group, check_own, let_in, make_folder};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

static DATA: Mutex<Option<Arc<Place>>> = Mutex::new(None);
static DESCRIPTIONS: Mutex<Option<Arc<Place>>> = Mutex::new(None);
static SHARED: Mutex<Option<Arc<Shared>>> = Mutex::new(None);

/// The folders of another account, which are read only.
struct Shared {
    data: PathBuf,
    descriptions: PathBuf,
}

fn put<T>(place: &Mutex<Option<Arc<T>>>, value: Option<T>) {
    *place.lock().unwrap_or_else(PoisonError::into_inner) = value.map(Arc::new);
}

fn get<T>(place: &Mutex<Option<Arc<T>>>) -> Option<Arc<T>> {
    place.lock().unwrap_or_else(PoisonError::into_inner).clone()
}

/// Where something is kept: in the user's own folder, and in that of another account.
pub(crate) struct Places {
    own: Option<Arc<Place>>,
    shared: Option<PathBuf>,
}

impl Places {
    /// Those that may be taken from now; `None` if there is none.
    fn of(place: &Mutex<Option<Arc<Place>>>, shared: impl Fn(&Shared) -> &Path) -> Option<Self> {
        let own = get(place).filter(|place| check_own(&place.folder).is_ok());
        let shared = get(&SHARED).map(|all| shared(&all).to_owned());
        let shared = shared.filter(|folder| check_account(folder).is_ok());
        let is_any = own.is_some() || shared.is_some();
        is_any.then_some(Places { own, shared })
    }

    fn of_data() -> Option<Self> {
        Places::of(&DATA, |shared| &shared.data)
    }

    fn of_descriptions() -> Option<Self> {
        Places::of(&DESCRIPTIONS, |shared| &shared.descriptions)
    }
}

fn named(place: Option<(&Path, u64)>, readers: Readers) -> Option<Place> {
    let place = place.filter(|(_, limit)| *limit > 0);
    place.map(|(folder, limit)| Place::new(folder, limit, readers))
}

/// Names the folder of data, which is made if need be, and the bytes that it may hold; `None` or a limit of 0: no cache.
/// Files that are open keep the cache that they have. `readers`: who else may read what is kept from now on.
///
/// # Errors
/// If the folder cannot be made or not be written to, or if others may write to it.
pub fn set(place: Option<(&Path, u64)>, readers: Readers) -> io::Result<()> {
    if let Some((folder, 1..)) = place {
        make_folder(folder, readers)?;
        check_own(folder).map_err(|why| {
            let what = format!("{why}: {}", why.advice());
            io::Error::new(io::ErrorKind::PermissionDenied, what)
        })?;
        let_in(folder, readers)?; // also where it was made for this user alone
        if readers == Readers::Group {
            check_group(folder)?;
        }
        // A new file: what others have put there is not followed.
        let (probe, _) = Place::new(folder, 1, readers).begin(folder, ".probe")?;
        std::fs::remove_file(probe)?;
    }
    put(&DATA, named(place, readers));
    Ok(())
}

/// Names the folder of descriptions and the bytes that it may hold; `None` or a limit of 0: no cache. The folder is made when
/// something is kept. If that fails, or if others may write to it, nothing is kept and nothing is taken from there.
pub fn set_descriptions(place: Option<(&Path, u64)>, readers: Readers) {
    put(&DESCRIPTIONS, named(place, readers));
}

/// Names the folders of data and of descriptions that another account fills; `None`: there are none. They need not be there. What
/// is found in them is taken for files' bytes, so whoever names them trusts their owner, and root: nobody else may write there.
///
/// # Errors
/// If others may write there. Nothing is taken from such a folder later either.
pub fn set_shared(folders: Option<(&Path, &Path)>) -> io::Result<()> {
    for folder in folders.into_iter().flat_map(|(one, other)| [one, other]) {
        check_account(folder).map_err(|why| {
            let place = why.path.display();
            let what = format!("others than root and the folder's owner may write to {place}");
            io::Error::new(io::ErrorKind::PermissionDenied, what)
        })?;
    }
    let shared = folders.map(|(data, descriptions)| Shared {
        data: data.to_owned(),
        descriptions: descriptions.to_owned(),
    });
    put(&SHARED, shared);
    Ok(())
}

/// What opening a file in this state has read of it; `None` if that is not kept.
#[must_use]
pub fn description(identity: &Identity) -> Option<Description> {
    let kept = Description::open(Places::of_descriptions()?, identity);
    (!kept.is_empty()).then_some(kept)
}

/// Whether what opening a file in this state reads is kept, by the names in the folder.
#[must_use]
pub fn describes(identity: &Identity) -> bool {
    Places::of_descriptions().is_some_and(|it| Description::open(it, identity).is_there())
}

/// Whether something of a file's data in this state is kept, by the names in the folder.
#[must_use]
pub fn keeps(identity: &Identity) -> bool {
    Places::of_data().is_some_and(|places| cached_ranges::is_there(&places, identity))
}

/// What is kept of a file's data in this state; `None` if there is no cache, or if it cannot be read.
#[must_use]
pub fn cached_ranges(identity: &Identity) -> Option<Arc<CachedRanges>> {
    let kept = CachedRanges::open(Places::of_data()?, identity);
    kept.ok().map(Arc::new)
}
