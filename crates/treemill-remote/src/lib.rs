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
mod many;
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
pub use many::stats;
pub use replicas::{open_replicas, shown};

use found::Open;
use inherited::Inherited;
use std::sync::Arc;
use treemill_source::{Edges, Identity, Part, Source, SourceError, is_off};

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

/// The functions of one protocol. Each takes a whole address.
struct Transport {
    schemes: &'static [&'static str],
    open: fn(&str) -> Result<Open, SourceError>,
    /// Opens a file that the server of another address, which follows, has named: it gets no token of the user's. `None`
    /// if servers may not name such files.
    open_found: Option<Opening>,
    stat: fn(&str) -> Result<Stat, SourceError>,
    list: fn(&str) -> Result<Vec<Entry>, SourceError>,
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
    let source = match ready::take(url) {
        Some(source) => source,
        None => open_now(url)?,
    };
    ready::note(url, &source);
    Ok(source)
}

fn open_now(url: &str) -> Result<Arc<dyn Source>, SourceError> {
    let source = open_here(url)?;
    Ok(Arc::new(Inherited::new(url, source, open_here)))
}

/// Opens a file for this process alone.
fn open_here(url: &str) -> Result<Arc<dyn Source>, SourceError> {
    let source = match transport(url) {
        Some(_) if metalink::is_document(url) => metalink::open(url)?,
        Some(transport) => (transport.open)(url)?.everywhere(url),
        None => open_bare(url)?,
    };
    assumed::note(url, &*source);
    Ok(opened(source))
}

/// A file that was opened just now, and is going to be described.
fn opened(source: Arc<dyn Source>) -> Arc<dyn Source> {
    let is_far = source.costs().round_trip >= limits::DESCRIBED_DISTANCE;
    let is_remembered = source
        .identity()
        .is_some_and(|it| assumed::is_remembered(&it));
    match is_far && !is_off(Part::Startup) {
        true => treemill_source::cache::described(source, is_remembered),
        false if is_remembered => Arc::new(Edges::later(source)),
        false => Arc::new(Edges::of(source)),
    }
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
    let refused = || SourceError::new(replicas::shown(url), "no server may name such a place");
    let open = transport(url).and_then(|transport| transport.open_found);
    open.ok_or_else(refused)?(url, home)
}

/// The state that [`stat`] gives, of a file that will be opened soon: it is opened now, which tells its state too,
/// and what it says of itself is on its way when it is wanted. A file that is open, or
/// that another thread opens, is only asked for its state.
///
/// # Errors
/// As [`open`].
pub fn look(url: &str) -> Result<Stat, SourceError> {
    if !ready::begin(url) {
        return stat(url);
    }
    let source = open_now(url);
    ready::keep(url, source.as_ref().ok().cloned());
    Ok(state_of(&*source?))
}

/// Closes those of these files that [`look`] has opened and the caller has not. Does not wait for servers.
pub fn release(urls: &[String]) {
    ready::release(urls);
}

/// The state of an open file.
fn state_of(source: &dyn Source) -> Stat {
    Stat {
        size: source.size(),
        is_folder: false,
        identity: source.identity(),
    }
}

/// Asks for the state of a file or folder.
///
/// # Errors
/// As [`open`].
pub fn stat(url: &str) -> Result<Stat, SourceError> {
    if transport(url).is_some() && metalink::is_document(url) {
        return Ok(state_of(&*metalink::open(url)?));
    }
    let stat = protocol(url)?.stat(url)?;
    ready::forget_other(url, &stat);
    Ok(stat)
}

/// This process ends: servers that keep what it had open are told. Bounded to a fraction of a second; for nothing it costs nothing.
pub fn leave() {
    treemill_nfs::leave();
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
    let scheme = url.split("://").next().unwrap_or_default();
    let mut schemes = xrootd::TRANSPORT.schemes.iter();
    match schemes.any(|known| known.eq_ignore_ascii_case(scheme)) {
        true => xrootd::hosts(url),
        false => Ok(Vec::new()),
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
        let what = format!("{size} bytes are too many for a list of files");
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
