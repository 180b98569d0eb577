//! The transport of dCap.

use crate::found::Open;
use crate::lanes::{Lanes, Opening};
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
    let opening: Opening = Arc::new(move |_, _| opened(&owned));
    Ok(Open::only(Arc::new(Lanes::new(opened(url)?, opening))))
}

/// One session, with a data connection of its own. Counts are the pools', which serve the bytes, and not the door's.
fn opened(url: &str) -> Result<Arc<dyn Source>, SourceError> {
    let source = Arc::new(DcapSource::open(url)?);
    let door = url.split('/').nth(2).unwrap_or_default().to_owned();
    let file = Arc::clone(&source);
    let place = move || format!("dcap://{}", file.pool().unwrap_or_else(|| door.clone()));
    Ok(Arc::new(Observed::at(source, Box::new(place))))
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
