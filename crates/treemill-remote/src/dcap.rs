//! The transport of dCap.

use crate::connections::{Connections, Opening};
use crate::found::Open;
use crate::{Entry, Stat, Transport};
use std::sync::Arc;
use treemill_dcap::{DcapSource, shown};
use treemill_source::{Observed, Source, SourceError};

pub(crate) const TRANSPORT: Transport = Transport {
    schemes: &["dcap"],
    open,
    open_found: None,
    stat,
    list,
};

fn open(url: &str) -> Result<Open, SourceError> {
    let owned = url.to_owned();
    let opening: Opening = Arc::new(move |_, _| {
        let owned = owned.clone();
        Box::pin(async move { Ok(observed(DcapSource::opened(&owned).await?, &owned)) })
    });
    let first = observed(DcapSource::open(url)?, url);
    Ok(Open::only(Arc::new(Connections::new(first, opening))))
}

/// One session, with a data connection of its own. Counts are the pools', which serve the bytes, and not the door's.
fn observed(source: DcapSource, url: &str) -> Arc<dyn Source> {
    let source = Arc::new(source);
    let door = url.split('/').nth(2).unwrap_or_default().to_owned();
    let file = Arc::clone(&source);
    let place = move || format!("dcap://{}", file.pool().unwrap_or_else(|| door.clone()));
    Arc::new(Observed::at(source, Box::new(place)))
}

fn stat(url: &str) -> Result<Stat, SourceError> {
    let found = treemill_dcap::stat(url)?;
    Ok(Stat {
        size: found.size,
        is_folder: found.is_folder,
        identity: found.identity,
    })
}

fn list(url: &str) -> Result<Vec<Entry>, SourceError> {
    let what = "folders are not listed by dCap: name the files, or list the same folder at dCache's WebDAV door (davs://)";
    Err(SourceError::new(shown(url), what))
}
