//! Files that were opened when their state was asked for, until the caller opens them: that saves round trips. Those that the
//! caller has open are only asked for their state. Knows no protocol.

use crate::limits::{MOST_READY, READY_FOR};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Instant;
use treemill_source::Source;

/// A file that waits for the caller.
struct Waiting {
    url: String,
    since: Instant,
    /// `None` while it is being opened.
    source: Option<Arc<dyn Source>>,
}

#[derive(Default)]
struct Ready {
    /// The process that has opened them: connections do not outlive a fork.
    process: u32,
    waiting: Vec<Waiting>,
    /// What the caller has opened, by digests of addresses.
    opened: HashMap<u64, Weak<dyn Source>>,
}

impl Waiting {
    fn new(url: &str, source: Option<Arc<dyn Source>>) -> Self {
        let (url, since) = (url.to_owned(), Instant::now());
        Waiting { url, since, source }
    }
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
        .waiting
        .retain(|file| file.since.elapsed() < READY_FOR);
    work(ready)
}

/// Whether the caller is to open a file when it looks at it, and then to [`keep`] it: it is not open, no other thread opens
/// it, and there is room for one more.
pub(crate) fn begin(url: &str) -> bool {
    let is_open = |source: &Weak<dyn Source>| source.strong_count() > 0;
    with(|ready| {
        let is_here = ready.waiting.iter().any(|file| file.url == url);
        let is_open = ready.opened.get(&digest(url)).is_some_and(is_open);
        let begins = !is_here && !is_open && ready.waiting.len() < MOST_READY;
        if begins {
            ready.waiting.push(Waiting::new(url, None));
        }
        begins
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

/// A file that was begun is open, or could not be opened.
pub(crate) fn keep(url: &str, source: Option<Arc<dyn Source>>) {
    with(|ready| {
        ready
            .waiting
            .retain(|file| file.url != url || file.source.is_some());
        if source.is_some() {
            ready.waiting.push(Waiting::new(url, source));
        }
    });
}

pub(crate) fn take(url: &str) -> Option<Arc<dyn Source>> {
    with(|ready| {
        let is_it = |file: &Waiting| file.url == url && file.source.is_some();
        let place = ready.waiting.iter().position(is_it)?;
        ready.waiting.swap_remove(place).source
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use treemill_source::{Costs, Memory};

    #[test]
    fn a_file_is_opened_by_one_thread_and_not_while_it_is_open() {
        let url = "root://host//ready.root";
        let file = || -> Arc<dyn Source> { Arc::new(Memory::new(url, vec![0; 9], Costs::NEAR)) };
        assert!(begin(url));
        assert!(!begin(url), "another thread opens it");
        assert!(take(url).is_none());
        keep(url, None);
        assert!(begin(url), "it could not be opened");
        keep(url, Some(file()));
        assert!(!begin(url), "it is ready");
        let source = take(url).unwrap();
        note(url, &source);
        assert!(!begin(url), "the caller has it open");
        drop(source);
        assert!(begin(url));
        keep(url, None);
    }
}
