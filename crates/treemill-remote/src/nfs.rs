//! The transport of NFS in user space.

use crate::found::Open;
use crate::{Entry, Later, Stat, Transport};
use std::sync::Arc;
use treemill_source::{Observed, SourceError};

pub(crate) const TRANSPORT: Transport = Transport {
    schemes: &["nfs"],
    open,
    open_found: None, // another server's word does not tell whom we are to be taken for
    stat,
    list,
    hosts: None,
    leave: Some(treemill_nfs::leave),
};

fn open(url: &str) -> Later<Open> {
    let url = url.to_owned();
    Box::pin(async move {
        let source = Arc::new(treemill_nfs::opened(&url).await?);
        Ok(Open::only(Arc::new(Observed::by_requests(source))))
    })
}

fn stat(url: &str) -> Later<Stat> {
    let url = url.to_owned();
    Box::pin(async move {
        let found = treemill_nfs::state(&url).await?;
        Ok(Stat {
            size: found.size,
            is_folder: found.is_folder,
            identity: found.identity,
        })
    })
}

fn list(url: &str) -> Result<Vec<Entry>, SourceError> {
    let entries = treemill_nfs::list(url)?;
    let one = |entry: treemill_nfs::Entry| Entry::literal(entry.name, entry.is_folder);
    Ok(entries.into_iter().map(one).collect())
}
