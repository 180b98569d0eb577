//! The process's connections, and how failures of the network are told. Knows no file.

use crate::distance::{Distance, Measuring};
use crate::limits::{
    CLIENTS, CONNECT, CONNECTION_WINDOW, IDLE, MOST_ENGINES, MOST_IDLE, PER_CLIENT, STREAM_WINDOW,
};
use crate::proxies::Proxies;
use crate::tls;
use reqwest::{Client, Url, Version, redirect};
use std::error::Error;
use std::io::ErrorKind;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use treemill_transfer::{IN_FLIGHT, Kind, PerProcess, Trouble};

static ENGINES: PerProcess<Mutex<Vec<Arc<Engine>>>> = PerProcess::new();

/// Clients, each with connections of its own. With HTTP/1 the first one has them all; with HTTP/2, which puts all
/// requests of a client into one connection, busy servers get several.
struct Engine {
    /// What the environment said when they were made, which is what they obey.
    proxies: Proxies,
    clients: Vec<Client>,
}

impl Engine {
    fn new(proxies: Proxies) -> Result<Self, Trouble> {
        let tls = tls::client().map_err(|e| {
            Trouble::new(Kind::Permanent, format!("TLS cannot be set up: {e}")).with_cause(e)
        })?;
        let clients: Result<_, _> = (0..CLIENTS)
            .map(|_| client(tls.clone(), &proxies))
            .collect();
        let clients = clients.map_err(|e| trouble(&e, "the network"))?;
        Ok(Engine { proxies, clients })
    }
}

/// This process's own that goes through these proxies. If there is none any more, as after a fork, it is made of what the environment says now.
fn engine(proxies: &Proxies) -> Result<Arc<Engine>, Trouble> {
    let engines = ENGINES.get(|| Ok::<_, Trouble>(Mutex::default()))?;
    let mut engines = engines.lock().unwrap_or_else(PoisonError::into_inner);
    let of = |proxies: &Proxies, engines: &[Arc<Engine>]| {
        let found = engines.iter().find(|engine| engine.proxies == *proxies);
        found.map(Arc::clone)
    };
    if let Some(found) = of(proxies, &engines) {
        return Ok(found);
    }
    let now = Proxies::named();
    if let Some(found) = of(&now, &engines) {
        return Ok(found);
    }
    let made = Arc::new(Engine::new(now)?);
    if engines.len() >= MOST_ENGINES {
        engines.remove(0);
    }
    engines.push(Arc::clone(&made));
    Ok(made)
}

/// The connections to one server, as far as a file must know of them: how many requests are in flight.
#[derive(Debug)]
pub struct Line {
    /// Those that the environment named when the file was opened.
    proxies: Proxies,
    is_multiplexed: AtomicBool,
    in_flight: Arc<AtomicUsize>,
    /// The distance of the server that was asked last.
    distance: Mutex<Option<Arc<Distance>>>,
}

/// A request in flight, until it is dropped.
#[derive(Debug)]
pub struct Flight(Arc<AtomicUsize>);

impl Drop for Flight {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Default for Line {
    /// One through the proxies that the environment names now.
    fn default() -> Self {
        Line {
            proxies: Proxies::named(),
            is_multiplexed: AtomicBool::default(),
            in_flight: Arc::default(),
            distance: Mutex::default(),
        }
    }
}

impl Line {
    /// The client for one more request.
    ///
    /// # Errors
    /// If this process can have no connections.
    pub fn client(&self) -> Result<(Client, Flight), Trouble> {
        let flight = Flight(Arc::clone(&self.in_flight));
        let others = self.in_flight.fetch_add(1, Ordering::Relaxed);
        let number = client_number(others, self.is_multiplexed.load(Ordering::Relaxed));
        let engine = engine(&self.proxies)?;
        let client = engine.clients.get(number);
        let client =
            client.ok_or_else(|| Trouble::new(Kind::Permanent, "treemill has no HTTP client"))?;
        Ok((client.clone(), flight))
    }

    /// The connections that requests share.
    #[must_use]
    pub fn connections(&self) -> usize {
        match self.is_multiplexed.load(Ordering::Relaxed) {
            true => CLIENTS,
            false => IN_FLIGHT,
        }
    }

    /// Sends a request to the server of this address.
    pub async fn sent<T>(&self, to: &Url, send: impl Future<Output = T>) -> T {
        let distance = Distance::of(to);
        *self.asked_last() = Some(Arc::clone(&distance));
        distance.measured(send).await
    }

    /// A failure of the network, when a request was sent on this line.
    #[must_use]
    pub fn trouble(&self, error: &reqwest::Error, server: &str) -> Trouble {
        told(
            error,
            server,
            error.url().and_then(|to| self.proxies.of(to)),
        )
    }

    /// The network's round trip to the server that was asked last, if it is known.
    #[must_use]
    pub fn distance(&self) -> Option<Duration> {
        self.asked_last().as_ref()?.round_trip()
    }

    fn asked_last(&self) -> std::sync::MutexGuard<'_, Option<Arc<Distance>>> {
        self.distance.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// An answer has come by this version of the protocol.
    pub fn answered(&self, version: Version) {
        let is_multiplexed = version == Version::HTTP_2;
        self.is_multiplexed.store(is_multiplexed, Ordering::Relaxed);
    }
}

/// Which client takes a request beside `others`.
fn client_number(others: usize, is_multiplexed: bool) -> usize {
    let busy = others.checked_div(PER_CLIENT).unwrap_or(0);
    if is_multiplexed {
        busy.min(CLIENTS.saturating_sub(1))
    } else {
        0
    }
}

fn client(tls: rustls::ClientConfig, proxies: &Proxies) -> reqwest::Result<Client> {
    let client = Client::builder()
        .tls_backend_preconfigured(tls)
        .user_agent(concat!("treemill/", env!("CARGO_PKG_VERSION")))
        .redirect(redirect::Policy::none())
        .referer(false)
        // xrootd 5 knows `Depth`, and not `depth`.
        .http1_title_case_headers()
        .retry(reqwest::retry::never())
        .connect_timeout(CONNECT)
        .connector_layer(Measuring)
        .pool_idle_timeout(IDLE)
        .pool_max_idle_per_host(MOST_IDLE)
        .http2_initial_stream_window_size(STREAM_WINDOW)
        .http2_initial_connection_window_size(CONNECTION_WINDOW);
    match proxies.are_off() {
        true => client.no_proxy(),
        false => client,
    }
    .build()
}

/// A failure of the network in words, without the URL, which may have credentials.
#[must_use]
pub fn trouble(error: &reqwest::Error, server: &str) -> Trouble {
    told(error, server, None)
}

/// The same, with the proxy that the request went through, if there was one, and the variable that names it.
fn told(error: &reqwest::Error, server: &str, proxy: Option<(String, &str)>) -> Trouble {
    if let Some(refusal) = tls_refusal(error) {
        let words = treemill_transfer::credentials::in_words(refusal);
        let what = format!("no connection with TLS to the server {server} can be made: {words}");
        let refused = Trouble::new(Kind::Permanent, what);
        return match refusal {
            rustls::Error::AlertReceived(_) => explained(refused), // the server's word
            _ => refused,
        };
    }
    let kind = match (error.is_builder(), error.is_timeout()) {
        (true, _) => Kind::Permanent,
        (_, true) => Kind::Silent,
        (_, false) if error.is_connect() && takes_no_connections(error) => Kind::Unreachable,
        (_, false) if error.is_request() => Kind::Reset,
        (_, false) => Kind::Transient,
    };
    let cause = root(error);
    let doing = match (error.is_connect(), proxy) {
        (false, _) => "has failed".to_owned(),
        (true, None) => "cannot be reached".to_owned(),
        (true, Some((proxy, name))) => {
            format!("cannot be reached through the proxy {proxy}, which {name} names")
        }
    };
    let remedy = match of_network(error) {
        Some(failed) if failed.kind() == ErrorKind::ConnectionRefused => treemill_transfer::REFUSED,
        Some(failed) if is_no_name(failed) => ". Check the address",
        _ => "",
    };
    let what = format!("the server {server} {doing}: {cause}{remedy}");
    Trouble::new(kind, what)
}

/// Whether nothing takes connections there, or nothing has that name; else a connection that was taken has broken, or the name servers
/// do not know at the moment.
fn takes_no_connections(error: &reqwest::Error) -> bool {
    of_network(error).is_some_and(|failed| {
        is_no_name(failed)
            || matches!(
                failed.kind(),
                ErrorKind::ConnectionRefused
                    | ErrorKind::HostUnreachable
                    | ErrorKind::NetworkUnreachable
            )
    })
}

/// What the operating system says of a failure.
fn of_network(error: &reqwest::Error) -> Option<&std::io::Error> {
    let mut at: Option<&(dyn Error + 'static)> = error.source();
    while let Some(cause) = at {
        if let Some(failed) = cause.downcast_ref::<std::io::Error>() {
            return Some(failed);
        }
        at = cause.source();
    }
    None
}

/// Whether the name servers are certain that there is no such name, or that it has no address. The standard library keeps only the
/// words of `gai_strerror`: those of glibc, then those of musl.
fn is_no_name(error: &std::io::Error) -> bool {
    const WORDS: [&str; 4] = [
        "Name or service not known",
        "No address associated with hostname",
        "Name does not resolve",
        "Name has no usable address",
    ];
    error.raw_os_error().is_none() && {
        let said = error.to_string();
        WORDS.iter().any(|words| said.ends_with(words))
    }
}

/// A server's refusal with what is wrong with the user's certificate, if anything is.
pub(crate) fn explained(refusal: Trouble) -> Trouble {
    match tls::complaint() {
        None => refusal,
        Some(complaint) => Trouble {
            what: format!("{}; {complaint}", refusal.what),
            ..refusal
        },
    }
}

/// The innermost cause, which says most.
fn root(error: &reqwest::Error) -> String {
    let mut at: Option<&(dyn Error + 'static)> = error.source();
    let mut text = if error.is_timeout() {
        "it did not answer in time"
    } else {
        "no connection could be made"
    }
    .to_owned();
    while let Some(cause) = at {
        text = cause.to_string();
        at = cause.source();
    }
    text
}

/// What TLS has against the server, or the server against this client.
fn tls_refusal(error: &reqwest::Error) -> Option<&rustls::Error> {
    let mut at: Option<&(dyn Error + 'static)> = Some(error);
    while let Some(cause) = at {
        if let Some(refusal) = cause.downcast_ref::<rustls::Error>() {
            return Some(refusal);
        }
        at = match cause
            .downcast_ref::<std::io::Error>()
            .and_then(|io| io.get_ref())
        {
            Some(inner) => Some(inner),
            None => cause.source(),
        };
    }
    None
}
