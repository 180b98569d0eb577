//! What callers ask of servers by address: open, status, listings, places, configuration. Knows no sockets: it keeps
//! one session for each server and user, and follows redirects by the route's decisions.

use crate::error::{Error, ErrorKind};
use crate::file::File;
use crate::options::Options;
use crate::refusal::{self, broken};
use crate::route::Route;
use crate::session::{Identity, Session};
use crate::stream::Outcome;
use crate::url::{Server, Url};
use crate::wire::bodies::{Entry, Location, Opened, Status, values};
use crate::wire::{Request, WireError};
use crate::{limits, tls};
use rustls::ClientConfig;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// The session of one server, once it is made. One thread makes it, the others wait.
type Place = Arc<Mutex<Option<Arc<Session>>>>;

/// Whose session it is: the server, the user, and whether it must be encrypted.
type Key = (Server, String, bool);

/// A client: its sessions, shared by all that it opens. Threads may share it.
pub struct Client {
    options: Options,
    tls: OnceLock<Result<Arc<ClientConfig>, Error>>,
    sessions: Mutex<HashMap<Key, Place>>,
}

impl Client {
    /// A client without sessions; they are made when they are needed.
    #[must_use]
    pub fn new(options: Options) -> Self {
        Client {
            options,
            tls: OnceLock::new(),
            sessions: Mutex::default(),
        }
    }

    /// Opens a file to read it.
    ///
    /// # Errors
    /// Any kind; `NotFound` names the server that does not have it.
    pub fn open(&self, url: &Url) -> Result<File, Error> {
        self.open_elsewhere(url, &[])
    }

    /// As [`Client::open`], at other servers than these hosts if a manager knows others. Asks for the file's status if
    /// the server does not send it along.
    pub(crate) fn open_elsewhere(&self, url: &Url, avoid: &[String]) -> Result<File, Error> {
        let route = Route::new(url).avoiding(avoid);
        let (session, body) = self.follow(route, url, |path| Request::Open { path })?;
        let mut opened = Opened::decode(&body).map_err(named(url, &session))?;
        if opened.status.is_none() {
            let path = url.path.clone();
            let body = session.ask(Request::Stat { path });
            let body = body.map_err(|error| error.of(&url.path))?;
            opened.status = Some(Status::decode(&body).map_err(named(url, &session))?);
        }
        Ok(File::new(session, opened, &url.path))
    }

    /// The status of a file or folder.
    ///
    /// # Errors
    /// As [`Client::open`].
    pub fn stat(&self, url: &Url) -> Result<Status, Error> {
        let (session, body) = self.ask(url, |path| Request::Stat { path })?;
        Status::decode(&body).map_err(named(url, &session))
    }

    /// What a folder holds.
    ///
    /// # Errors
    /// As [`Client::open`].
    pub fn dirlist(&self, url: &Url) -> Result<Vec<Entry>, Error> {
        let (session, body) = self.ask(url, |path| Request::List { path })?;
        Entry::decode_all(&body).map_err(named(url, &session))
    }

    /// The servers that have a file.
    ///
    /// # Errors
    /// As [`Client::open`].
    pub fn locate(&self, url: &Url) -> Result<Vec<Location>, Error> {
        let (session, body) = self.ask(url, |path| Request::Locate { path })?;
        Location::decode_all(&body).map_err(named(url, &session))
    }

    /// Values of the server's configuration by their names; `None` for those that it does not know.
    ///
    /// # Errors
    /// As [`Client::open`].
    pub fn config(&self, url: &Url, names: &[&str]) -> Result<Vec<Option<String>>, Error> {
        let (_, body) = self.ask(url, |_| Request::Config {
            names: names.join(" "),
        })?;
        Ok(values(&body, names))
    }

    /// Asks the address's server, and those that it redirects to.
    fn ask(
        &self,
        url: &Url,
        request: impl Fn(String) -> Request,
    ) -> Result<(Arc<Session>, Vec<u8>), Error> {
        self.follow(Route::new(url), url, request)
    }

    fn follow(
        &self,
        mut route: Route,
        url: &Url,
        request: impl Fn(String) -> Request,
    ) -> Result<(Arc<Session>, Vec<u8>), Error> {
        let user = url.user.as_deref().unwrap_or(&self.options.user);
        loop {
            let answer = self.once(&route, user, || request(route.path()));
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
            if !(error.is_transient() && route.failed()) {
                return Err(error.of(&url.path));
            }
        }
    }

    /// Asks once; twice if the session was an older one, which may have broken while nobody looked.
    fn once(
        &self,
        route: &Route,
        user: &str,
        request: impl Fn() -> Request,
    ) -> Result<(Arc<Session>, Outcome), Error> {
        loop {
            let (session, is_new) = self.session(route, user)?;
            let answer = session.submit(request(), limits::MOST_CONTROL).wait();
            match answer {
                Err(error) if !is_new && error.kind() == ErrorKind::Connection => {}
                answer => return Ok((session, answer?)),
            }
        }
    }

    /// A session to the route's server, and whether it was made for this.
    fn session(&self, route: &Route, user: &str) -> Result<(Arc<Session>, bool), Error> {
        let key = (
            route.server().clone(),
            user.to_owned(),
            route.is_encrypted(),
        );
        let mut sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        let place = Arc::clone(sessions.entry(key).or_default());
        drop(sessions);
        let mut place = place.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(session) = place.as_ref().filter(|session| !session.is_broken()) {
            return Ok((Arc::clone(session), false));
        }
        let identity = Identity {
            user: user.to_owned(),
            token: route.token().to_owned(),
        };
        let open = |tls| Session::open(route.server(), &identity, tls, &self.options);
        let made = match route.is_encrypted() {
            true => open(Some(self.tls()?))?,
            // A server that wants TLS says so in the clear; it takes another connection then.
            false => match open(None) {
                Err(error) if error.kind() == ErrorKind::TlsRequired => open(Some(self.tls()?))?,
                made => made?,
            },
        };
        Ok((Arc::clone(place.insert(Arc::new(made))), true))
    }

    /// What TLS needs: found when it is needed first, since systems have many authorities.
    fn tls(&self) -> Result<&Arc<ClientConfig>, Error> {
        let configured = self.tls.get_or_init(|| {
            let trusted = self.options.trusted.clone();
            tls::configure(trusted.unwrap_or_else(|| Arc::new(treemill_credentials::trusted())))
        });
        configured.as_ref().map_err(Clone::clone)
    }
}

/// Names server and file in an error of the protocol.
fn named(url: &Url, session: &Session) -> impl FnOnce(WireError) -> Error {
    let (server, path) = (session.server().clone(), url.path.clone());
    move |error| broken(error).at(server).of(&path)
}
