//! What opening one file has read of it: one segment, which is read as a whole. A process that has read more puts a segment of
//! its own in its place, with all that it knows, but for what another account has kept. Threads share it.

use crate::cache::Places;
use crate::cache::place::{Place, stem};
use crate::cache::record::{Head, records};
use crate::cache::sweep;
use crate::limits::{DESCRIPTION_BYTES, NOTED};
use crate::{Bytes, Identity};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{self, Read, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

/// The ranges of one state of one file that opening it has read.
pub struct Description {
    /// Where more is kept, if it is, and the file's segment there.
    own: Option<(Arc<Place>, PathBuf)>,
    /// The file's segment in the folder of another account.
    shared: Option<PathBuf>,
    stem: String,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    records: BTreeMap<(u64, u64), Bytes>,
    /// Those of `records` that another account has kept.
    theirs: BTreeSet<(u64, u64)>,
    /// Whether `records` are those of the segment, too.
    is_loaded: bool,
    own: Own,
}

/// The segment that this process appends to.
#[derive(Default)]
enum Own {
    /// The process has none.
    #[default]
    None,
    /// The segment is open.
    Segment(File),
    /// Writing has failed: nothing more is written.
    Refused,
}

impl State {
    fn bytes(&self) -> u64 {
        let lengths = self.records.values().map(|bytes| bytes.len() as u64);
        lengths.fold(0, u64::saturating_add)
    }

    /// Appends what is new to this process's segment; if it has none, one with all that is known takes the place of
    /// the one that is there.
    fn write(
        &mut self,
        new: &[(u64, u64)],
        place: &Place,
        path: &Path,
        stem: &str,
    ) -> io::Result<u64> {
        let encoded = |keys: &mut dyn Iterator<Item = &(u64, u64)>| {
            let mut all = Vec::new();
            for key in keys {
                let bytes = self.records.get(key).map_or(&[][..], |bytes| bytes);
                all.extend_from_slice(&Head::of(key.0, bytes).encode());
                all.extend_from_slice(bytes);
            }
            all
        };
        if let Own::Segment(own) = &self.own {
            let more = encoded(&mut new.iter());
            let mut own: &File = own;
            own.write_all(&more)?;
            return Ok(more.len() as u64);
        }
        let own = self.records.keys().filter(|key| !self.theirs.contains(key));
        let all = encoded(&mut own.into_iter());
        let (begun, mut own) = place.begin(&place.folder, stem)?;
        let moved = own
            .write_all(&all)
            .and_then(|()| std::fs::rename(&begun, path));
        if let Err(error) = moved {
            let _ = std::fs::remove_file(&begun);
            return Err(error);
        }
        self.own = Own::Segment(own);
        Ok(all.len() as u64)
    }
}

impl Description {
    pub(crate) fn open(places: Places, identity: &Identity) -> Self {
        let stem = stem(identity);
        let name = format!("{stem}{}", sweep::ENDING);
        Description {
            shared: places.shared.map(|folder| folder.join(&name)),
            own: places.own.map(|place| {
                let path = place.folder.join(&name);
                (place, path)
            }),
            stem,
            state: Mutex::default(),
        }
    }

    /// The file's segments.
    fn paths(&self) -> impl Iterator<Item = &PathBuf> {
        let own = self.own.as_ref().map(|(_, path)| path);
        self.shared.iter().chain(own)
    }

    /// Whether there is a segment of the file.
    pub(crate) fn is_there(&self) -> bool {
        self.paths().any(|path| path.exists())
    }

    /// Whether nothing is known of the file.
    pub(crate) fn is_empty(&self) -> bool {
        self.loaded().records.is_empty()
    }

    /// The bytes of a range, if they are kept and whole.
    #[must_use]
    pub fn get(&self, range: &Range<u64>) -> Option<Bytes> {
        self.loaded()
            .records
            .get(&(range.start, range.end))
            .cloned()
    }

    /// Keeps the bytes of ranges. What goes wrong only means that they are not kept.
    pub(crate) fn put<'a>(&self, found: impl Iterator<Item = (&'a Range<u64>, &'a [u8])>) {
        let Some((place, path)) = &self.own else {
            return;
        };
        let mut state = self.loaded();
        let mut held = state.bytes();
        let mut new = Vec::new();
        for (range, bytes) in found {
            let (key, length) = ((range.start, range.end), bytes.len() as u64);
            let is_whole = range.end.checked_sub(range.start) == Some(length);
            let room = DESCRIPTION_BYTES.min(place.limit / 4);
            let fits = held.saturating_add(length) <= room;
            if length > 0 && is_whole && fits && !state.records.contains_key(&key) {
                held = held.saturating_add(length);
                state.records.insert(key, Bytes::copy_from_slice(bytes));
                new.push(key);
            }
        }
        if new.is_empty() || matches!(state.own, Own::Refused) || place.is_full() {
            return;
        }
        match state.write(&new, place, path, &self.stem) {
            Ok(written) => {
                drop(state);
                place.wrote(written);
            }
            Err(_) => state.own = Own::Refused,
        }
    }

    /// Frees the memory. What is asked for later is read again.
    pub fn release(&self) {
        let mut state = self.state();
        state.records.clear();
        state.theirs.clear();
        state.is_loaded = false;
        if let Own::Segment(_) = state.own {
            state.own = Own::None;
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn loaded(&self) -> MutexGuard<'_, State> {
        let mut state = self.state();
        if !state.is_loaded {
            state.is_loaded = true;
            let kept = |path: &Path| {
                let bytes = content(path).unwrap_or_default();
                let found = records(&bytes).map(|(range, bytes)| ((range.start, range.end), bytes));
                found.collect::<Vec<_>>()
            };
            if let Some(path) = &self.shared {
                state.records.extend(kept(path));
                state.theirs = state.records.keys().copied().collect();
            }
            for (key, bytes) in self.own.iter().flat_map(|(_, path)| kept(path)) {
                state.theirs.remove(&key);
                state.records.insert(key, bytes);
            }
        }
        state
    }
}

/// The segment's bytes. Notes that it is used.
fn content(path: &Path) -> io::Result<Bytes> {
    let mut file = File::open(path)?;
    let metadata = file.metadata()?;
    // Records have heads, too: what is much longer than a description is none.
    if metadata.len() > DESCRIPTION_BYTES.saturating_mul(2) {
        return Ok(Bytes::new());
    }
    let now = SystemTime::now();
    let used = metadata.modified()?;
    if now.duration_since(used).is_ok_and(|since| since > NOTED) {
        let _ = file.set_modified(now); // another account's, or one that cannot be written to, is read
    }
    let mut bytes = Vec::with_capacity(usize::try_from(metadata.len()).unwrap_or(0));
    let most = DESCRIPTION_BYTES.saturating_mul(2);
    (&mut file).take(most).read_to_end(&mut bytes)?;
    Ok(Bytes::from(bytes))
}
