//! The transport of dCap.

use crate::connections::{Connections, Opening};
use crate::found::Open;
use crate::{Entry, Later, Stat, Transport};
use std::sync::Arc;
use std::time::Duration;
use treemill_dcap::{DcapSource, shown};
use treemill_source::{Observed, Source, SourceError};

pub(crate) const TRANSPORT: Transport = Transport {
    schemes: &["dcap"],
    open,
    open_found: None,
    stat,
    list,
    hosts: None,
    leave: None,
};

fn open(url: &str) -> Later<Open> {
    let url = url.to_owned();
    let opening: Opening = Arc::new(move |_, _| {
        let url = url.clone();
        Box::pin(async move {
            let source = DcapSource::opened(&url).await?;
            Ok(Arc::new(Observed::of(Arc::new(source))) as Arc<dyn Source>)
        })
    });
    Box::pin(async move {
        let first = opening(0, Duration::ZERO).await?;
        Ok(Open::only(Arc::new(Connections::new(first, opening))))
    })
}

fn stat(url: &str) -> Later<Stat> {
    let url = url.to_owned();
    Box::pin(async move {
        let found = treemill_dcap::state(&url).await?;
        Ok(Stat {
            size: found.size,
            is_folder: found.is_folder,
            identity: found.identity,
        })
    })
}

fn list(url: &str) -> Result<Vec<Entry>, SourceError> {
    let what = "folders are not listed by dCap: name the files, or list the same folder at dCache's WebDAV door (davs://)";
    Err(SourceError::new(shown(url), what))
}
