//! What callers ask of servers by address: open, status, listings, places, configuration. Knows no sockets: it keeps
//! one connection for each server and user, and follows redirects by the route's decisions.

use crate::connection::{Connection, Options, broken};
use crate::error::Error;
use crate::file::File;
use crate::route::Route;
use crate::stream::Outcome;
use crate::url::{Server, Url};
use crate::wire::bodies::{Entry, Location, Opened, Status, values};
use crate::wire::{Request, WireError};
use crate::{limits, refusal};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// The connection of one server, once it is made. One thread makes it, the others wait.
type Place = Arc<Mutex<Option<Arc<Connection>>>>;

/// A client: its connections, shared by all that it opens. Threads may share it.
pub struct Client {
    options: Options,
    connections: Mutex<HashMap<(Server, String), Place>>,
}

impl Client {
    /// A client without connections; they are made when they are needed.
    #[must_use]
    pub fn new(options: Options) -> Self {
        Client {
            options,
            connections: Mutex::default(),
        }
    }

    /// Opens a file to read it.
    ///
    /// # Errors
    /// Any kind; `NotFound` names the server that does not have it.
    pub fn open(&self, url: &Url) -> Result<File, Error> {
        let (connection, body) = self.ask(url, |path| Request::Open { path })?;
        let opened = Opened::decode(&body).map_err(named(url, &connection))?;
        Ok(File::new(connection, opened, &url.path))
    }

    /// The status of a file or folder.
    ///
    /// # Errors
    /// As [`Client::open`].
    pub fn stat(&self, url: &Url) -> Result<Status, Error> {
        let (connection, body) = self.ask(url, |path| Request::Stat { path })?;
        Status::decode(&body).map_err(named(url, &connection))
    }

    /// What a folder holds.
    ///
    /// # Errors
    /// As [`Client::open`].
    pub fn dirlist(&self, url: &Url) -> Result<Vec<Entry>, Error> {
        let (connection, body) = self.ask(url, |path| Request::List { path })?;
        Entry::decode_all(&body).map_err(named(url, &connection))
    }

    /// The servers that have a file.
    ///
    /// # Errors
    /// As [`Client::open`].
    pub fn locate(&self, url: &Url) -> Result<Vec<Location>, Error> {
        let (connection, body) = self.ask(url, |path| Request::Locate { path })?;
        Location::decode_all(&body).map_err(named(url, &connection))
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
    ) -> Result<(Arc<Connection>, Vec<u8>), Error> {
        let mut route = Route::new(url);
        let user = url.user.as_deref().unwrap_or(&self.options.user);
        loop {
            let answer = self.once(&route, user, &request(route.path()));
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
                Ok((connection, outcome)) => match refusal::data(outcome) {
                    Ok(data) => return Ok((connection, data)),
                    Err(error) => error.at(route.server()),
                },
                Err(error) => error.at(route.server()),
            };
            if !(error.is_transient() && route.failed()) {
                return Err(error.of(&url.path));
            }
        }
    }

    fn once(
        &self,
        route: &Route,
        user: &str,
        request: &Request,
    ) -> Result<(Arc<Connection>, Outcome), Error> {
        let connection = self.connection(route, user)?;
        let outcome = connection.submit(request, limits::MOST_CONTROL)?.wait()?;
        Ok((connection, outcome))
    }

    fn connection(&self, route: &Route, user: &str) -> Result<Arc<Connection>, Error> {
        let key = (route.server().clone(), user.to_owned());
        let mut connections = self
            .connections
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let place = Arc::clone(connections.entry(key).or_default());
        drop(connections);
        let mut place = place.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(connection) = place.as_ref().filter(|connection| !connection.is_broken()) {
            return Ok(Arc::clone(connection));
        }
        let made = Connection::open(route.server(), user, route.token(), &self.options)?;
        Ok(Arc::clone(place.insert(Arc::new(made))))
    }
}

/// Names server and file in an error of the protocol.
fn named(url: &Url, connection: &Connection) -> impl FnOnce(WireError) -> Error {
    let (server, path) = (connection.server().clone(), url.path.clone());
    move |error| broken(error).at(server).of(&path)
}
