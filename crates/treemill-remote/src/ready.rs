//! Files that were opened when their state was asked for, until the caller opens them: that saves round trips. Those that the
//! caller has open are only asked for their state. Knows no protocol.

use crate::limits::{MOST_READY, READY_FOR};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Instant;
use treemill_source::Source;

#[derive(Default)]
struct Ready {
    /// The process that has opened them: connections do not outlive a fork.
    process: u32,
    open: Vec<(String, Instant, Arc<dyn Source>)>,
    /// What the caller has opened, by digests of addresses.
    opened: HashMap<u64, Weak<dyn Source>>,
}

static READY: Mutex<Option<Ready>> = Mutex::new(None);

/// Runs `work` on what is ready, without files that have waited too long or belong to the parent of this process.
fn with<T>(work: impl FnOnce(&mut Ready) -> T) -> T {
    let mut place: MutexGuard<'_, Option<Ready>> =
        READY.lock().unwrap_or_else(PoisonError::into_inner);
    let process = std::process::id();
    if place.as_ref().is_some_and(|ready| ready.process != process) {
        // Its end would wait for threads that are not in this process.
        std::mem::forget(place.take());
    }
    let ready = place.get_or_insert_with(|| Ready {
        process,
        ..Ready::default()
    });
    ready
        .open
        .retain(|(_, since, _)| since.elapsed() < READY_FOR);
    work(ready)
}

/// Whether a file is to be opened when it is looked at: it is not open yet, and there is room for one more.
pub(crate) fn is_wanted(url: &str) -> bool {
    let is_open = |source: &Weak<dyn Source>| source.strong_count() > 0;
    with(|ready| {
        let is_ready = ready.open.iter().any(|(known, ..)| known == url);
        let is_open = ready.opened.get(&digest(url)).is_some_and(is_open);
        !is_ready && !is_open && ready.open.len() < MOST_READY
    })
}

/// Notes that the caller has opened a file.
pub(crate) fn note(url: &str, source: &Arc<dyn Source>) {
    with(|ready| {
        if ready.opened.len() == ready.opened.capacity() {
            ready.opened.retain(|_, known| known.strong_count() > 0);
        }
        ready.opened.insert(digest(url), Arc::downgrade(source));
    });
}

fn digest(url: &str) -> u64 {
    xxhash_rust::xxh3::xxh3_64(url.as_bytes())
}

pub(crate) fn keep(url: &str, source: Arc<dyn Source>) {
    with(|ready| ready.open.push((url.to_owned(), Instant::now(), source)));
}

pub(crate) fn take(url: &str) -> Option<Arc<dyn Source>> {
    with(|ready| {
        let place = ready.open.iter().position(|(known, ..)| known == url)?;
        Some(ready.open.swap_remove(place).2)
    })
}
