//! The files of a dataset that lie on this machine, by their numbers: where they are, what is known of them, and what one pass
//! has seen of them. There may be many: a caller needs nothing of its own for each.

use crate::limits::{LOOKED_AT, OPENED_AT, WHOLE_FILE};
use by_number::{ByNumber, Places};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use treemill_read::{File, ReadError, Table};
use treemill_source::{Identity, Memory, Source, SourceError};

mod by_number;

pub use by_number::Place;

/// In the year 2255.
const LAST_SECOND: i64 = 9_000_000_000;

/// The files that a caller has, as it opens them.
pub trait Files: Sync {
    /// Opens the file of this address.
    ///
    /// # Errors
    /// What opening it brings.
    fn open(&self, path: &str) -> Result<Arc<dyn Source>, SourceError>;

    /// What the file of this address is now; `None` if that is not known, or if it may change again and stay the same in this.
    fn identity(&self, path: &str) -> Option<Identity>;

    /// What the file of this address is now, be it that it was changed a moment ago; `None` if there is none.
    fn state(&self, path: &str) -> Option<Identity>;

    /// What the file of this address is now, as `state` says it, and a digest of its first and last bytes; `None` if it cannot be
    /// read.
    fn ends(&self, path: &str) -> Option<(Identity, u128)>;
}

/// What a file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Is {
    /// How it is known from what it was before.
    pub identity: Identity,
    /// The number that the file got when it was made.
    pub uuid: Option<[u8; 16]>,
}

/// A file that was looked at.
pub(crate) struct Looked {
    pub(crate) table: Table,
    pub(crate) is: Is,
}

/// What was found in a file that the core has opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// What the file was.
    pub identity: Identity,
    /// The entries of its table.
    pub entries: u64,
    /// The first entries of its clusters.
    pub clusters: Arc<[u64]>,
    /// Whether it is known that its entries are in their order.
    pub has_order: bool,
}

/// What a pass has seen of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Seen {
    /// What it was when the pass looked first.
    pub identity: Identity,
    /// Whether the pass has opened it.
    pub is_open: bool,
    /// Its number, if it was opened and has one.
    pub uuid: Option<[u8; 16]>,
}

/// Files by their numbers. Copies are the same files, of which the same is known and seen.
#[derive(Debug, Clone)]
pub struct NearFiles {
    places: Arc<Places>,
    found: Arc<Mutex<AllFound>>,
    /// Nothing outside of passes: then files may change.
    seen: Option<Arc<Mutex<ByNumber<Seen>>>>,
}

/// What was found in all files that were opened.
#[derive(Debug)]
struct AllFound {
    by_number: ByNumber<Found>,
    /// Those of the file that was noted last: others of its production have the same, and share them.
    clusters: Arc<[u64]>,
}

impl AllFound {
    /// The clusters, in memory once if they are those of the file before.
    fn shared(&mut self, clusters: Vec<u64>) -> Arc<[u64]> {
        if *self.clusters != *clusters {
            self.clusters = clusters.into();
        }
        Arc::clone(&self.clusters)
    }
}

impl NearFiles {
    /// These files, outside of passes. `None`, or without an address: a file that is not opened here.
    #[must_use]
    pub fn new<'p>(places: impl IntoIterator<Item = Option<Place<'p>>>) -> Self {
        let places = Places::of(places.into_iter());
        let found = AllFound {
            by_number: ByNumber::new(places.len()),
            clusters: Arc::new([]),
        };
        Self {
            places: places.into(),
            found: Arc::new(Mutex::new(found)),
            seen: None,
        }
    }

    /// The same files for one pass, which shares what is known of them.
    #[must_use]
    pub fn pinned(&self) -> Self {
        Self {
            places: Arc::clone(&self.places),
            found: Arc::clone(&self.found),
            seen: Some(Arc::new(Mutex::new(ByNumber::new(self.places.len())))),
        }
    }

    /// Where a file lies; `None` if it is not opened here.
    #[must_use]
    pub fn place(&self, number: usize) -> Option<Place<'_>> {
        self.places.get(number)
    }

    /// Notes what a file is. Returns what the pass goes by: the first look holds.
    pub fn note(&self, number: usize, identity: Identity) -> Identity {
        let seen = Seen {
            identity,
            is_open: false,
            uuid: None,
        };
        let Some(known) = &self.seen else {
            return identity;
        };
        let mut known = locked(known);
        if let Some(first) = known.get(number) {
            return first.identity;
        }
        known.insert(number, seen);
        identity
    }

    /// Notes what a file was that was opened. False if the pass has seen it otherwise.
    pub fn opened(&self, number: usize, is: Is) -> bool {
        let Some(known) = &self.seen else {
            return true;
        };
        let new = Seen {
            identity: is.identity,
            is_open: true,
            uuid: is.uuid,
        };
        let mut known = locked(known);
        let Some(seen) = known.get_mut(number) else {
            known.insert(number, new);
            return true;
        };
        let agrees = seen.identity == is.identity;
        if agrees && !seen.is_open {
            *seen = new;
        }
        agrees
    }

    /// Notes what a table has, of a file that was opened and read. False if the pass has seen the file otherwise.
    pub fn found(&self, number: usize, is: Is, table: &Table, has_order: bool) -> bool {
        if !self.opened(number, is) {
            return false;
        }
        let (entries, clusters) = (table.entries(), table.clusters());
        let mut all = locked(&self.found);
        match all.by_number.get_mut(number) {
            Some(known) if known.identity == is.identity => known.has_order |= has_order,
            _ => {
                let found = Found {
                    identity: is.identity,
                    entries,
                    clusters: all.shared(clusters),
                    has_order,
                };
                all.by_number.insert(number, found);
            }
        }
        true
    }

    /// Forgets what is known of a file, and what the pass has seen of it.
    pub fn forget(&self, number: usize) {
        locked(&self.found).by_number.remove(number);
        if let Some(seen) = &self.seen {
            locked(seen).remove(number);
        }
    }

    /// What is known of a file, be it as it was earlier.
    #[must_use]
    pub fn known(&self, number: usize) -> Option<Found> {
        locked(&self.found).by_number.get(number).cloned()
    }

    /// Whether anything is known of a file.
    #[must_use]
    pub fn is_known(&self, number: usize) -> bool {
        locked(&self.found).by_number.get(number).is_some()
    }

    /// What the pass has seen of a file.
    #[must_use]
    pub fn seen(&self, number: usize) -> Option<Seen> {
        let seen = self.seen.as_ref()?;
        locked(seen).get(number).copied()
    }

    /// The numbers of all files that the pass has seen, in order.
    #[must_use]
    pub fn all_seen(&self) -> Vec<usize> {
        let Some(seen) = &self.seen else {
            return Vec::new();
        };
        locked(seen).numbers().collect()
    }

    /// Has the pass look at these files, if it has not yet. Those that are not there are left out.
    pub fn look(&self, files: &dyn Files, numbers: &[usize]) {
        for &number in numbers {
            if let (None, Some(place)) = (self.seen(number), self.place(number))
                && let Some(identity) = files.state(place.path)
            {
                self.note(number, identity);
            }
        }
    }

    /// What the pass goes by of each of these files, with a digest of its first and last bytes as they are now; `None` of a file
    /// that has no place here, that cannot be read, or that the pass has seen otherwise. `threads`: how many may look at once.
    #[must_use]
    pub fn ends(
        &self,
        files: &dyn Files,
        numbers: &[usize],
        threads: usize,
    ) -> Vec<Option<(Identity, u128)>> {
        let of = |&number: &usize| {
            let found = files.ends(self.place(number)?.path)?;
            (self.note(number, found.0) == found.0).then_some(found)
        };
        let look = |numbers: &[usize]| numbers.iter().map(of).collect();
        at_once(numbers, threads, look, |failed| vec![None; failed.len()])
    }

    /// Which of these files are what they were, in their order; a file that has no place here is none of them. `threads`: how many
    /// may look at once.
    #[must_use]
    pub fn unchanged(
        &self,
        files: &dyn Files,
        known: &[(usize, Identity)],
        threads: usize,
    ) -> Vec<usize> {
        let is_same = |&(number, identity): &(usize, Identity)| {
            let place = self.place(number)?;
            (files.state(place.path)? == identity).then_some(number)
        };
        let look = |known: &[(usize, Identity)]| known.iter().filter_map(is_same).collect();
        at_once(known, threads, look, |_| Vec::new())
    }

    /// Opens these files, but for those that are unusual, or that the pass has seen otherwise. Returns the others, in order.
    /// `unordered`: the titles of tables whose entries have lost their order. `threads`: how many may open files at once.
    pub fn open(
        &self,
        files: &dyn Files,
        numbers: &[usize],
        unordered: &[String],
        threads: usize,
    ) -> Vec<usize> {
        let is_opened = |number: &usize| {
            let place = self.place(*number);
            let looked = place.and_then(|at| plain(files, at.path, at.table).ok()?);
            looked.is_some_and(|Looked { table, is }| {
                let is_shuffled = match &table {
                    Table::Tree(file) => file.tree().is_reshuffled,
                    Table::NTuple(_) => false,
                };
                let has_order =
                    !is_shuffled && unordered.iter().all(|title| title != table.title());
                self.found(*number, is, &table, has_order)
            })
        };
        let open = |numbers: &[usize]| numbers.iter().copied().filter(is_opened).collect();
        in_parts(numbers, (threads, OPENED_AT), open, |_| Vec::new())
    }

    /// The numbers of the files that have a place here and of which nothing is known, in order.
    #[must_use]
    pub fn unknown(&self) -> Vec<usize> {
        let found = locked(&self.found);
        let is_known = |number: usize| found.by_number.get(number).is_some();
        let all = 0..self.places.len();
        all.filter(|&number| self.place(number).is_some() && !is_known(number))
            .collect()
    }

    /// The entries of each file, and whether it is known that they are in their order; `None` of a file of which that is not
    /// known as the pass sees it, or outside of passes as it is now. `threads`: how many may look at once.
    #[must_use]
    pub fn tables(&self, files: &dyn Files, threads: usize) -> Vec<Option<(u64, bool)>> {
        let now = |number: usize| {
            if let Some(seen) = self.seen(number) {
                return Some(seen.identity);
            }
            let identity = files.state(self.place(number)?.path)?;
            Some(self.note(number, identity))
        };
        let of = |&number: &usize| {
            let known = |found: &Found| (found.identity, (found.entries, found.has_order));
            let (identity, known) = locked(&self.found).by_number.get(number).map(known)?;
            (now(number)? == identity).then_some(known)
        };
        let all: Vec<usize> = (0..self.places.len()).collect();
        let look = |numbers: &[usize]| numbers.iter().map(of).collect();
        at_once(&all, threads, look, |failed| vec![None; failed.len()])
    }

    /// Which of these files, `None`: of all, are not what the pass has seen of them, in the order of the numbers. `threads`: how
    /// many may look at once.
    #[must_use]
    pub fn changed(
        &self,
        files: &dyn Files,
        numbers: Option<&[usize]>,
        threads: usize,
    ) -> Vec<usize> {
        let all;
        let numbers = match numbers {
            Some(numbers) => numbers,
            None => {
                all = self.all_seen();
                &all
            }
        };
        let is_changed = |&number: &usize| {
            let Some((seen, place)) = self.seen(number).zip(self.place(number)) else {
                return false;
            };
            files.state(place.path) != Some(seen.identity)
        };
        let changed = |numbers: &[usize]| -> Vec<usize> {
            numbers.iter().copied().filter(is_changed).collect()
        };
        // A look that has failed says nothing of its files: the caller looks at each of them again.
        at_once(numbers, threads, changed, <[usize]>::to_vec)
    }
}

/// Has several threads look at files, if these are many. `failed`: what is taken for the answer of a look that has panicked.
pub fn at_once<T: Sync, R: Send>(
    files: &[T],
    threads: usize,
    look: impl Fn(&[T]) -> Vec<R> + Sync,
    failed: impl Fn(&[T]) -> Vec<R>,
) -> Vec<R> {
    in_parts(files, (threads, LOOKED_AT), look, failed)
}

/// Does as `at_once`: no thread gets fewer files than `least`.
fn in_parts<T: Sync, R: Send>(
    files: &[T],
    (threads, least): (usize, usize),
    look: impl Fn(&[T]) -> Vec<R> + Sync,
    failed: impl Fn(&[T]) -> Vec<R>,
) -> Vec<R> {
    let each = files.len().div_ceil(threads.max(1)).max(least);
    if files.len() <= each {
        return look(files);
    }
    let look = &look;
    std::thread::scope(|scope| {
        let parts = files.chunks(each);
        let parts = parts.map(|part| (part, scope.spawn(move || look(part))));
        let begun: Vec<_> = parts.collect();
        let found = begun
            .into_iter()
            .map(|(part, look)| look.join().unwrap_or_else(|_| failed(part)));
        found.flatten().collect()
    })
}

fn locked<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The table of a file, if there is nothing unusual about it.
pub(crate) fn plain(
    files: &dyn Files,
    path: &str,
    table: &str,
) -> Result<Option<Looked>, ReadError> {
    let source = files.open(path).map_err(ReadError::source)?;
    let is_usual = |known: &Identity| source.costs().is_near() && has_usual_times(known);
    let Some(identity) = source.identity().filter(is_usual) else {
        return Ok(None);
    };
    let source = match source.size() <= WHOLE_FILE {
        true => Arc::new(Memory::of(source.as_ref()).map_err(ReadError::source)?),
        false => source,
    };
    let file = File::open(source)?;
    let table = file.table(table)?;
    let is_plain = match &table {
        Table::Tree(tree) => tree.tree().friends.is_empty() && tree.tree().aliases.is_empty(),
        Table::NTuple(_) => true,
    };
    let uuid = file.uuid();
    let is = Is { identity, uuid };
    Ok(is_plain.then_some(Looked { table, is }))
}

/// Whether a file was changed in the years in which callers count nanoseconds in 64 bits.
fn has_usual_times(identity: &Identity) -> bool {
    let [modified, _, changed, _] = identity.state;
    [modified, changed]
        .iter()
        .all(|seconds| (0..=LAST_SECOND).contains(&seconds.cast_signed()))
}

#[cfg(test)]
mod tests;
