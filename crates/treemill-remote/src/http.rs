//! The transport of HTTP and WebDAV.

use crate::{Entry, Stat, Transport};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};
use treemill_source::{Source, SourceError};

pub(crate) const TRANSPORT: Transport = Transport {
    schemes: &["http", "https", "dav", "davs"],
    open,
    stat,
    list,
};

fn open(url: &str) -> Result<Arc<dyn Source>, SourceError> {
    Ok(Arc::new(treemill_http::open(url)?))
}

fn stat(url: &str) -> Result<Stat, SourceError> {
    let found = treemill_http::stat(url)?;
    Ok(Stat {
        size: found.size,
        is_folder: false, // a page is a file, too
        changed: found.modified.and_then(seconds),
        identity: found.identity,
    })
}

fn seconds(time: SystemTime) -> Option<i64> {
    let since = time.duration_since(UNIX_EPOCH).ok()?;
    i64::try_from(since.as_secs()).ok()
}

fn list(url: &str) -> Result<Vec<Entry>, SourceError> {
    let entries = treemill_http::list(url)?;
    let one = |entry: treemill_http::Entry| Entry {
        name: entry.name,
        is_folder: entry.is_folder,
    };
    Ok(entries.into_iter().map(one).collect())
}
