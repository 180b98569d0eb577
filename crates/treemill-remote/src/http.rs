//! The transport of HTTP and WebDAV.

use crate::checksums::{self, Description};
use crate::found::{Open, Place, may_stand_for};
use crate::limits::MOST_DOCUMENTS;
use crate::{Entry, Later, Stat, Transport, metalink};
use std::sync::Arc;
use treemill_http::{HttpSource, Links};
use treemill_source::{Observed, Source, SourceError};

pub(crate) const TRANSPORT: Transport = Transport {
    schemes: &["http", "https", "dav", "davs"],
    open,
    open_found: Some(open_found),
    stat,
    list,
    hosts: None,
    leave: None,
};

fn open(url: &str) -> Later<Open> {
    let own = url.to_owned();
    Box::pin(async move {
        let (source, links) = treemill_http::opened(&own, checksums::wanted()).await?;
        let source = observed(source);
        let open = Open::only(Arc::clone(&source));
        if links.is_empty() {
            return Ok(open);
        }
        Ok(open.with(move || places(&links, &own, &*source)))
    })
}

fn open_found(url: &str, home: &str) -> Result<Arc<dyn Source>, SourceError> {
    let wanted = checksums::wanted();
    Ok(observed(treemill_http::open_found(url, home, wanted)?))
}

fn observed(source: HttpSource) -> Arc<dyn Source> {
    Arc::new(Observed::by_requests(Arc::new(source)))
}

/// Where a file lies besides, as its server and its Metalink documents say. A document of another file says nothing.
fn places(links: &Links, own: &str, open: &dyn Source) -> Vec<Place> {
    let undescribed = |url| (url, Description::default());
    let mut all: Vec<_> = links.duplicates().into_iter().map(undescribed).collect();
    let documents = links.descriptions().iter();
    for document in documents
        .filter(|url| may_stand_for(url, own))
        .take(MOST_DOCUMENTS)
    {
        if let Ok(document) = open_found(document, own)
            && let Ok((description, urls)) = metalink::read(&*document)
            && description.difference(open).is_none()
        {
            all.extend(urls.into_iter().map(|url| (url, description.clone())));
        }
    }
    let others = all.into_iter().filter(|(url, _)| url != own);
    let fit = others.filter(|(url, _)| may_stand_for(url, own));
    fit.map(|(url, description)| Place::named_by(url, own).described(description))
        .collect()
}

fn stat(url: &str) -> Later<Stat> {
    let url = url.to_owned();
    Box::pin(async move {
        let found = treemill_http::state(&url).await?;
        Ok(Stat {
            size: found.size,
            is_folder: false, // a page is a file, too
            identity: found.identity,
        })
    })
}

fn list(url: &str) -> Result<Vec<Entry>, SourceError> {
    let entries = treemill_http::list(url)?;
    let one = |entry: treemill_http::Entry| Entry {
        name: entry.name,
        is_folder: entry.is_folder,
        written: entry.written,
    };
    Ok(entries.into_iter().map(one).collect())
}
