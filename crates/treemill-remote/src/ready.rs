//! Files that were opened when their state was asked for, until the caller opens them: that saves round trips. Knows no
//! protocol.

use crate::limits::{MOST_READY, READY_FOR};
use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;
use treemill_source::Source;

#[derive(Default)]
struct Ready {
    /// The process that has opened them: connections do not outlive a fork.
    process: u32,
    open: Vec<(String, Instant, Arc<dyn Source>)>,
    /// Digests of addresses that were looked at before.
    seen: HashSet<u64>,
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

/// Whether an address is looked at for the first time, and there is room for one more.
pub(crate) fn is_first(url: &str) -> bool {
    let digest = xxhash_rust::xxh3::xxh3_64(url.as_bytes());
    with(|ready| ready.seen.insert(digest) && ready.open.len() < MOST_READY)
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
