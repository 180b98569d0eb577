//! Files that this process has had open, as they were then. Such a file can be read before its server has answered: what is
//! kept of it here comes at once, all else waits until the file is open and found to be the same. Knows no
//! protocol and no format; whether a result may be given before the answer has come is for the caller to say.

use crate::limits::MOST_KNOWN;
use crate::ready;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use tokio::sync::OnceCell;
use treemill_source::cache::Description;
use treemill_source::{
    Checksums, Costs, Identity, Info, Part, Promise, Request, Source, SourceError, SourceErrorKind,
    Ticket, is_off,
};

/// A file as it was when it was opened.
#[derive(Clone)]
struct Known {
    /// With an identity.
    info: Info,
    server: String,
    costs: Costs,
}

/// The files, by digests of their addresses.
static KNOWN: Mutex<Option<HashMap<u64, Known>>> = Mutex::new(None);

fn with<T>(work: impl FnOnce(&mut HashMap<u64, Known>) -> T) -> T {
    let mut place = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    work(place.get_or_insert_default())
}

/// Notes a file that was opened just now. One whose server does not identify it, or that another server may serve next time,
/// is not known.
pub(crate) fn note(url: &str, source: &dyn Source) {
    let info = source.info();
    let identity = info.identity.filter(|_| !info.may_move);
    with(|known| match identity {
        None => {
            known.remove(&ready::digest(url));
        }
        Some(_) => {
            if known.len() >= MOST_KNOWN {
                known.clear();
            }
            let file = Known {
                info: info.clone(),
                server: source.server(),
                costs: source.costs(),
            };
            known.insert(ready::digest(url), file);
        }
    });
}

fn known(url: &str) -> Option<Known> {
    if is_off(Part::Startup) {
        return None;
    }
    with(|known| known.get(&ready::digest(url)).cloned())
}

/// The state of a file as this process has seen it last, if it can be opened by [`open_assumed`].
#[must_use]
pub fn assumed(url: &str) -> Option<Identity> {
    known(url)?.info.identity
}

/// Says whether what opening a file in this state reads is in this process's memory.
type Remembers = fn(&Identity) -> bool;

static REMEMBERS: OnceLock<Remembers> = OnceLock::new();

/// Names who remembers what opening files reads, once.
pub fn set_remembers(remembers: Remembers) {
    let _ = REMEMBERS.set(remembers);
}

/// Whether what opening a file in this state reads is in this process's memory.
pub(crate) fn is_remembered(file: &Identity) -> bool {
    REMEMBERS.get().is_some_and(|remembers| remembers(file))
}

/// Whether a file that this process has had open can be opened by [`open_assumed`].
#[must_use]
pub fn is_kept(url: &str) -> bool {
    assumed(url).is_some_and(|it| is_remembered(&it) || treemill_source::cache::describes(&it))
}

/// Opens a file that this process has had open, without asking its server: it has the identity that [`assumed`] gives. What
/// opening it has read then comes from this disk, or from this process's memory ([`set_remembers`]). The first read of anything
/// else opens the file, and fails if it has changed. `None` if nothing is kept of the file.
///
/// ```
/// assert!(treemill_remote::open_assumed("https://host/unknown.root").is_none());
/// ```
#[must_use]
pub fn open_assumed(url: &str) -> Option<Arc<dyn Source>> {
    let known = known(url)?;
    let identity = known.info.identity?;
    let description = treemill_source::cache::description(&identity);
    if description.is_none() && !is_remembered(&identity) {
        return None;
    }
    let later = Later {
        url: url.to_owned(),
        known,
        opened: OnceCell::new(),
    };
    Some(Arc::new(Assumed {
        description,
        later: Arc::new(later),
    }))
}

/// A file of which something is kept.
struct Assumed {
    /// What is kept of it on this disk.
    description: Option<Description>,
    later: Arc<Later>,
}

/// A file that is opened when something is read of it that is not kept.
struct Later {
    url: String,
    known: Known,
    /// A failure is not kept: the next read tries again.
    opened: OnceCell<Arc<dyn Source>>,
}

impl Later {
    async fn opened(&self) -> Result<&Arc<dyn Source>, SourceError> {
        self.opened.get_or_try_init(|| self.open()).await
    }

    async fn open(&self) -> Result<Arc<dyn Source>, SourceError> {
        let source = crate::open_soon(&self.url).await?;
        if source.identity() != self.known.info.identity {
            let what = "the file has changed since it was read last: run again";
            let kind = SourceErrorKind::Changed;
            return Err(SourceError::of(kind, &self.known.info.name, what));
        }
        Ok(source)
    }

    /// Opens the file, and asks for ranges that were promised.
    async fn keep(&self, ranges: Vec<Range<u64>>, promises: Vec<Promise>) {
        match self.opened().await {
            Ok(source) => {
                for (ticket, promise) in source.submit(ranges).iter().zip(promises) {
                    ticket.on_ready(move |answer| promise.keep(answer));
                }
            }
            Err(error) => {
                let failed = promises.into_iter();
                failed.for_each(|promise| promise.keep(Err(error.clone())));
            }
        }
    }
}

impl Source for Assumed {
    fn info(&self) -> &Info {
        &self.later.known.info
    }

    fn costs(&self) -> Costs {
        let measured = self.later.opened.get().map(|source| source.costs());
        measured.unwrap_or(self.later.known.costs)
    }

    fn server(&self) -> String {
        let now = self.later.opened.get().map(|source| source.server());
        now.unwrap_or_else(|| self.later.known.server.clone())
    }

    fn checksums(&self) -> Checksums {
        let opened = self.later.opened.get();
        opened.map_or_else(Checksums::default, |source| source.checksums())
    }

    fn abandon(&self, ranges: &[Range<u64>]) {
        if let Some(source) = self.later.opened.get() {
            source.abandon(ranges);
        }
    }

    fn read(&self, requests: &mut [Request]) -> Result<(), SourceError> {
        let ranges = requests.iter().map(|request| &request.range);
        let kept = |range| self.description.as_ref()?.get(range);
        let kept: Option<Vec<_>> = ranges.map(kept).collect();
        let Some(kept) = kept else {
            let later = &self.later;
            return crate::waited(&later.url, later.opened())?.read(requests);
        };
        for (request, bytes) in requests.iter_mut().zip(kept) {
            request.buffer.clear();
            request.buffer.extend_from_slice(&bytes);
        }
        Ok(())
    }

    /// Where the file is not open, a task opens it.
    fn submit(&self, ranges: Vec<Range<u64>>) -> Vec<Ticket> {
        if let Some(description) = &self.description {
            description.release();
        }
        if let Some(source) = self.later.opened.get() {
            return source.submit(ranges);
        }
        let new = |range: &Range<u64>| Ticket::new(self.name(), range.clone());
        let (tickets, promises): (Vec<_>, Vec<_>) = ranges.iter().map(new).unzip();
        let later = Arc::clone(&self.later);
        // Without a runtime the promises are dropped, which is an error of each ticket.
        if let Ok(runtime) = treemill_transfer::runtime() {
            runtime.spawn(async move { later.keep(ranges, promises).await });
        }
        tickets
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use treemill_source::Memory;

    fn file(state: &str, may_move: bool) -> Memory {
        let name = "https://host/file.root";
        let info = Info {
            identity: Some(Identity::of_remote(name, 9, state)),
            may_move,
            ..Info::new(name, 9)
        };
        Memory::new(name, vec![0; 9], Costs::NEAR).with_info(info)
    }

    #[test]
    fn a_file_is_assumed_to_be_as_it_was_opened_last() {
        let url = "https://host/file.root";
        assert!(assumed(url).is_none());
        for state in ["W1", "W2"] {
            note(url, &file(state, false));
            assert_eq!(assumed(url), file(state, false).identity());
        }
        assert!(
            !is_kept(url) && open_assumed(url).is_none(),
            "nothing is kept of it"
        );
        set_remembers(|it| it.size == 9);
        assert!(
            is_kept(url) && open_assumed(url).is_some(),
            "it is in memory"
        );
        note(url, &file("W2", true));
        assert!(assumed(url).is_none(), "another server may serve it");
    }
}
