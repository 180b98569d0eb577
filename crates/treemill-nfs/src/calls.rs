//! What callers ask for: a file's bytes, its state, the names in a folder.

use crate::address::Address;
use crate::client::{Client, client};
use crate::file::File;
use crate::limits::{LISTING, MOST_ENTRIES, PATIENCE};
use crate::session::{Session, trouble};
use crate::walk::walk;
use crate::wire::attributes::{Attributes, Kind as FileKind, OF_ENTRY, OF_FILE};
use crate::wire::compound::{Failure, Listing, Operations, Place, Results};
use bytes::Bytes;
use std::sync::Arc;
use std::time::Instant;
use treemill_source::{Identity, Info, Messages, Source, SourceError, is_there};
use treemill_transfer::{HEAD, Kind, Opened, Remote, Trouble, insist, wait_for};

/// The status of what is a link where a file was wanted.
const SYMLINK: u32 = 10029;

/// A file of a server of NFS.
#[derive(Debug, Clone)]
pub struct NfsSource(Remote<File>);

/// A file or folder as its server describes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stat {
    /// Bytes.
    pub size: u64,
    /// Whether it is a folder.
    pub is_folder: bool,
    /// Which file it is, and in which state.
    pub identity: Option<Identity>,
}

/// A name in a folder.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Entry {
    /// The name.
    pub name: String,
    /// Whether it is a folder itself.
    pub is_folder: bool,
}

/// Opens a file: one request, which brings the first bytes along, and four more if this process has no session at the server.
/// Blocks until it is answered. The server is told the numbers of the user and the user's groups (AUTH_SYS).
///
/// ```
/// let error = treemill_nfs::open("nfs://host/file.root?vers=3").unwrap_err();
/// assert!(error.what.contains("does not support vers=3"), "{error}");
/// ```
///
/// # Errors
/// Why the file cannot be read; within some tens of seconds, unless the server asks treemill to try again later.
pub fn open(url: &str) -> Result<NfsSource, SourceError> {
    wait_for(url, opened(url))
}

/// Opens like [`open`], as a task of the runtime.
///
/// # Errors
/// As [`open`].
pub async fn opened(url: &str) -> Result<NfsSource, SourceError> {
    let opening = asked(url, |address, client| async move {
        Messages::about(&address.name).sent();
        let begun = Instant::now();
        let head = u32::try_from(HEAD).unwrap_or(0);
        let (file, attributes, head) = File::open(client, &address.names, head).await?;
        let size = attributes.size.ok_or_else(|| {
            Trouble::new(
                Kind::Permanent,
                "the server does not say how large the file is",
            )
        })?;
        let most = usize::try_from(size).unwrap_or(usize::MAX);
        let opened = Opened {
            info: Info {
                identity: identity(&address, &attributes),
                ..Info::new(&address.name, size)
            },
            head: head.slice(..head.len().min(most)),
            latency: begun.elapsed(),
        };
        Ok((file, opened))
    });
    let (file, opened) = opening.await?;
    Ok(NfsSource(Remote::new(file, opened)))
}

/// Size, identity and kind of a file or folder, which is not opened.
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
    let stated = asked(url, |address, client| async move {
        let attributes = described(&client, &address.names).await?;
        Ok(Stat {
            size: attributes.size.unwrap_or(0),
            is_folder: attributes.kind == Some(FileKind::Folder),
            identity: identity(&address, &attributes),
        })
    });
    stated.await
}

/// Whether there is such a file or folder.
///
/// # Errors
/// As [`open`], if the server is not certain of it.
pub fn exists(url: &str) -> Result<bool, SourceError> {
    is_there(stat(url))
}

/// The names in a folder, sorted.
///
/// # Errors
/// As [`open`].
pub fn list(url: &str) -> Result<Vec<Entry>, SourceError> {
    let listed = asked(url, |address, client| async move {
        let mut entries = listed(&client, &address.names).await?;
        entries.sort();
        Ok(entries)
    });
    wait_for(url, listed)
}

/// Does `what` at the server of an address. A connection that breaks meanwhile is made again.
async fn asked<T, F: Future<Output = Result<T, Trouble>>>(
    url: &str,
    what: impl Fn(Address, Arc<Client>) -> F,
) -> Result<T, SourceError> {
    let address = Address::parse(url)?;
    let client = client(&address.server);
    let server = address.server.to_string();
    let done = insist(&server, || what(address.clone(), Arc::clone(&client))).await;
    done.map_err(|trouble| trouble.error(&address.name, None))
}

/// The attributes of what a path leads to.
async fn described(client: &Arc<Client>, path: &[String]) -> Result<Attributes, Trouble> {
    let last = |_: &Session, operations: Operations| operations.attributes(OF_FILE);
    walk(client, path, last, |results| {
        let attributes = results.attributes()?;
        match attributes.kind {
            Some(FileKind::Link) => Err(Failure::Status {
                place: u32::MAX,
                status: SYMLINK,
            }),
            _ => Ok(attributes),
        }
    })
    .await
}

async fn listed(client: &Arc<Client>, path: &[String]) -> Result<Vec<Entry>, Trouble> {
    let (handle, mut listing) = walk(
        client,
        path,
        |session, operations| more(operations.get_handle(), Place::default(), session),
        |results| Ok((results.got_handle()?, results.list()?)),
    )
    .await?;
    let mut entries: Vec<Entry> = entries(&listing).collect();
    while !listing.is_end {
        if entries.len() > MOST_ENTRIES {
            let what = format!("the folder has more than {MOST_ENTRIES} entries");
            return Err(Trouble::new(Kind::Permanent, what));
        }
        let before = listing.next;
        listing = next(client, &handle, before).await?;
        if listing.next == before && !listing.is_end {
            return Err(Trouble::new(
                Kind::Permanent,
                "the server stops within its list of the folder",
            ));
        }
        entries.extend(self::entries(&listing));
    }
    Ok(entries)
}

fn more(operations: Operations, from: Place, session: &Session) -> Operations {
    operations.list(from, OF_ENTRY, LISTING.min(session.read))
}

async fn next(client: &Arc<Client>, handle: &Bytes, from: Place) -> Result<Listing, Trouble> {
    let ask = |session: &Session| more(Operations::default().handle(handle), from, session);
    let read = |results: &mut Results| {
        results.handle()?;
        results.list()
    };
    let found = client.settled(PATIENCE, ask, read).await?;
    found.map_err(|failure| trouble(&failure))
}

fn entries(listing: &Listing) -> impl Iterator<Item = Entry> {
    let named = listing
        .entries
        .iter()
        .filter(|(name, _)| name != "." && name != "..");
    named.map(|(name, attributes)| Entry {
        name: name.clone(),
        is_folder: attributes.kind == Some(FileKind::Folder),
    })
}

/// Which file it is, and in which state: its number, change and time.
fn identity(address: &Address, attributes: &Attributes) -> Option<Identity> {
    let change = attributes.change?;
    let state = format!(
        "{:?} {:?} {change} {:?}",
        attributes.fsid, attributes.file_id, attributes.modified
    );
    Some(Identity::of_remote(&address.name, attributes.size?, &state))
}

impl Source for NfsSource {
    treemill_source::read_by!(self => self.0);
}
