//! Opens a replica and looks at its file. Waits for the network.

use crate::replicas::agreement::{Look, sample};
use crate::replicas::limits::SILENT_OPENING;
use crate::replicas::members::Number;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use treemill_source::{Source, SourceError, Ticket};

/// One replica: its address without credentials, and the function that opens it.
pub struct Opener {
    /// The replica's name in messages.
    pub name: String,
    /// Opens the replica. It may be called again after the replica failed, from any thread.
    pub open: Box<dyn Fn() -> Result<Arc<dyn Source>, SourceError> + Send + Sync>,
}

/// Finds more replicas of a file: all that are known now, whether they were found before or not. Called from any thread,
/// on which it may wait for servers.
pub type Finder = Box<dyn Fn() -> Vec<Opener> + Send + Sync>;

/// Opens a replica and reads that in which all must agree.
pub(crate) fn open(opener: &Opener) -> Result<(Arc<dyn Source>, Look), SourceError> {
    let source = (opener.open)()?;
    let tickets = source.submit(sample(source.size()));
    let checksums = source.checksums(); // while the bytes are on their way
    let bytes = tickets.iter().map(Ticket::wait);
    let look = Look {
        place: opener.name.clone(),
        size: source.size(),
        bytes: bytes.collect::<Result<_, _>>()?,
        identity: source.identity(),
        checksums,
    };
    Ok((source, look))
}

/// The same opener, which opens its replica from now on: for the first call that is done, or under way.
pub(crate) fn begun(opener: Opener) -> Opener {
    let (sender, receiver) = channel();
    let name = opener.name.clone();
    let shared = Arc::new(opener);
    let opener = Arc::clone(&shared);
    let work = move || drop(sender.send((opener.open)()));
    let thread = std::thread::Builder::new().name("replica-open".to_owned());
    // Without a thread the call opens.
    let begun = Mutex::new(thread.spawn(work).ok().map(|_| receiver));
    let open = move || {
        let mut place = begun.lock().unwrap_or_else(PoisonError::into_inner);
        let receiver = place.take();
        drop(place);
        let opened = receiver.and_then(|receiver| receiver.recv().ok());
        opened.unwrap_or_else(|| (shared.open)())
    };
    Opener {
        name,
        open: Box::new(open),
    }
}

/// A source with its number, and why others could not be opened.
type First = (
    Option<(Number, Arc<dyn Source>)>,
    Vec<(Number, SourceError)>,
);

/// Opens the first replica that can be opened. The next one is tried when one has failed, or when nothing was said for
/// a while: each on a thread, since one that is silent is not waited for when another one answers.
pub(crate) fn first(openers: &[Arc<Opener>]) -> First {
    let (sender, receiver) = channel();
    let mut errors: Vec<(Number, SourceError)> = Vec::new();
    let mut tried = 0;
    while errors.len() < openers.len() {
        if tried < openers.len() {
            if let Some(opener) = openers.get(tried) {
                start(opener, tried, sender.clone());
            }
            tried = tried.saturating_add(1);
        }
        let heard = match tried < openers.len() {
            true => receiver.recv_timeout(SILENT_OPENING).ok(),
            false => receiver.recv().ok(),
        };
        match heard {
            Some((number, Ok(source))) => return (Some((number, source)), errors),
            Some((number, Err(error))) => errors.push((number, error)),
            None => {}
        }
    }
    errors.sort_by_key(|(number, _)| *number);
    (None, errors)
}

type Opened = (Number, Result<Arc<dyn Source>, SourceError>);

fn start(opener: &Arc<Opener>, number: Number, sender: Sender<Opened>) {
    let (shared, back) = (Arc::clone(opener), sender.clone());
    // The answer has no listener any more if another replica was faster.
    let work = move || drop(sender.send((number, (shared.open)())));
    let thread = std::thread::Builder::new().name("replica-open".to_owned());
    if let Err(error) = thread.spawn(work) {
        let what = format!("treemill cannot start a thread: {error}");
        let error = SourceError::new(&opener.name, what);
        let _ = back.send((number, Err(error)));
    }
}
