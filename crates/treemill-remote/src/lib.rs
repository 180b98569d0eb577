//! Files on servers, by their addresses: [`open`], [`stat`], [`list`] and [`content`] look the scheme up in one table of
//! transports; [`open_replicas`] opens a file that lies at several of them; [`set_bridge`] sets what other addresses are
//! given to. [`open_assumed`] opens a file that was open before, without asking its server. A file whose server knows other places of it is read from those, too, when they are worth it. Knows no protocol and no file format.
//!
//! `connections.rs` reads a file on several connections: `connections/deal.rs` is pure and says which connection gets what,
//! `connections/pool.rs` has those that are being opened. `found.rs` and `metalink.rs` are files whose other places are found,
//! `checksums.rs` says by which checksums they are compared.
//! `inherited.rs` opens files anew in forked processes.
//! [`mounts`] opens what has a path.
//! `blocking.rs` makes sources of readers that keep their thread, and gives up what is silent.
#![forbid(unsafe_code)]

mod assumed;
mod blocking;
mod bridge;
mod checksums;
mod connections;
mod dcap;
mod found;
mod http;
mod inherited;
mod limits;
mod looks;
mod metalink;
pub mod mounts;
mod nfs;
mod objects;
mod ready;
mod replicas;
mod xrootd;

pub use assumed::{assumed, is_kept, open_assumed, set_remembers};
pub use blocking::{BlockingFile, BlockingReader, within};
pub use bridge::{Protocol, set_bridge};
pub use limits::PATIENCE;
pub use looks::{look, look_soon, release, stat, stats};
pub use ready::Description;
pub use replicas::{open_replicas, shown};

use found::Open;
use inherited::Inherited;
use looks::{ASKING, KEPT, beside};
use std::pin::Pin;
use std::sync::Arc;
use treemill_source::{Edges, Identity, Part, Source, SourceError, Ticket, is_off};
use treemill_transfer::wait_for;

/// What a server says of a file or folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stat {
    /// Bytes of a file.
    pub size: u64,
    /// Whether it is a folder.
    pub is_folder: bool,
    /// The file's state; `None` if what the server says does not identify it.
    pub identity: Option<Identity>,
}

/// One name in a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The name, without the folder's.
    pub name: String,
    /// Whether it is a folder itself.
    pub is_folder: bool,
    /// The name as addresses write it; `None` if they cannot: such a file is not to be taken for another one.
    pub written: Option<String>,
}

impl Entry {
    /// A name that addresses hold as it is.
    #[must_use]
    pub fn plain(name: String, is_folder: bool) -> Self {
        let written = Some(name.clone());
        Entry {
            name,
            is_folder,
            written,
        }
    }

    /// A name that addresses hold as it is, unless it has a question mark, with which their queries begin.
    fn literal(name: String, is_folder: bool) -> Self {
        let is_whole = !name.contains('?');
        let plain = Entry::plain(name, is_folder);
        Entry {
            written: plain.written.filter(|_| is_whole),
            ..plain
        }
    }
}

type Opening = fn(&str, &str) -> Result<Arc<dyn Source>, SourceError>;

type Hosts = fn(&str) -> Result<Vec<String>, SourceError>;

/// What a server answers: work for the process's runtime.
type Later<T> = Pin<Box<dyn Future<Output = Result<T, SourceError>> + Send>>;

/// The functions of one protocol. Each takes a whole address. Those that are called for many files at once take no thread.
struct Transport {
    schemes: &'static [&'static str],
    open: fn(&str) -> Later<Open>,
    /// Opens a file that the server of another address, which follows, has named: it gets no token of the user's. `None`
    /// if servers may not name such files.
    open_found: Option<Opening>,
    stat: fn(&str) -> Later<Stat>,
    list: fn(&str) -> Result<Vec<Entry>, SourceError>,
    /// The hosts whose disks have a file, where servers know others that keep files.
    hosts: Option<Hosts>,
    /// Tells servers that this process ends, where they keep something for it until then.
    leave: Option<fn()>,
}

/// A new transport is a line here.
const TRANSPORTS: &[Transport] = &[
    xrootd::TRANSPORT,
    http::TRANSPORT,
    objects::TRANSPORT,
    nfs::TRANSPORT,
    dcap::TRANSPORT,
];

/// The schemes of addresses that can be read without a bridge, without `://`.
#[must_use]
pub fn schemes() -> Vec<&'static str> {
    let all = TRANSPORTS.iter().flat_map(|transport| transport.schemes);
    all.copied().collect()
}

/// Opens a file, or takes the one that [`look`] has opened. Its first and last bytes are on their way, unless what opening
/// reads of it is on this disk.
///
/// ```
/// let error = treemill_remote::open("gopher://host/file.root").err().unwrap();
/// assert!(error.what.contains("gopher:// is not supported"), "{error}");
/// ```
///
/// # Errors
/// If there is no such file, or it cannot be opened; if the scheme is unknown.
pub fn open(url: &str) -> Result<Arc<dyn Source>, SourceError> {
    waited(url, open_soon(url))
}

/// Opens like [`open`], as a task.
async fn open_soon(url: &str) -> Result<Arc<dyn Source>, SourceError> {
    let source = match ready::take(url).await {
        Some(source) => source,
        None => open_now(url).await?.0,
    };
    ready::note(url, &source);
    Ok(source)
}

/// Takes the description of a file that [`look_soon`] has opened and described, if it still waits for that. Does not wait.
///
/// ```
/// assert!(treemill_remote::described("https://host/unknown.root").is_none());
/// ```
#[must_use]
pub fn described(url: &str) -> Option<Description> {
    ready::take_described(url)
}

/// Waits for what is done about a file.
fn waited<T>(
    url: &str,
    work: impl Future<Output = Result<T, SourceError>>,
) -> Result<T, SourceError> {
    wait_for(&replicas::shown(url), work)
}

/// An open file, and those of its first and last bytes that are on their way.
type Opened = (Arc<dyn Source>, Vec<Ticket>);

async fn open_now(url: &str) -> Result<Opened, SourceError> {
    let (source, edges) = opened_here(url).await?;
    let again = |url: &str| Ok(waited(url, opened_here(url))?.0);
    Ok((Arc::new(Inherited::new(url, source, again)), edges))
}

/// Opens a file for this process alone.
async fn opened_here(url: &str) -> Result<Opened, SourceError> {
    let owned = url.to_owned();
    let source = match transport(url) {
        Some(_) if metalink::is_document(url) => {
            beside(&ASKING, url, move || metalink::open(&owned)).await??
        }
        Some(transport) => (transport.open)(url).await?.everywhere(url),
        None => beside(&ASKING, url, move || open_bare(&owned)).await??,
    };
    assumed::note(url, &*source);
    // What is kept of it may lie on another server's disk.
    match is_far(&*source) {
        true => beside(&KEPT, url, move || opened(source)).await,
        false => Ok(opened(source)),
    }
}

/// Whether it may be worth it to keep on disk what opening the file reads.
fn is_far(source: &dyn Source) -> bool {
    source.costs().round_trip >= limits::DESCRIBED_DISTANCE && !is_off(Part::Startup)
}

/// A file that was opened just now, and is going to be described.
fn opened(source: Arc<dyn Source>) -> Opened {
    let is_remembered = source
        .identity()
        .is_some_and(|it| assumed::is_remembered(&it));
    if is_far(&*source) {
        return treemill_source::cache::described(source, is_remembered);
    }
    let edges = match is_remembered {
        true => Edges::later(source),
        false => Edges::of(source),
    };
    let asked = edges.asked();
    (Arc::new(edges), asked)
}

/// Opens a file, and asks for nothing of it. What is asked later is counted.
///
/// # Errors
/// As [`open`].
pub fn open_bare(url: &str) -> Result<Arc<dyn Source>, SourceError> {
    protocol(url)?.open(url)
}

/// Opens like [`open_bare`] a file that the server of `home` has named and the user has not.
fn open_found(url: &str, home: &str) -> Result<Arc<dyn Source>, SourceError> {
    let refused = || {
        SourceError::new(
            replicas::shown(url),
            "a server may not name an address of this kind",
        )
    };
    let open = transport(url).and_then(|transport| transport.open_found);
    open.ok_or_else(refused)?(url, home)
}

/// This process ends: servers that keep what it had open are told. Bounded to a fraction of a second; for nothing it costs nothing.
pub fn leave() {
    let leaves = TRANSPORTS.iter().filter_map(|transport| transport.leave);
    leaves.for_each(|leave| leave());
}

/// Asks what a folder holds, in no particular order.
///
/// # Errors
/// As [`open`]; if the protocol or the server cannot list.
pub fn list(url: &str) -> Result<Vec<Entry>, SourceError> {
    protocol(url)?.list(url)
}

/// The hosts that a file lies on, by the word of the server that its address names: workers on them read it from their own
/// disks. None if that server keeps its files itself, or does not tell.
///
/// ```
/// assert_eq!(treemill_remote::hosts("https://host/file.root"), Ok(Vec::new()));
/// ```
///
/// # Errors
/// As [`stat`].
pub fn hosts(url: &str) -> Result<Vec<String>, SourceError> {
    match transport(url).and_then(|transport| transport.hosts) {
        Some(hosts) => hosts(url),
        None => Ok(Vec::new()),
    }
}

/// All bytes of a small file, such as a list of others.
///
/// # Errors
/// As [`open`]; if the file is larger than 64 MB.
pub fn content(url: &str) -> Result<Vec<u8>, SourceError> {
    let source = open(url)?;
    let size = source.size();
    if size > limits::MOST_CONTENT {
        let what = format!("the list of files has {size} bytes, which is too many");
        return Err(SourceError::new(source.name(), what));
    }
    let tickets = source.submit(std::iter::once(0..size).collect());
    match tickets.first() {
        Some(ticket) if size > 0 => Ok(ticket.wait()?.to_vec()),
        _ => Ok(Vec::new()),
    }
}

/// The scheme of an address, or what stands in its place.
fn scheme(url: &str) -> String {
    let scheme = url.split("://").next().unwrap_or_default();
    scheme.to_ascii_lowercase()
}

fn transport(url: &str) -> Option<&'static Transport> {
    let scheme = scheme(url);
    let mut all = TRANSPORTS.iter();
    all.find(|transport| transport.schemes.contains(&scheme.as_str()))
}

fn protocol(url: &str) -> Result<&'static dyn Protocol, SourceError> {
    let found = transport(url).map(|transport| transport as &dyn Protocol);
    found.or_else(bridge::bridge).ok_or_else(|| {
        let scheme = scheme(url);
        let known: Vec<String> = schemes().iter().map(|s| format!("{s}://")).collect();
        let what = format!(
            "{scheme}:// is not supported; these are: {}",
            known.join(", ")
        );
        // The rest of the address may hold credentials.
        SourceError::new(format!("{scheme}://…"), what)
    })
}
