//! The transport of objects in buckets.

use crate::found::Open;
use crate::{Entry, Later, Stat, Transport};
use std::sync::Arc;
use treemill_source::{Observed, SourceError};

pub(crate) const TRANSPORT: Transport = Transport {
    schemes: &["s3", "gs", "az"],
    open,
    open_found: None,
    stat,
    list,
    hosts: None,
    leave: None,
};

fn open(url: &str) -> Later<Open> {
    let url = url.to_owned();
    Box::pin(async move {
        let source = Arc::new(treemill_http::objects::opened(&url).await?);
        Ok(Open::only(Arc::new(Observed::by_requests(source))))
    })
}

fn stat(url: &str) -> Later<Stat> {
    let url = url.to_owned();
    Box::pin(async move {
        let found = treemill_http::objects::state(&url).await?;
        Ok(Stat {
            size: found.size,
            is_folder: false, // a folder is only what keys have in common
            identity: found.identity,
        })
    })
}

fn list(url: &str) -> Result<Vec<Entry>, SourceError> {
    let entries = treemill_http::objects::list(url)?;
    let one = |entry: treemill_http::objects::Entry| Entry::plain(entry.name, entry.is_folder);
    Ok(entries.into_iter().map(one).collect())
}
