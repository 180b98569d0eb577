//! The cache of decompressed baskets and pages, and of what opening distant files reads: a pass over columns that an earlier
//! pass has read neither reads nor decompresses them, nor asks a server what a file says of itself. One cache per process. Its limit is 0 until [`set_limit`] is called, and then nothing
//! is remembered. Knows no basket's meaning; the policy is pure (`policy.rs`).
//!
//! A payload depends on nothing but the file's bytes at one place, so a hit equals what would be read. A file
//! that was written to is another file, by its [`Identity`].

mod payload;
mod policy;
mod recalled;

pub(crate) use payload::{Basket, Elements, Kept, Page, PageKind};
pub use recalled::recalls;
pub(crate) use recalled::{first_bytes, recalled};

use crate::Counters;
use crate::limits::{CACHE_KEYS, CACHE_OVERHEAD};
use payload::Payload;
use policy::Policy;
use std::hash::{Hash, Hasher};
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};
use treemill_source::{Identity, Source};

/// The key of a payload: a range of bytes of a file as it was when it was opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Key {
    file: Identity,
    start: u64,
    end: u64,
}

impl Hash for Key {
    /// Hashes what tells most keys apart: to hash all of it would take longer than the lookup.
    fn hash<H: Hasher>(&self, state: &mut H) {
        (self.file.place[1], self.start).hash(state);
    }
}

/// What the cache holds for a key.
#[derive(Debug)]
enum Slot {
    /// The pass that read it; room is reserved. New memory costs a page fault every few kilobytes, so only what
    /// is read twice is copied into the cache.
    Reserved(u64),
    Held(Payload),
}

/// The answer to a lookup, with the key to store what is read.
#[derive(Debug)]
pub(crate) enum Lookup<T> {
    /// Found.
    Hit(Arc<T>, Key),
    /// They are not found, but an earlier pass has read them too: to be kept by [`Key::remember`].
    Admit(Key),
    /// No earlier pass has read them: to be noted by [`Key::note`]. There is no key if nothing of the file is kept.
    Miss(Option<Key>),
}

/// Looks up these bytes of a file.
pub(crate) fn look<T: Kept>(
    source: &dyn Source,
    bytes: &Range<u64>,
    counters: &Counters,
) -> Lookup<T> {
    match Key::of(source, bytes) {
        Some(key) => key.recall(counters.pass()),
        None => Lookup::Miss(None),
    }
}

/// One lock for the process. It is taken once or twice for each basket, and held for one lookup in a hash map
/// and one in a sorted map: decision 0005 says why that is enough.
static STORE: LazyLock<Mutex<Policy<Key, Slot>>> = LazyLock::new(|| Mutex::new(Policy::new(0)));
static LIMIT: AtomicU64 = AtomicU64::new(0);
/// Bytes of all payloads in `STORE`. Changed only under its lock.
static HELD: AtomicU64 = AtomicU64::new(0);

/// Runs `work` on the store. The caller drops what it returns after the lock is released.
fn with<T>(work: impl FnOnce(&mut Policy<Key, Slot>) -> T) -> T {
    #[cfg(test)]
    tests::count();
    work(&mut STORE.lock().unwrap_or_else(PoisonError::into_inner))
}

/// Takes the cost of values that have left the store from what it holds.
fn forget(gone: Vec<Slot>) -> Vec<Slot> {
    let bytes = gone.iter().map(Slot::cost).sum();
    HELD.fetch_sub(bytes, Ordering::Relaxed);
    gone
}

/// How many bytes may be remembered.
#[must_use]
pub fn limit() -> u64 {
    LIMIT.load(Ordering::Relaxed)
}

/// Says how many bytes may be remembered; 0: none. What is too much by then is forgotten.
pub fn set_limit(bytes: u64) {
    LIMIT.store(bytes, Ordering::Relaxed);
    drop(with(|store| forget(store.set_limit(bytes))));
}

/// How many bytes are remembered.
#[must_use]
pub fn held() -> u64 {
    HELD.load(Ordering::Relaxed)
}

/// Whether most of what these bytes of a file hold is remembered: three quarters at least, as they are stored.
/// To ask is not to use.
pub(crate) fn has_most(source: &dyn Source, stored: &[Range<u64>]) -> bool {
    let length = |bytes: &Range<u64>| bytes.end.saturating_sub(bytes.start);
    let all = stored.iter().map(length).fold(0, u64::saturating_add);
    let mut missing = 0_u64;
    // Looks up some keys at a time: thousands under one lock would block other threads.
    stored.chunks(CACHE_KEYS).all(|some| {
        let keys: Vec<Option<Key>> = some.iter().map(|b| Key::of(source, b)).collect();
        let is_held = |store: &Policy<Key, Slot>, key: &Option<Key>| {
            let found = key.as_ref().and_then(|key| store.peek(key));
            matches!(found, Some(Slot::Held(_)))
        };
        let gone = with(|store| {
            let gone = some.iter().zip(&keys);
            let gone = gone.filter(|(_, key)| !is_held(store, key));
            gone.map(|(bytes, _)| length(bytes))
                .fold(0, u64::saturating_add)
        });
        missing = missing.saturating_add(gone);
        missing <= all / 4
    })
}

/// The ranges of a file that are not remembered, in their order, with what belongs to them. To ask is not to use.
pub(crate) fn missing<T: Copy>(
    source: &dyn Source,
    ranges: Vec<(Range<u64>, T)>,
) -> Vec<(Range<u64>, T)> {
    if limit() == 0 || source.identity().is_none() {
        return ranges;
    }
    let mut found = Vec::with_capacity(ranges.len());
    for some in ranges.chunks(CACHE_KEYS) {
        let keys = some.iter().map(|asked| (asked, Key::of(source, &asked.0)));
        let keys: Vec<_> = keys.collect();
        with(|store| {
            let is_held = |key: &Key| matches!(store.peek(key), Some(Slot::Held(_)));
            let gone = keys
                .iter()
                .filter(|(_, key)| !key.as_ref().is_some_and(is_held));
            found.extend(gone.map(|(asked, _)| (*asked).clone()));
        });
    }
    found
}

/// Forgets all.
pub fn clear() {
    drop(with(|store| forget(store.clear())));
}

impl Slot {
    fn cost(&self) -> u64 {
        match self {
            Slot::Reserved(_) => 0,
            Slot::Held(payload) => cost(payload.bytes()),
        }
    }
}

impl Key {
    /// The key of these bytes of a file; `None` if the cache is off or the file cannot be identified.
    fn of(source: &dyn Source, bytes: &Range<u64>) -> Option<Self> {
        if limit() == 0 {
            return None;
        }
        Some(Key {
            file: source.identity()?,
            start: bytes.start,
            end: bytes.end,
        })
    }

    /// What is known of it. `pass` uses it.
    fn recall<T: Kept>(self, pass: u64) -> Lookup<T> {
        with(|store| match store.get(&self, pass) {
            Some(Slot::Held(payload)) => match T::of(payload) {
                Some(found) => Lookup::Hit(Arc::clone(found), self),
                None => Lookup::Miss(Some(self)),
            },
            Some(Slot::Reserved(by)) if *by < pass => Lookup::Admit(self),
            _ => Lookup::Miss(Some(self)),
        })
    }

    /// Notes that this pass has read it, and reserves room for a payload of this many bytes.
    pub(crate) fn note(self, payload: usize, counters: &Counters) {
        let pass = counters.pass();
        self.put(Slot::Reserved(pass), cost(payload), pass);
    }

    /// Remembers what is there, if there is room.
    pub(crate) fn remember<T: Kept>(self, what: T, counters: &Counters) -> Arc<T> {
        self.hold(what, counters.pass())
    }

    /// Remembers what `pass` has read.
    fn hold<T: Kept>(self, mut what: T, pass: u64) -> Arc<T> {
        what.fit();
        let what = Arc::new(what);
        let memory = Slot::Held(Arc::clone(&what).payload());
        let bytes = memory.cost();
        self.put(memory, bytes, pass);
        what
    }

    fn put(self, memory: Slot, bytes: u64, pass: u64) {
        let mut gone = Vec::new();
        drop(with(|store| {
            HELD.fetch_add(memory.cost(), Ordering::Relaxed);
            store.put(self, memory, bytes, pass, &mut gone);
            forget(gone)
        }));
    }
}

fn cost(payload: usize) -> u64 {
    (payload as u64).saturating_add(CACHE_OVERHEAD)
}

#[cfg(test)]
mod tests;
