//! The transport of XRootD: some clients for each process, which keep their connections.

use crate::connections::{Connections, Opening, Pool};
use crate::found::{Open, Place};
use crate::limits::{CONNECTIONS, LOOK_UP, MOST_CONNECTIONS};
use crate::{Entry, Later, Stat, Transport, checksums};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};
use treemill_source::{Observed, Source, SourceError};
use treemill_transfer::{FileHealth, Trouble, look_up};
use treemill_xrootd::{Client, Held, Options, Peers, Url, XrootdSource, settled, shown};

pub(crate) const TRANSPORT: Transport = Transport {
    schemes: &["root", "xroot", "roots", "xroots"],
    open,
    open_found: Some(open_found),
    stat,
    list,
    hosts: Some(hosts),
    leave: None,
};

/// A bit of a status: it is a folder ("kXR_stat Request", kXR_isDir).
const FOLDER: u32 = 2;

/// The clients of this process, each with connections of its own. A forked child finds its parent's, whose threads it has
/// not: it leaves those alone and makes its own.
static CLIENTS: Mutex<Option<(u32, [Arc<Client>; MOST_CONNECTIONS])>> = Mutex::new(None);

/// The client for a file's connection of this number. Files are shared out over the clients: over the first ones of a server
/// that is known to be near, whose connections are all as fast as one.
fn client(url: &str, number: usize) -> Arc<Client> {
    let mut place = CLIENTS.lock().unwrap_or_else(PoisonError::into_inner);
    let process = std::process::id();
    if place.as_ref().is_some_and(|(owner, _)| *owner != process) {
        std::mem::forget(place.take()); // its connections belong to the parent
    }
    let made = || {
        let (held, peers) = (Arc::<Held>::default(), Arc::<Peers>::default());
        std::array::from_fn(|_| Arc::new(Client::new(options()).sharing(&held, &peers)))
    };
    let (_, clients) = place.get_or_insert_with(|| (process, made()));
    let among = if is_near(clients, url) {
        CONNECTIONS
    } else {
        MOST_CONNECTIONS
    };
    let digest = xxhash_rust::xxh3::xxh3_64(url.as_bytes());
    let connection = digest.checked_rem(among as u64).unwrap_or(0);
    let connection = usize::try_from(connection).unwrap_or(0);
    let connection = connection.saturating_add(number) % MOST_CONNECTIONS;
    let [first, ..] = &*clients;
    Arc::clone(clients.get(connection).unwrap_or(first))
}

/// Whether the address's server is known to be near.
fn is_near(clients: &[Arc<Client>], url: &str) -> bool {
    let distance = |url| clients.iter().find_map(|client| client.round_trip(&url));
    let known = Url::parse(url).ok().and_then(distance);
    known.is_some_and(|round_trip| round_trip < treemill_transfer::FAR)
}

/// The options that users want: `TREEMILL_XROOTD_CHECKSUMS`, of the checksums of pages, is `far` (by default), `always` or
/// `never`.
fn options() -> Options {
    let usual = Options::default();
    let checks_from = match std::env::var("TREEMILL_XROOTD_CHECKSUMS").as_deref() {
        Ok("always") => Duration::ZERO,
        Ok("never") => Duration::MAX,
        _ => usual.checks_from,
    };
    Options {
        checks_from,
        ..usual
    }
}

fn open(url: &str) -> Later<Open> {
    let url = url.to_owned();
    Box::pin(async move { opened(&url).await })
}

async fn opened(url: &str) -> Result<Open, SourceError> {
    let asked = parsed(url)?;
    let (owned, health) = (url.to_owned(), Arc::<FileHealth>::default());
    let of_file = Arc::clone(&health);
    let opening: Opening = Arc::new(move |number, beyond| {
        let (owned, health) = (owned.clone(), Arc::clone(&of_file));
        Box::pin(async move {
            let client = client(&owned, number);
            let source = XrootdSource::opened_by(&client, &owned, beyond, health).await?;
            Ok(Arc::new(Observed::of(Arc::new(source))) as Arc<dyn Source>)
        })
    });
    let begun = begin(&asked, url, &opening);
    let client = client(url, 0);
    let first = XrootdSource::opened_by(&client, url, Duration::ZERO, health).await?;
    let first = Arc::new(first.wanting(checksums::wanted()));
    let source: Arc<dyn Source> = Arc::new(Observed::of(Arc::clone(&first) as _));
    let connections = match begun {
        Some(pool) => Connections::begun(source, pool, opening).await,
        None => Connections::new(source, opening),
    };
    let open = Open::only(Arc::new(connections));
    if !first.info().may_move {
        return Ok(open);
    }
    // A manager has led to this server, and may know others.
    Ok(open.with(move || places(&asked, &first.host())))
}

/// Opens a file on several connections at once if some of them are yet to be made: all have gone through their first round
/// trips by the time that something is asked for. Only the first one asks a server that turns out to be near.
fn begin(asked: &Url, url: &str, opening: &Opening) -> Option<Arc<Pool>> {
    let is_new = |number| !client(url, number).knows(asked);
    if !(1..MOST_CONNECTIONS).any(is_new) {
        return None;
    }
    let pool = Arc::new(Pool::default());
    pool.open(1..MOST_CONNECTIONS, opening);
    Some(pool)
}

/// A server that another one has named, other than by a redirect, gets no token.
fn open_found(url: &str, _home: &str) -> Result<Arc<dyn Source>, SourceError> {
    let client = Arc::new(Client::new(options().without_tokens()));
    let source = XrootdSource::open(&client, url)?.wanting(checksums::wanted());
    Ok(Arc::new(Observed::of(Arc::new(source))))
}

/// The file's addresses at the servers that its manager knows to have it, but for the one that serves it now. They get
/// what servers get that the manager redirects to.
fn places(url: &Url, serving: &str) -> Vec<Place> {
    let known = client(&url.address(), 0)
        .replicas(url, false)
        .unwrap_or_default();
    let others = known
        .into_iter()
        .filter(|other| !is_same(&other.server.to_string(), serving));
    others
        .map(|other| Place::trusted(other.address()))
        .collect()
}

/// Whether two servers are one: by name, or by the addresses of their names.
fn is_same(one: &str, other: &str) -> bool {
    let addresses = |server: &str| -> Vec<SocketAddr> {
        let parsed = server.rsplit_once(':');
        let found = parsed.and_then(|(host, port)| {
            let host = host.trim_start_matches('[').trim_end_matches(']');
            look_up(host, port.parse().ok()?, LOOK_UP).ok()
        });
        found.unwrap_or_default()
    };
    one == other || {
        let known = addresses(other);
        addresses(one).iter().any(|address| known.contains(address))
    }
}

fn stat(url: &str) -> Later<Stat> {
    let url = url.to_owned();
    Box::pin(async move {
        let parsed = parsed(&url)?;
        let name = parsed.to_string();
        let asked = client(&url, 0);
        let status = asked.status(&parsed).await;
        let status = status.map_err(|e| failed(&name, &e))?;
        Ok(Stat {
            size: status.size,
            is_folder: status.flags & FOLDER != 0,
            identity: settled(&name, status, SystemTime::now()),
        })
    })
}

/// The hosts of a manager's servers that have the file, of those that it knows at once: workers read other files meanwhile.
fn hosts(url: &str) -> Result<Vec<String>, SourceError> {
    let parsed = parsed(url)?;
    let name = parsed.to_string();
    let client = client(url, 0);
    let ask = || {
        let places = client.replicas(&parsed, true);
        places.map_err(|error| failed(&name, &error))
    };
    // The first question has the manager ask its servers, of which the first that answers is named. The second one is
    // answered from what it knows by then, and as its administrators want servers to be named.
    let places = if ask()?.is_empty() {
        Vec::new()
    } else {
        ask()?
    };
    Ok(places.into_iter().map(|place| place.server.host).collect())
}

fn list(url: &str) -> Result<Vec<Entry>, SourceError> {
    let parsed = parsed(url)?;
    let name = parsed.to_string();
    let entries = client(url, 0)
        .dirlist(&parsed)
        .map_err(|e| failed(&name, &e))?;
    let one = |entry: treemill_xrootd::wire::bodies::Entry| {
        let is_folder = |status: treemill_xrootd::wire::bodies::Status| status.flags & FOLDER != 0;
        Entry::literal(entry.name, entry.status.is_some_and(is_folder))
    };
    Ok(entries.into_iter().map(one).collect())
}

fn parsed(url: &str) -> Result<Url, SourceError> {
    Url::parse(url).map_err(|error| failed(&shown(url), &error))
}

fn failed(name: &str, error: &Trouble) -> SourceError {
    error.error(name, None)
}
