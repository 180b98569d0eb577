//! What callers ask for: a file's bytes, its state, a folder's names.

use crate::address::Address;
use crate::carrier::{Ask, File, Reply};
use crate::checksums::Known;
use crate::limits::MOST_LISTING;
use crate::links::Links;
use crate::listing::{Entry, index_page, multistatus};
use crate::ranges::Ranges;
use crate::version::Version;
use crate::versions::Versions;
use bytes::{Bytes, BytesMut};
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, SERVER};
use reqwest::{Method, StatusCode};
use std::sync::Mutex;
use std::time::{Instant, SystemTime};
use treemill_source::{Identity, Info, Messages, Source, SourceError, WantedChecksums, is_there};
use treemill_transfer::{HEAD, Kind, Opened, Remote, Trouble, WHOLE, insist, soon, wait_for};

/// A file on a server of HTTP.
#[derive(Debug, Clone)]
pub struct HttpSource(Remote<Ranges>);

/// A file as its server describes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stat {
    /// Bytes.
    pub size: u64,
    /// Which file it is, and in which state, if the server is certain of that.
    pub identity: Option<Identity>,
    /// When it was changed last, if the server says so.
    pub modified: Option<SystemTime>,
}

/// Opens a file: one request, which brings the first bytes along. Blocks until it is answered.
///
/// # Errors
/// Why the file cannot be read from that server, which the error names; no later than 30 s after the server's last byte.
pub fn open(url: &str) -> Result<HttpSource, SourceError> {
    let (source, _) = waited(Address::parse(url)?, |address| {
        opened_at(address, WantedChecksums::default())
    })?;
    Ok(source)
}

/// Opens like [`open`], as a task of the runtime, and gives what the answer says of the file's other places. `wanted`: which
/// checksums it has.
///
/// # Errors
/// As [`open`].
pub async fn opened(
    url: &str,
    wanted: WantedChecksums,
) -> Result<(HttpSource, Links), SourceError> {
    opened_at(Address::parse(url)?, wanted).await
}

/// Opens like [`open`] a file that the server of `home` has named and the user has not: a server other than that
/// of `home` gets no login and no token.
///
/// # Errors
/// As [`open`].
pub fn open_found(
    url: &str,
    home: &str,
    wanted: WantedChecksums,
) -> Result<HttpSource, SourceError> {
    let (source, _) = waited(Address::found(url, home)?, |address| {
        opened_at(address, wanted)
    })?;
    Ok(source)
}

async fn opened_at(
    address: Address,
    wanted: WantedChecksums,
) -> Result<(HttpSource, Links), SourceError> {
    let name = address.name.clone();
    let done = opening(File::new(address), wanted).await;
    let (carrier, opened, links) = done.map_err(|trouble| trouble.error(&name, None))?;
    Ok((HttpSource(Remote::new(carrier, opened)), links))
}

/// Size, identity and time of a file, which is not opened.
///
/// # Errors
/// As [`open`].
pub fn stat(url: &str) -> Result<Stat, SourceError> {
    waited(Address::parse(url)?, state_at)
}

/// Asks like [`stat`], as a task of the runtime.
///
/// # Errors
/// As [`open`].
pub async fn state(url: &str) -> Result<Stat, SourceError> {
    state_at(Address::parse(url)?).await
}

async fn state_at(address: Address) -> Result<Stat, SourceError> {
    let file = File::new(address);
    let asking = async {
        let (_, accepted) =
            insist(&file.server, || soon(file.range(&(0..1), None, u64::MAX))).await?;
        let size = accepted.size.ok_or_else(no_size)?;
        Ok(Stat {
            size,
            identity: identity(&file, &accepted.version, size),
            modified: accepted.version.modified(),
        })
    };
    let state: Result<Stat, Trouble> = asking.await;
    state.map_err(|trouble| trouble.error(&file.address.name, None))
}

/// Whether there is such a file.
///
/// # Errors
/// As [`open`], if the server is not certain of it.
pub fn exists(url: &str) -> Result<bool, SourceError> {
    is_there(stat(url))
}

/// The names in a folder, sorted. Servers of WebDAV are asked by `PROPFIND`; of others the index pages that nginx and
/// Apache write are read.
///
/// # Errors
/// As [`open`]; or if the server has no listing that is certain to be one.
pub fn list(url: &str) -> Result<Vec<Entry>, SourceError> {
    let mut address = Address::parse(url)?;
    if !address.url.path().ends_with('/') {
        let path = format!("{}/", address.url.path());
        address.url.set_path(&path);
    }
    waited(address, |address| async move {
        let name = address.name.clone();
        let is_dav = address.is_dav;
        let folder = File::new(address);
        let listed = match is_dav {
            true => insist(&folder.server, || by_propfind(&folder)).await,
            false => insist(&folder.server, || by_page(&folder)).await,
        };
        listed.map_err(|trouble| trouble.error(&name, None))
    })
}

fn waited<T, F: Future<Output = Result<T, SourceError>>>(
    address: Address,
    what: impl FnOnce(Address) -> F,
) -> Result<T, SourceError> {
    let name = address.name.clone();
    wait_for(&name, what(address))
}

async fn opening(file: File, wanted: WantedChecksums) -> Result<(Ranges, Opened, Links), Trouble> {
    let (mut opened, answer, links) = insist(&file.server, || first(&file, wanted)).await?;
    let size = opened.info.size;
    opened.info.identity = identity(&file, &answer.version, size);
    opened.info.may_move = answer.server != file.server;
    let versions = Mutex::new(Versions::new(size, &answer.server, answer.version));
    let ranges = Ranges {
        file,
        versions,
        checksums: answer.checksums,
    };
    Ok((ranges, opened, links))
}

/// The answer to the request that opened a file.
struct Answer {
    server: String,
    version: Version,
    checksums: Known,
}

/// The request that opens a file, and what has come by it.
async fn first(file: &File, wanted: WantedChecksums) -> Result<(Opened, Answer, Links), Trouble> {
    Messages::about(&file.address.name).sent();
    let sent = Instant::now();
    let (mut reply, accepted) = soon(file.range(&(0..HEAD), None, WHOLE)).await?;
    let latency = sent.elapsed();
    let (links, server) = (std::mem::take(&mut reply.links), reply.server.clone());
    let checksums = Known::new(reply.response.headers(), wanted);
    let head = match accepted.size {
        Some(size) if accepted.is_beyond => {
            drop(reply);
            let versions = Versions::new(size, &server, accepted.version.clone());
            all(file, size, &versions).await?
        }
        _ => body(&mut reply, WHOLE).await?,
    };
    let size = match accepted.size {
        None if accepted.is_whole => head.len() as u64,
        size => size.ok_or_else(no_size)?,
    };
    if accepted.is_whole && size != head.len() as u64 {
        let what = format!("the server sent {} of {size} bytes", head.len());
        return Err(Trouble::new(Kind::Transient, what));
    }
    let sound = if accepted.is_whole {
        size
    } else {
        size.min(HEAD)
    };
    let opened = Opened {
        info: Info::new(&file.address.name, size),
        head: head.slice(..head.len().min(usize::try_from(sound).unwrap_or(usize::MAX))),
        latency,
    };
    let answer = Answer {
        server,
        version: accepted.version,
        checksums,
    };
    Ok((opened, answer, links))
}

/// All bytes of a file that is shorter than the range that it was opened by.
async fn all(file: &File, size: u64, versions: &Versions) -> Result<Bytes, Trouble> {
    if size == 0 {
        return Ok(Bytes::new());
    }
    Messages::about(&file.address.name).sent();
    let (mut reply, _) = soon(file.range(&(0..size), Some(versions), WHOLE)).await?;
    body(&mut reply, WHOLE).await
}

fn no_size() -> Trouble {
    Trouble::new(
        Kind::Permanent,
        "the server does not say how long the file is",
    )
}

fn identity(file: &File, version: &Version, size: u64) -> Option<Identity> {
    let state = version.state()?;
    Some(Identity::of_remote(&file.address.place, size, &state))
}

/// The whole body, of `most` bytes at most.
async fn body(reply: &mut Reply, most: u64) -> Result<Bytes, Trouble> {
    let mut whole = BytesMut::new();
    while let Some(chunk) = soon(reply.next()).await? {
        whole.extend_from_slice(&chunk);
        if whole.len() as u64 > most {
            let what = format!(
                "the server {} sends more than {most} bytes, which is more than treemill takes in one answer",
                reply.server
            );
            return Err(Trouble::new(Kind::Permanent, what));
        }
    }
    Ok(whole.freeze())
}

const PROPFIND: &str = r#"<?xml version="1.0" encoding="utf-8"?>
<propfind xmlns="DAV:"><prop><resourcetype/></prop></propfind>"#;

async fn by_propfind(folder: &File) -> Result<Vec<Entry>, Trouble> {
    let headers = [
        (
            HeaderName::from_static("depth"),
            HeaderValue::from_static("1"),
        ),
        (CONTENT_TYPE, HeaderValue::from_static("application/xml")),
    ];
    let method = Method::from_bytes(b"PROPFIND").unwrap_or_default();
    let headers = headers.into_iter().collect();
    let mut reply = soon(folder.send(&Ask {
        method,
        headers,
        body: PROPFIND,
    }))
    .await?;
    if reply.response.status() != StatusCode::MULTI_STATUS {
        return Err(match reply.response.status().is_success() {
            true => unlisted(&reply),
            false => reply.refusal(),
        });
    }
    let page = text(&mut reply).await?;
    multistatus(&page, folder.address.url.path(), is_xrootd(&reply)).ok_or_else(|| unlisted(&reply))
}

async fn by_page(folder: &File) -> Result<Vec<Entry>, Trouble> {
    let headers = HeaderMap::new();
    let mut reply = soon(folder.send(&Ask {
        method: Method::GET,
        headers,
        body: "",
    }))
    .await?;
    if !reply.response.status().is_success() {
        return Err(reply.refusal());
    }
    let header = |name| {
        reply
            .response
            .headers()
            .get(name)
            .and_then(|h| h.to_str().ok())
    };
    if is_xrootd(&reply) {
        return by_propfind(folder).await;
    }
    if !header(CONTENT_TYPE).is_some_and(|kind| kind.starts_with("text/html")) {
        return Err(unlisted(&reply));
    }
    let page = text(&mut reply).await?;
    index_page(&page, folder.address.url.path()).ok_or_else(|| unlisted(&reply))
}

fn is_xrootd(reply: &Reply) -> bool {
    let server = reply.response.headers().get(SERVER);
    server.is_some_and(|server| server.as_bytes().starts_with(b"XrootD"))
}

async fn text(reply: &mut Reply) -> Result<String, Trouble> {
    let bytes = body(reply, MOST_LISTING as u64).await?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn unlisted(reply: &Reply) -> Trouble {
    let what = format!(
        "the server {} lists this folder in no form that treemill can read: name the files, or use dav:// or root://",
        reply.server
    );
    Trouble::new(Kind::Permanent, what)
}

impl Source for HttpSource {
    treemill_source::read_by!(self => self.0);
}
