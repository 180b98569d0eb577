//! A session with a server: handshake, protocol, login and authentication, then requests. Decides nothing of
//! credentials: `login` does. Knows no files and no redirects.

use crate::connection::{Connection, Sending};
use crate::error::{Error, ErrorKind};
use crate::options::Options;
use crate::refusal::{self, broken};
use crate::stream::Outcome;
use crate::ticket::{Answer, Sink, Ticket};
use crate::url::Server;
use crate::vector::Most;
use crate::wire::{Request, bodies};
use crate::{limits, login};
use rustls::ClientConfig;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use treemill_credentials::{Places, Token, TokenError};

/// Who logs in, and how.
#[derive(Debug, Clone)]
pub(crate) struct Identity {
    /// The user's name.
    pub(crate) user: String,
    /// What a redirect gives to the login.
    pub(crate) token: String,
}

/// A session with one server. Dropping it ends it.
pub(crate) struct Session {
    connection: Arc<Connection>,
    most: Arc<OnceLock<Most>>,
    is_most_asked: AtomicBool,
}

impl Session {
    /// Connects, greets and logs in; by TLS if it is given.
    ///
    /// # Errors
    /// `TlsRequired` if the server wants TLS and none is given; any kind.
    pub(crate) fn open(
        server: &Server,
        identity: &Identity,
        tls: Option<&Arc<ClientConfig>>,
        options: &Options,
    ) -> Result<Self, Error> {
        let session = Session {
            connection: Connection::open(server, options)?,
            most: Arc::default(),
            is_most_asked: AtomicBool::new(false),
        };
        let done = session.log_in(identity, tls, options);
        done.map_err(|error| error.at(server))?;
        Ok(session)
    }

    fn log_in(
        &self,
        identity: &Identity,
        tls: Option<&Arc<ClientConfig>>,
        options: &Options,
    ) -> Result<(), Error> {
        let connection = &self.connection;
        let login = Request::Login {
            process: std::process::id(),
            user: login::user_bytes(&identity.user),
            token: identity.token.as_bytes().to_vec(),
        };
        let login = match tls {
            None => begin(connection, login)?,
            Some(tls) => begin_encrypted(connection, login, tls)?,
        };
        let means = login::Means {
            user: &identity.user,
            is_encrypted: tls.is_some(),
            token: || token(options),
        };
        authenticate(connection, login::offers(&login, means)?)
    }

    /// Sends requests, in one piece, without waiting. Each sink is called once: at once if the connection is broken.
    pub(crate) fn send(&self, mut all: Vec<Sending>) {
        if !self.is_most_asked.swap(true, Ordering::Relaxed) {
            all.push(self.ask_most());
        }
        self.connection.send(all);
    }

    /// Sends a request without waiting for its answer, which may have `most` bytes of data.
    pub(crate) fn submit(&self, request: Request, most: usize) -> Ticket {
        let (ticket, sink) = Ticket::pair();
        let sending = Sending {
            request,
            most,
            sink,
        };
        self.send(vec![sending]);
        ticket
    }

    /// Sends a request and waits for the data of its answer.
    pub(crate) fn ask(&self, request: Request) -> Result<Vec<u8>, Error> {
        let outcome = self.submit(request, limits::MOST_CONTROL).wait();
        outcome
            .and_then(refusal::data)
            .map_err(|error| error.at(self.server()))
    }

    /// The server's limits of vectored reads; the usual ones until it has said them.
    pub(crate) fn most(&self) -> Most {
        self.most.get().copied().unwrap_or_default()
    }

    /// Asks for the limits: they travel with the first request.
    fn ask_most(&self) -> Sending {
        let most = Arc::clone(&self.most);
        let request = Request::Config {
            names: Most::NAMES.join(" "),
        };
        let sink: Sink = Box::new(move |answer| {
            if let Ok(Outcome::Data(body)) = answer {
                most.get_or_init(|| Most::from_values(&bodies::values(&body, &Most::NAMES)));
            }
        });
        Sending {
            request,
            most: limits::MOST_CONTROL,
            sink,
        }
    }

    pub(crate) fn costs(&self) -> (Duration, Option<f64>) {
        self.connection.costs()
    }

    pub(crate) fn server(&self) -> &Server {
        self.connection.server()
    }

    pub(crate) fn is_broken(&self) -> bool {
        self.connection.is_broken()
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.connection.close();
    }
}

/// Begins a session in the clear. Handshake, protocol and login leave in one piece: the server answers them in their
/// order.
fn begin(connection: &Connection, login: Request) -> Result<bodies::Login, Error> {
    let protocol = Request::Protocol { with_tls: false };
    let mut answers = connection.greet(vec![protocol, login]).into_iter();
    next(&mut answers)?; // the handshake's answer says no more than the protocol's
    login::check(protocol_of(&next(&mut answers)?)?)?;
    bodies::Login::decode(&next(&mut answers)?).map_err(broken)
}

/// Begins a session by TLS, which starts behind the answer to the protocol.
fn begin_encrypted(
    connection: &Connection,
    login: Request,
    tls: &Arc<ClientConfig>,
) -> Result<bodies::Login, Error> {
    let protocol = Request::Protocol { with_tls: true };
    let mut answers = connection.greet(vec![protocol]).into_iter();
    next(&mut answers)?;
    login::check_encrypted(protocol_of(&next(&mut answers)?)?)?;
    connection.encrypt(tls)?;
    let answer = ask(connection, login).and_then(refusal::data)?;
    bodies::Login::decode(&answer).map_err(broken)
}

fn next(answers: &mut impl Iterator<Item = Ticket>) -> Result<Vec<u8>, Error> {
    let none = || Error::new(ErrorKind::Protocol, "a request has no ticket");
    refusal::data(answers.next().ok_or_else(none)?.wait()?)
}

fn protocol_of(body: &[u8]) -> Result<bodies::Protocol, Error> {
    bodies::Protocol::decode(body).map_err(broken)
}

fn ask(connection: &Connection, request: Request) -> Answer {
    let (ticket, sink) = Ticket::pair();
    let most = limits::MOST_CONTROL;
    connection.send(vec![Sending {
        request,
        most,
        sink,
    }]);
    ticket.wait()
}

/// Tries one authentication after the other, in the server's order.
fn authenticate(connection: &Connection, offers: Vec<Request>) -> Result<(), Error> {
    let mut refused = None;
    for offer in offers.into_iter().take(limits::MOST_ROUNDS) {
        match ask(connection, offer).and_then(refusal::data) {
            Ok(_) => return Ok(()),
            // Servers may close the connection after they have refused.
            Err(error) if error.is_transient() => return Err(refused.unwrap_or(error)),
            Err(error) => refused = Some(Error::new(ErrorKind::Denied, error.to_string())),
        }
    }
    refused.map_or(Ok(()), Err)
}

/// The user's token, where it may be sent: over TLS only.
fn token(options: &Options) -> Result<Option<Token>, Error> {
    let places = options.tokens.clone().unwrap_or_else(Places::of_process);
    let unreadable = |error: TokenError| Error::new(ErrorKind::Denied, error.to_string());
    places.find().map_err(unreadable)
}
