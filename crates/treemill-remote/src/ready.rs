//! Files that were opened when their state was asked for, until the caller opens them: that saves round trips. Those that the
//! caller has open are only asked for their state. Knows no protocol.

use crate::Stat;
use crate::limits::{MOST_READY, OPENING_PATIENCE, READY_FOR};
use std::any::Any;
use std::collections::{HashMap, HashSet};
use std::convert::Infallible;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Instant;
use tokio::sync::Notify;
use tokio::time::timeout;
use treemill_source::Source;
use treemill_transfer::PerProcess;

/// What the caller makes of a file's description, in a form of the caller's.
pub type Description = Arc<dyn Any + Send + Sync>;

/// A file that waits for the caller.
struct Waiting {
    url: String,
    since: Instant,
    /// `None` while it is being opened.
    source: Option<Arc<dyn Source>>,
    description: Option<Description>,
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
        Waiting {
            url,
            since,
            source,
            description: None,
        }
    }
}

static READY: Mutex<Option<Ready>> = Mutex::new(None);
/// Tells that a file that was being opened is open, or could not be opened.
static OPENED: PerProcess<Notify> = PerProcess::new();

fn bell() -> &'static Notify {
    let Ok(bell) = OPENED.get(|| Ok::<Notify, Infallible>(Notify::new()));
    bell
}

type Place = MutexGuard<'static, Option<Ready>>;

/// Runs `work` on what is ready.
fn with<T>(work: impl FnOnce(&mut Ready) -> T) -> T {
    let mut place = READY.lock().unwrap_or_else(PoisonError::into_inner);
    work(ready(&mut place))
}

/// What is ready, without files that have waited too long or belong to the parent of this process.
fn ready(place: &mut Place) -> &mut Ready {
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
    ready
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

pub(crate) fn digest(url: &str) -> u64 {
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
    bell().notify_waiters();
}

/// The file, if it was opened; one that another caller opens is waited for, for a while. `None`: the caller opens it.
pub(crate) async fn take(url: &str) -> Option<Arc<dyn Source>> {
    let begun = Instant::now();
    loop {
        let opened = bell().notified(); // also by what comes after the look
        let file = with(|ready| {
            let files = &mut ready.waiting;
            let at = files.iter().position(|file| file.url == url)?;
            let is_open = files.get(at)?.source.is_some();
            Some(is_open.then(|| files.swap_remove(at)))
        })?;
        if let Some(file) = file {
            return file.source;
        }
        let left = OPENING_PATIENCE.checked_sub(begun.elapsed())?;
        let _ = timeout(left, opened).await; // late or not, the next look tells
    }
}

/// Keeps what was made of the description of a file that is ready, if this one still waits for the caller.
pub(crate) fn describe(url: &str, source: &Arc<dyn Source>, description: Description) {
    with(|ready| {
        let is_it = |file: &&mut Waiting| {
            let known = file.source.as_ref();
            file.url == url && known.is_some_and(|known| Arc::ptr_eq(known, source))
        };
        if let Some(file) = ready.waiting.iter_mut().find(is_it) {
            file.description = Some(description);
        }
    });
}

/// Takes a file that is ready, if it is described. The caller has it open then.
pub(crate) fn take_described(url: &str) -> Option<Description> {
    let file = with(|ready| {
        let is_it = |file: &Waiting| file.url == url && file.description.is_some();
        let at = ready.waiting.iter().position(is_it)?;
        Some(ready.waiting.swap_remove(at))
    })?;
    note(url, file.source.as_ref()?);
    file.description
}

/// Closes the file that waits for the caller, if it is another one than the one that its server has now.
pub(crate) fn forget_other(url: &str, now: &Stat) {
    let is_other = |source: &Arc<dyn Source>| {
        let (then, now_known) = (source.identity(), now.identity);
        let differs = then.is_some_and(|then| now_known.is_some_and(|now| then != now));
        source.size() != now.size || (differs && !source.info().may_move)
    };
    close(|file| file.url == url && file.source.as_ref().is_some_and(is_other));
}

/// Closes those of these files that were opened and not taken.
pub(crate) fn release(urls: &[String]) {
    let urls: HashSet<&str> = urls.iter().map(String::as_str).collect();
    close(|file| file.source.is_some() && urls.contains(file.url.as_str()));
}

/// Closes files on a thread of its own: servers may have to be told.
fn close(is_unwanted: impl Fn(&Waiting) -> bool) {
    let unwanted: Vec<Waiting> = with(|ready| {
        let all = ready.waiting.extract_if(.., |file| is_unwanted(file));
        all.collect()
    });
    if !unwanted.is_empty() {
        let close = move || drop(unwanted);
        // Without a thread they are closed here, with what would have run there.
        let _ = std::thread::Builder::new()
            .name("treemill-close".to_owned())
            .spawn(close);
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use treemill_source::{Costs, Memory};
    use treemill_transfer::wait_for;

    fn taken(url: &str) -> Option<Arc<dyn Source>> {
        wait_for(url, async { Ok(take(url).await) }).unwrap()
    }

    #[test]
    fn a_file_is_opened_by_one_thread_and_not_while_it_is_open() {
        let url = "root://host//ready.root";
        let file = || -> Arc<dyn Source> { Arc::new(Memory::new(url, vec![0; 9], Costs::NEAR)) };
        assert!(begin(url));
        assert!(!begin(url), "another thread opens it");
        keep(url, None);
        assert!(begin(url), "it could not be opened");
        keep(url, Some(file()));
        assert!(!begin(url), "it is ready");
        let source = taken(url).unwrap();
        note(url, &source);
        assert!(!begin(url), "the caller has it open");
        drop(source);
        assert!(begin(url));
        keep(url, None);
    }
    #[test]
    fn what_is_not_wanted_is_closed() {
        let urls = ["root://host//left.root", "root://host//opening.root"].map(str::to_owned);
        let file: Arc<dyn Source> = Arc::new(Memory::new("m", vec![0; 9], Costs::NEAR));
        let kept = Arc::downgrade(&file);
        assert!(begin(&urls[0]) && begin(&urls[1]));
        keep(&urls[0], Some(file));
        release(&urls);
        assert!(begin(&urls[0]), "it waits no longer");
        assert!(!begin(&urls[1]), "another thread opens it");
        while kept.strong_count() > 0 {
            std::thread::yield_now();
        }
        urls.iter().for_each(|url| keep(url, None));
    }

    #[test]
    fn a_file_that_has_changed_is_not_taken() {
        let url = "root://host//changed.root";
        let now = |size| Stat {
            size,
            is_folder: false,
            identity: None,
        };
        let file = Arc::new(Memory::new(url, vec![0; 9], Costs::NEAR));
        assert!(begin(url));
        keep(url, Some(file));
        forget_other(url, &now(9));
        assert!(!begin(url), "it is as it was");
        forget_other(url, &now(8));
        assert!(taken(url).is_none());
    }

    #[test]
    fn a_file_that_another_thread_opens_is_waited_for() {
        let url = "root://host//waited.root";
        assert!(begin(url));
        let waiting = std::thread::spawn(move || taken(url).is_some());
        let file = Arc::new(Memory::new(url, vec![0; 9], Costs::NEAR));
        keep(url, Some(file));
        assert!(waiting.join().unwrap());
        assert!(begin(url));
        let waiting = std::thread::spawn(move || taken(url).is_none());
        keep(url, None);
        assert!(waiting.join().unwrap(), "the caller opens it");
    }

    #[test]
    fn a_described_file_is_taken_as_it_is() {
        let url = "root://host//described.root";
        let file = || -> Arc<dyn Source> { Arc::new(Memory::new(url, vec![0; 9], Costs::NEAR)) };
        let (first, other) = (file(), file());
        assert!(begin(url));
        keep(url, Some(Arc::clone(&first)));
        assert!(take_described(url).is_none(), "it is open only");
        describe(url, &other, Arc::new("of another file"));
        assert!(take_described(url).is_none(), "it is another file");
        describe(url, &first, Arc::new("its tree"));
        let description = take_described(url).unwrap();
        assert_eq!(description.downcast_ref(), Some(&"its tree"));
        assert!(!begin(url), "the caller has it open");
        assert!(taken(url).is_none());
    }
}
