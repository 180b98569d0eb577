//! The transport of HTTP and WebDAV.

use crate::{Entry, Stat, Transport};
use std::sync::Arc;
use treemill_source::{Observed, Source, SourceError};

pub(crate) const TRANSPORT: Transport = Transport {
    schemes: &["http", "https", "dav", "davs"],
    open,
    stat,
    list,
};

fn open(url: &str) -> Result<Arc<dyn Source>, SourceError> {
    Ok(Arc::new(Observed::of(Arc::new(treemill_http::open(url)?))))
}

fn stat(url: &str) -> Result<Stat, SourceError> {
    let found = treemill_http::stat(url)?;
    Ok(Stat {
        size: found.size,
        is_folder: false, // a page is a file, too
        identity: found.identity,
    })
}

fn list(url: &str) -> Result<Vec<Entry>, SourceError> {
    let entries = treemill_http::list(url)?;
    let one = |entry: treemill_http::Entry| Entry {
        name: entry.name,
        is_folder: entry.is_folder,
    };
    Ok(entries.into_iter().map(one).collect())
}
