//! What callers ask of servers by address: open, status, listings, places, configuration. Knows no sockets: it keeps
//! one session for each server and user, and follows redirects by the route's decisions.

use crate::error::{may_be_elsewhere, trouble, without_tls};
use crate::file::File;
use crate::held::Held;
use crate::options::Options;
use crate::peers::{Key, Peers};
use crate::refusal::{self, broken};
use crate::route::Route;
use crate::session::{Identity, Session};
use crate::stream::Outcome;
use crate::ticket::Ticket;
use crate::url::Url;
use crate::wire::bodies::{Entry, Location, Opened, Status, values};
use crate::wire::{Request, WireError, codes};
use crate::{limits, tls};
use bytes::BytesMut;
use rustls::ClientConfig;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};
use std::time::{Duration, Instant};
use tokio::time::sleep;
use treemill_transfer::{Health, Kind, Trouble, wait};

/// The session of one server, once it is made. One task makes it, the others wait.
#[derive(Default)]
struct Made {
    made: Option<Arc<Session>>,
    /// The session of another client, as long as the server takes no further connection.
    borrowed: Option<Weak<Session>>,
    /// Whether the server wants nothing before the login is done.
    wants_login_first: bool,
    /// Whether it could not be made when that was tried last. Each trial at a server that is silent takes seconds: a task
    /// that waited meanwhile does not try, too.
    health: Health,
}

impl Made {
    /// The session that there is. One that is not needed is not another client's: it would make nothing faster.
    fn usable(&self, is_needed: bool) -> Option<Result<Arc<Session>, Trouble>> {
        let own = self.made.as_ref().filter(|session| !session.is_broken());
        if let Some(session) = own {
            return Some(Ok(Arc::clone(session)));
        }
        let others = self.borrowed.as_ref().and_then(Weak::upgrade);
        let others = others.filter(|session| !session.is_broken())?;
        let refused = || trouble(Kind::Lost, "the server takes no further connections");
        Some(is_needed.then_some(others).ok_or_else(refused))
    }
}

type Place = Arc<tokio::sync::Mutex<Made>>;

/// What became of a request while its session was made.
enum Asked {
    /// It left with the login.
    Early(Ticket),
    /// It is yet to be sent.
    NotYet { is_new: bool },
}

/// A client: its sessions, shared by all that it opens. Threads may share it.
pub struct Client {
    options: Options,
    begun: Instant,
    tls: OnceLock<Result<Arc<ClientConfig>, Trouble>>,
    sessions: Mutex<HashMap<Key, Place>>,
    pub(crate) held: Arc<Held>,
    peers: Arc<Peers>,
}

impl Client {
    /// A client without sessions; they are made when they are needed.
    #[must_use]
    pub fn new(options: Options) -> Self {
        Client {
            options,
            begun: Instant::now(),
            tls: OnceLock::new(),
            sessions: Mutex::default(),
            held: Arc::default(),
            peers: Arc::default(),
        }
    }

    /// The client, which knows the open files of others, and they its own. A server that takes no further connection is
    /// asked over those of the others.
    #[must_use]
    pub fn sharing(self, held: &Arc<Held>, peers: &Arc<Peers>) -> Self {
        let (held, peers) = (Arc::clone(held), Arc::clone(peers));
        Client {
            held,
            peers,
            ..self
        }
    }

    /// Opens a file to read it.
    ///
    /// # Errors
    /// Any kind; `NotFound` names the server that does not have it.
    pub fn open(&self, url: &Url) -> Result<File, Trouble> {
        wait(self.open_by(url, Route::new(url)))
    }

    /// Opens like [`Client::open`], by a way that leaves some servers out. Asks for the file's status if the server
    /// does not send it along.
    pub(crate) async fn open_by(&self, url: &Url, route: Route) -> Result<File, Trouble> {
        let opening = self.follow(route, url, |path| Request::Open { path });
        let (session, body) = opening.await?;
        let mut opened = Opened::decode(&body).map_err(named(url, &session))?;
        if opened.status.is_none() {
            let path = url.path.clone();
            let body = session.ask(Request::Stat { path }).await;
            let body = body.map_err(|error| error.of(&url.path))?;
            opened.status = Some(Status::decode(&body).map_err(named(url, &session))?);
        }
        Ok(File::new(session, opened, &url.path))
    }

    /// Whether there is a session with an address's server, or one that is being made, or none could be made.
    #[must_use]
    pub fn knows(&self, url: &Url) -> bool {
        let user = url.user.as_deref().unwrap_or(&self.options.user);
        let key = Client::key(&Route::new(url), user);
        let sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(place) = sessions.get(&key) else {
            return false;
        };
        // A task that makes the session has the place.
        place.try_lock().map_or(true, |place| {
            let is_made = |session: &Arc<Session>| !session.is_broken();
            place.made.as_ref().is_some_and(is_made) || place.health.is_ill()
        })
    }

    /// The round trip to an address's server, if there is a session with it now.
    #[must_use]
    pub fn round_trip(&self, url: &Url) -> Option<Duration> {
        Some(self.made(url)?.costs().round_trip)
    }

    /// The session with an address's server, if there is one now.
    pub(crate) fn made(&self, url: &Url) -> Option<Arc<Session>> {
        let user = url.user.as_deref().unwrap_or(&self.options.user);
        let key = Client::key(&Route::new(url), user);
        let sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        let place = Arc::clone(sessions.get(&key)?);
        drop(sessions);
        let place = place.try_lock().ok()?;
        let usable = |session: &&Arc<Session>| !session.is_broken();
        place.made.as_ref().filter(usable).map(Arc::clone)
    }

    fn key(route: &Route, user: &str) -> Key {
        (
            route.server().clone(),
            user.to_owned(),
            route.is_encrypted(),
        )
    }

    /// The status of a file or folder.
    ///
    /// # Errors
    /// As [`Client::open`].
    pub fn stat(&self, url: &Url) -> Result<Status, Trouble> {
        wait(self.status(url))
    }

    /// Asks like [`Client::stat`], as a task of the runtime.
    ///
    /// # Errors
    /// As [`Client::open`].
    pub async fn status(&self, url: &Url) -> Result<Status, Trouble> {
        let asking = self.follow(Route::new(url), url, |path| Request::Stat { path });
        let (session, body) = asking.await?;
        let status = Status::decode(&body).map_err(named(url, &session))?;
        if !session.is_proxy() {
            let closing = self.held.close_others(url, &status, session.server());
            closing.await;
        }
        Ok(status)
    }

    /// What a folder holds on the server that the address leads to.
    pub(crate) fn list_one(&self, url: &Url) -> Result<Vec<Entry>, Trouble> {
        let (session, body) = self.ask(url, |path| Request::List { path })?;
        Entry::decode_all(&body).map_err(named(url, &session))
    }

    /// Whether the address's server knows servers that have files, and has none itself.
    pub(crate) fn is_manager(&self, url: &Url) -> Result<bool, Trouble> {
        let user = url.user.as_deref().unwrap_or(&self.options.user);
        let route = Route::new(url);
        let ping = || Request::Ping;
        let made = wait(self.session(&route, user, &ping));
        let (session, _) = made.map_err(|error| error.at(route.server()).of(&url.path))?;
        Ok(session.is_manager())
    }

    /// The servers that may have something in a folder.
    pub(crate) fn locate_all(&self, url: &Url) -> Result<Vec<Location>, Trouble> {
        let all = |path| Request::Locate {
            path: format!("*{path}"),
            at_once: false,
        };
        let (session, body) = self.ask(url, all)?;
        Location::decode_all(&body).map_err(named(url, &session))
    }

    /// The servers that have a file. A manager waits a second for them if it has not been asked for the file before;
    /// `at_once`: it names those that it knows as soon as it knows one.
    ///
    /// # Errors
    /// As [`Client::open`].
    pub fn locate(&self, url: &Url, at_once: bool) -> Result<Vec<Location>, Trouble> {
        let (session, body) = self.ask(url, |path| Request::Locate { path, at_once })?;
        Location::decode_all(&body).map_err(named(url, &session))
    }

    /// Values of the server's configuration by their names; `None` for those that it does not know.
    ///
    /// # Errors
    /// As [`Client::open`].
    pub fn config(&self, url: &Url, names: &[&str]) -> Result<Vec<Option<String>>, Trouble> {
        let (_, body) = self.ask(url, |_| Request::Config {
            names: names.join(" "),
        })?;
        Ok(values(&body, names))
    }

    /// Asks the address's server, and those that it redirects to, and waits.
    fn ask(
        &self,
        url: &Url,
        request: impl Fn(String) -> Request + Send + Sync,
    ) -> Result<(Arc<Session>, BytesMut), Trouble> {
        wait(self.follow(Route::new(url), url, request))
    }

    async fn follow(
        &self,
        mut route: Route,
        url: &Url,
        request: impl Fn(String) -> Request + Send + Sync,
    ) -> Result<(Arc<Session>, BytesMut), Trouble> {
        let user = url.user.as_deref().unwrap_or(&self.options.user);
        let mut reason: Option<Trouble> = None;
        let mut lost = Duration::ZERO;
        let since = Instant::now();
        loop {
            let begun = Instant::now();
            let answer = self.once(&route, user, || request(route.path())).await;
            let error = match answer {
                Ok((
                    _,
                    Outcome::Redirect {
                        host,
                        port,
                        opaque,
                        token,
                    },
                )) => {
                    route
                        .redirected(&host, port, &opaque, &token)
                        .map_err(|e| e.of(&url.path))?;
                    continue;
                }
                Ok((session, outcome)) => match refusal::data(outcome) {
                    Ok(data) => return Ok((session, data)),
                    Err(error) => error.at(route.server()),
                },
                Err(error) => error.at(route.server()),
            };
            lost = lost.saturating_add(begun.elapsed());
            let may_go_on = may_be_elsewhere(error.kind) && lost < limits::LOST_OPENING;
            if may_go_on && route.failed(error.kind) {
                if error.kind != Kind::Missing {
                    reason.get_or_insert(error);
                }
                continue;
            }
            // Other processes may end connections that a firewall counts; a server that is not there refuses otherwise.
            let is_needed = self.options.beyond.max(route.distance()).is_zero();
            if is_needed && error.kind == Kind::Reset && since.elapsed() < limits::CROWDED {
                sleep(limits::CROWDED_PAUSE).await;
                continue;
            }
            // A manager without another server says that there is no such file, though there is one.
            let why = reason.filter(|_| error.kind == Kind::Missing);
            return Err(why.unwrap_or(error).of(&url.path));
        }
    }

    /// Asks once; again if the session was an older one, which may have broken while it was not used, and if the
    /// request came too early for the server.
    async fn once(
        &self,
        route: &Route,
        user: &str,
        request: impl Fn() -> Request + Send + Sync,
    ) -> Result<(Arc<Session>, Outcome), Trouble> {
        loop {
            let (session, asked) = self.session(route, user, &request).await?;
            let (ticket, is_early, is_new) = match asked {
                Asked::Early(ticket) => (ticket, true, true),
                Asked::NotYet { is_new } => (
                    session.submit(request(), limits::MOST_CONTROL),
                    false,
                    is_new,
                ),
            };
            match ticket.answer().await {
                Err(error) if !is_new && error.kind.is_of_connection() => {}
                Ok(Outcome::Refused { code, .. })
                    if is_early && codes::TOO_EARLY.contains(&code) => {}
                answer => return Ok((session, answer?)),
            }
        }
    }

    /// A session with the route's server. A new one may take the request along.
    async fn session(
        &self,
        route: &Route,
        user: &str,
        request: &(impl Fn() -> Request + Sync),
    ) -> Result<(Arc<Session>, Asked), Trouble> {
        let key = Client::key(route, user);
        let place = {
            let mut sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(sessions.entry(key.clone()).or_default())
        };
        let began = self.begun.elapsed();
        let mut place = place.lock().await;
        let is_needed = self.options.beyond.max(route.distance()).is_zero();
        let older = |session| (session, Asked::NotYet { is_new: false });
        if let Some(usable) = place.usable(is_needed) {
            return usable.map(older);
        }
        if let Some(error) = place.health.lost_since(began) {
            return Err(error);
        }
        let making = self.peers.begin(&key);
        let error = match self.make(&mut place, route, user, request).await {
            Ok(made) => {
                making.made(&made.0);
                place.health.heard(self.begun.elapsed());
                place.borrowed = None;
                return Ok(made);
            }
            Err(error) => error,
        };
        drop(making);
        if error.kind != Kind::Silent && !error.kind.is_of_connection() {
            return Err(error);
        }
        place.health.failed(error.clone(), self.begun.elapsed());
        let limit = self.options.deadlines.silence;
        let other = self.peers.other(&key, limit).await;
        let other = other.ok_or_else(|| error.clone())?;
        place.borrowed = Some(Arc::downgrade(&other));
        match is_needed {
            true => Ok(older(other)),
            false => Err(error),
        }
    }

    /// Makes a session, which may take the request along.
    async fn make(
        &self,
        place: &mut Made,
        route: &Route,
        user: &str,
        request: &(impl Fn() -> Request + Sync),
    ) -> Result<(Arc<Session>, Asked), Trouble> {
        let identity = Identity {
            user: user.to_owned(),
            token: route.token().to_owned(),
        };
        let options = Options {
            beyond: self.options.beyond.max(route.distance()),
            ..self.options.clone()
        };
        let open = |tls, first| Session::open(route.server(), &identity, tls, first, &options);
        // What follows a path may be a secret, which must not leave before the server could ask for TLS.
        let is_early =
            !place.wants_login_first && !route.is_encrypted() && !route.path().contains('?');
        if is_early {
            match open(None, Some(request())).await {
                Ok(Some((session, Some(ticket)))) => {
                    let session = Arc::clone(place.made.insert(Arc::new(session)));
                    return Ok((session, Asked::Early(ticket)));
                }
                Ok(_) => {}
                Err(error) if error.kind == Kind::TlsRequired => {}
                Err(error) if error.kind.is_of_connection() => {}
                Err(error) => return Err(error),
            }
            place.wants_login_first = true;
        }
        let made = match route.is_encrypted() {
            true => open(Some(self.tls()?), None).await?,
            // A server that wants TLS says so in the clear; it takes another connection then.
            false => match open(None, None).await {
                Err(wanted) if wanted.kind == Kind::TlsRequired => {
                    let by_tls = open(Some(self.tls()?), None).await;
                    by_tls.map_err(|error| match error.kind {
                        Kind::Unsupported => without_tls(wanted),
                        _ => error,
                    })?
                }
                made => made?,
            },
        };
        let none = || {
            trouble(
                Kind::Malformed,
                "a session without a first request has come too early",
            )
        };
        let (session, _) = made.ok_or_else(none)?;
        let session = Arc::clone(place.made.insert(Arc::new(session)));
        Ok((session, Asked::NotYet { is_new: true }))
    }

    /// What TLS needs.
    fn tls(&self) -> Result<&Arc<ClientConfig>, Trouble> {
        let trusted = || self.options.trusted.clone();
        let configured = self.tls.get_or_init(|| tls::configure(trusted()));
        configured.as_ref().map_err(Clone::clone)
    }
}

/// Names server and file in an error of the protocol.
fn named(url: &Url, session: &Session) -> impl FnOnce(WireError) -> Trouble {
    let (server, path) = (session.server().clone(), url.path.clone());
    move |error| broken(error).at(server).of(&path)
}
