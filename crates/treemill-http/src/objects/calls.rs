//! What callers ask for: an object's bytes, its state, the names in a folder.

use crate::engine::Line;
use crate::objects::address::Address;
use crate::objects::carrier::{Object, Stream, get};
use crate::objects::failure::trouble;
use crate::objects::store::{bucket, owner};
use bytes::BytesMut;
use object_store::{ObjectMeta, ObjectStore, ObjectStoreExt};
use std::sync::Arc;
use std::time::{Instant, SystemTime};
use treemill_source::{Identity, Info, Messages, Source, SourceError, is_there};
use treemill_transfer::{Body, HEAD, Opened, Remote, Trouble, insist, soon, wait_for};

/// An object in a bucket.
#[derive(Debug, Clone)]
pub struct ObjectSource(Remote<Object>);

/// An object as its service describes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stat {
    /// Bytes.
    pub size: u64,
    /// Which object it is, and in which state, if the service names its version.
    pub identity: Option<Identity>,
    /// When it was written.
    pub modified: Option<SystemTime>,
}

/// A name in a folder: keys are grouped by their slashes.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Entry {
    /// The last part of its key.
    pub name: String,
    /// Whether other keys begin with it and a slash.
    pub is_folder: bool,
}

/// Opens an object: one request, which brings the first bytes along. Blocks until it is answered. Credentials come from
/// the environment (`AWS_ACCESS_KEY_ID`, `AWS_ENDPOINT_URL`, `AWS_REGION`, `GOOGLE_APPLICATION_CREDENTIALS`,
/// `AZURE_STORAGE_ACCOUNT_NAME` …); without any, requests are not signed.
///
/// # Errors
/// Why the object cannot be read; no later than 30 s after the service's last byte.
pub fn open(url: &str) -> Result<ObjectSource, SourceError> {
    wait_for(url, opened(url))
}

/// Opens like [`open`], as a task of the runtime.
///
/// # Errors
/// As [`open`].
pub async fn opened(url: &str) -> Result<ObjectSource, SourceError> {
    let (object, opened) = asked(url, opening).await?;
    Ok(ObjectSource(Remote::new(object, opened)))
}

/// Size, identity and time of an object, which is not opened.
///
/// # Errors
/// As [`open`].
pub fn stat(url: &str) -> Result<Stat, SourceError> {
    wait_for(url, state(url))
}

/// Asks like [`stat`], as a task of the runtime.
///
/// # Errors
/// As [`open`].
pub async fn state(url: &str) -> Result<Stat, SourceError> {
    let stated = asked(url, |address, store, _| async move {
        let meta = insist(&address.server(), || soon(head(&*store, &address))).await?;
        Ok(Stat {
            size: meta.size,
            identity: identity(&address, &meta),
            modified: Some(meta.last_modified.into()),
        })
    });
    stated.await
}

/// Whether there is such an object.
///
/// # Errors
/// As [`open`], if the service is not certain of it.
pub fn exists(url: &str) -> Result<bool, SourceError> {
    is_there(stat(url))
}

/// The names in a folder, sorted. A folder that no key is in is empty: buckets have no others.
///
/// # Errors
/// As [`open`].
pub fn list(url: &str) -> Result<Vec<Entry>, SourceError> {
    let folder = url.strip_suffix('/').unwrap_or(url);
    let listed = asked(folder, |address, store, _| async move {
        let prefix = Some(&address.key);
        let one = || async {
            store
                .list_with_delimiter(prefix)
                .await
                .map_err(|e| trouble(&e))
        };
        let found = insist(&address.server(), || soon(one())).await?;
        let entry = |path: &object_store::path::Path, is_folder| {
            let name = path.filename()?.to_owned();
            Some(Entry { name, is_folder })
        };
        let folders = found
            .common_prefixes
            .iter()
            .filter_map(|path| entry(path, true));
        let objects = found
            .objects
            .iter()
            .filter_map(|meta| entry(&meta.location, false));
        let mut entries: Vec<Entry> = folders.chain(objects).collect();
        entries.sort();
        Ok(entries)
    });
    wait_for(url, listed)
}

/// Does `what` with the bucket of a URL.
async fn asked<T, F: Future<Output = Result<T, Trouble>>>(
    url: &str,
    what: impl FnOnce(Address, Arc<dyn ObjectStore>, Arc<Line>) -> F,
) -> Result<T, SourceError> {
    let address = Address::parse(url)?;
    let name = address.name.clone();
    let done = async move {
        let (store, line) = bucket(&address)?;
        what(address, store, line).await
    };
    done.await.map_err(|trouble| trouble.error(&name, None))
}

async fn head(store: &dyn ObjectStore, address: &Address) -> Result<ObjectMeta, Trouble> {
    store
        .head(&address.key)
        .await
        .map_err(|error| trouble(&error))
}

async fn opening(
    address: Address,
    store: Arc<dyn ObjectStore>,
    line: Arc<Line>,
) -> Result<(Object, Opened), Trouble> {
    let first = insist(&address.server(), || first(&*store, &address)).await;
    let (known, mut opened) = match first {
        Ok(first) => first,
        Err(trouble) if !trouble.kind.is_final() => return Err(trouble),
        // An object without bytes has no range to send.
        Err(refused) => match insist(&address.server(), || soon(head(&*store, &address))).await {
            Ok(meta) if meta.size == 0 => (meta, empty(&address, 0)),
            _ => return Err(refused),
        },
    };
    opened.info.identity = identity(&address, &known);
    let object = Object {
        store,
        line,
        server: address.server(),
        key: address.key,
        known,
    };
    Ok((object, opened))
}

/// The request that opens an object.
async fn first(
    store: &dyn ObjectStore,
    address: &Address,
) -> Result<(ObjectMeta, Opened), Trouble> {
    Messages::about(&address.name).sent();
    let sent = Instant::now();
    let result = soon(get(store, &address.key, 0..HEAD, None)).await?;
    let latency = sent.elapsed();
    let meta = result.meta.clone();
    let mut body = Stream::of(result);
    let mut head = BytesMut::new();
    while let Some(chunk) = soon(body.chunk()).await? {
        head.extend_from_slice(&chunk);
    }
    let opened = Opened {
        head: head.freeze(),
        latency,
        ..empty(address, meta.size)
    };
    Ok((meta, opened))
}

fn empty(address: &Address, size: u64) -> Opened {
    Opened {
        info: Info::new(&address.name, size),
        head: bytes::Bytes::new(),
        latency: treemill_transfer::SILENCE,
    }
}

fn identity(address: &Address, meta: &ObjectMeta) -> Option<Identity> {
    let tag = meta.e_tag.as_ref().filter(|tag| !tag.starts_with("W/"))?;
    let place = format!("{} {}", owner(address.service), address.name);
    Some(Identity::of_remote(&place, meta.size, tag))
}

impl Source for ObjectSource {
    treemill_source::read_by!(self => self.0);
}
