//! The transport of NFS in user space.

use crate::found::Open;
use crate::{Entry, Stat, Transport};
use std::sync::Arc;
use treemill_source::{Observed, SourceError};

pub(crate) const TRANSPORT: Transport = Transport {
    schemes: &["nfs"],
    open,
    open_found: None, // another server's word does not tell whom we are to be taken for
    stat,
    list,
};

fn open(url: &str) -> Result<Open, SourceError> {
    let source = Arc::new(treemill_nfs::open(url)?);
    Ok(Open::only(Arc::new(Observed::by_requests(source))))
}

fn stat(url: &str) -> Result<Stat, SourceError> {
    let found = treemill_nfs::stat(url)?;
    Ok(Stat {
        size: found.size,
        is_folder: found.is_folder,
        identity: found.identity,
    })
}

fn list(url: &str) -> Result<Vec<Entry>, SourceError> {
    let entries = treemill_nfs::list(url)?;
    let one = |entry: treemill_nfs::Entry| Entry::literal(entry.name, entry.is_folder);
    Ok(entries.into_iter().map(one).collect())
}
