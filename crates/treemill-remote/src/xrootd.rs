//! The transport of XRootD: one client for each process, which keeps its connections.

use crate::{Entry, Stat, Transport};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;
use treemill_source::{Source, SourceError};
use treemill_xrootd::{Client, Error, ErrorKind, Options, Url, XrootdSource, settled, shown};

pub(crate) const TRANSPORT: Transport = Transport {
    schemes: &["root", "xroot", "roots", "xroots"],
    open,
    stat,
    list,
};

/// A bit of a status: it is a folder ("kXR_stat Request", kXR_isDir).
const FOLDER: u32 = 2;

/// The client of this process. A forked child finds its parent's, whose threads it has not: it leaves that one alone
/// and makes its own.
static CLIENT: Mutex<Option<(u32, Arc<Client>)>> = Mutex::new(None);

fn client() -> Arc<Client> {
    let mut place = CLIENT.lock().unwrap_or_else(PoisonError::into_inner);
    let process = std::process::id();
    if let Some((owner, client)) = &*place
        && *owner == process
    {
        return Arc::clone(client);
    }
    let client = Arc::new(Client::new(Options::default()));
    if let Some((_, of_parent)) = place.replace((process, Arc::clone(&client))) {
        std::mem::forget(of_parent); // its end would wait for threads that are not here
    }
    client
}

fn open(url: &str) -> Result<Arc<dyn Source>, SourceError> {
    Ok(Arc::new(XrootdSource::open(&client(), url)?))
}

fn stat(url: &str) -> Result<Stat, SourceError> {
    let parsed = parsed(url)?;
    let name = parsed.to_string();
    let status = client().stat(&parsed).map_err(|e| failed(&name, &e))?;
    Ok(Stat {
        size: status.size,
        is_folder: status.flags & FOLDER != 0,
        identity: settled(&name, status, SystemTime::now()),
    })
}

fn list(url: &str) -> Result<Vec<Entry>, SourceError> {
    let parsed = parsed(url)?;
    let name = parsed.to_string();
    let entries = client().dirlist(&parsed).map_err(|e| failed(&name, &e))?;
    let one = |entry: treemill_xrootd::wire::bodies::Entry| Entry {
        is_folder: entry
            .status
            .is_some_and(|status| status.flags & FOLDER != 0),
        name: entry.name,
    };
    Ok(entries.into_iter().map(one).collect())
}

fn parsed(url: &str) -> Result<Url, SourceError> {
    Url::parse(url).map_err(|error| failed(&shown(url), &error))
}

fn failed(name: &str, error: &Error) -> SourceError {
    SourceError {
        is_missing: error.kind() == ErrorKind::NotFound,
        is_transient: error.is_transient(),
        ..SourceError::new(name, error.to_string())
    }
}
