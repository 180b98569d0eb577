//! A session with a server: handshake, protocol, login and authentication, then requests. Decides nothing of
//! credentials: `login` does. Knows no files and no redirects.

use crate::connection::{Connection, Sending};
use crate::error::{before_login, trouble};
use crate::options::Options;
use crate::pieces::Means;
use crate::refusal::{self, broken};
use crate::stream::Outcome;
use crate::ticket::{Answer, Sink, Ticket};
use crate::url::Server;
use crate::vector::Most;
use crate::wire::{Request, bodies};
use crate::{limits, login};
use bytes::BytesMut;
use rustls::ClientConfig;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use treemill_source::Costs;
use treemill_transfer::credentials::{Places, Token, TokenError};
use treemill_transfer::{Kind, Trouble};

/// The user that logs in, and how.
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
    /// Whether reads come with checksums. Over TLS they need none: it has its own for all that it carries.
    has_pages: AtomicBool,
    is_manager: AtomicBool,
    is_proxy: AtomicBool,
    /// The round trip from which on ranges are asked for with checksums.
    checks_from: Duration,
}

impl Session {
    /// Connects, greets and logs in; by TLS if it is given. Without TLS, `first` leaves together with the login; its
    /// answer comes by the ticket. `None` if it left too early: the server wants an authentication before it, and ends
    /// the connection.
    ///
    /// # Errors
    /// `TlsRequired` if the server wants TLS and none is given; any kind.
    pub(crate) async fn open(
        server: &Server,
        identity: &Identity,
        tls: Option<&Arc<ClientConfig>>,
        first: Option<Request>,
        options: &Options,
    ) -> Result<Option<(Self, Option<Ticket>)>, Trouble> {
        let session = Session {
            connection: Connection::open(server, options).await?,
            most: Arc::default(),
            is_most_asked: AtomicBool::new(false),
            has_pages: AtomicBool::new(false),
            is_manager: AtomicBool::new(false),
            is_proxy: AtomicBool::new(false),
            checks_from: options.checks_from,
        };
        let begun = session.log_in(identity, tls, first, options).await;
        let begun = begun.map_err(|error| before_login(error).at(server))?;
        Ok(begun.map(|ticket| (session, ticket)))
    }

    async fn log_in(
        &self,
        identity: &Identity,
        tls: Option<&Arc<ClientConfig>>,
        first: Option<Request>,
        options: &Options,
    ) -> Result<Option<Option<Ticket>>, Trouble> {
        let login = Request::Login {
            process: std::process::id(),
            user: login::user_bytes(&identity.user),
            token: identity.token.as_bytes().to_vec(),
        };
        let (login, early) = match tls {
            None => self.begin(login, first).await?,
            Some(tls) => (self.begin_encrypted(login, tls).await?, None),
        };
        if early.is_some() && !login.security.is_empty() {
            return Ok(None);
        }
        let means = login::Means {
            user: &identity.user,
            is_encrypted: tls.is_some(),
            token: || token(options),
        };
        authenticate(&self.connection, login::offers(&login, means)?).await?;
        Ok(Some(early))
    }

    /// Begins in the clear. Handshake, protocol, login and a first request leave in one piece: the server answers them
    /// in their order.
    async fn begin(
        &self,
        login: Request,
        first: Option<Request>,
    ) -> Result<(bodies::Login, Option<Ticket>), Trouble> {
        let (protocol, its_answer) = Sending::control(Request::Protocol { with_tls: false });
        let (login, login_answer) = Sending::control(login);
        let mut all = vec![protocol, login];
        let early = first.map(|request| {
            let (sending, ticket) = Sending::control(request);
            all.push(sending);
            self.is_most_asked.store(true, Ordering::Relaxed);
            all.push(self.ask_most());
            ticket
        });
        refusal::data(self.connection.greet(all).answer().await?)?; // says no more than the protocol's answer
        let protocol = protocol_of(its_answer).await?;
        login::check(protocol)?;
        self.has_pages
            .store(protocol.has_pages(), Ordering::Relaxed);
        self.note(protocol);
        let login = refusal::data(login_answer.answer().await?)?;
        Ok((bodies::Login::decode(&login).map_err(broken)?, early))
    }

    fn note(&self, protocol: bodies::Protocol) {
        self.is_manager
            .store(protocol.is_manager(), Ordering::Relaxed);
        self.is_proxy.store(protocol.is_proxy(), Ordering::Relaxed);
    }

    /// Begins by TLS, which starts after the answer to the protocol.
    async fn begin_encrypted(
        &self,
        login: Request,
        tls: &Arc<ClientConfig>,
    ) -> Result<bodies::Login, Trouble> {
        let (protocol, its_answer) = Sending::control(Request::Protocol { with_tls: true });
        let greeted = self.connection.greet(vec![protocol]);
        refusal::data(greeted.answer().await?)?;
        let protocol = protocol_of(its_answer).await?;
        login::check_encrypted(protocol)?;
        self.note(protocol);
        self.connection.encrypt(tls)?;
        let answer = ask(&self.connection, login).await;
        let answer = answer.and_then(refusal::data)?;
        bodies::Login::decode(&answer).map_err(broken)
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
            room: BytesMut::new(),
            sink,
        };
        self.send(vec![sending]);
        ticket
    }

    /// Sends a request: the data of its answer.
    pub(crate) async fn ask(&self, request: Request) -> Result<BytesMut, Trouble> {
        let outcome = self.submit(request, limits::MOST_CONTROL).answer().await;
        outcome
            .and_then(refusal::data)
            .map_err(|error| error.at(self.server()))
    }

    /// Ends the session for all that use it: its connection spoils bytes.
    pub(crate) fn distrust(&self) {
        self.connection
            .end("the connection changes the bytes that it carries");
    }

    /// This number of bytes that are on their way is not wanted any more. If it is much, the session ends.
    pub(crate) fn abandon(&self, bytes: u64) {
        self.connection.abandon(bytes);
    }

    /// What the server can do.
    pub(crate) fn means(&self) -> Means {
        Means {
            most: self.most(),
            has_pages: self.has_pages.load(Ordering::Relaxed),
            checks: self.connection.costs().round_trip >= self.checks_from,
        }
    }

    /// Whether the server knows others that have files, and has none itself.
    pub(crate) fn is_manager(&self) -> bool {
        self.is_manager.load(Ordering::Relaxed)
    }

    /// Whether the server gives files of others: what it says of a path may then differ from what it opens there.
    pub(crate) fn is_proxy(&self) -> bool {
        self.is_proxy.load(Ordering::Relaxed)
    }

    /// The server has refused pages with checksums, though it says that it has them.
    pub(crate) fn without_pages(&self) {
        self.has_pages.store(false, Ordering::Relaxed);
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
            room: BytesMut::new(),
            sink,
        }
    }

    pub(crate) fn costs(&self) -> Costs {
        self.connection.costs()
    }

    pub(crate) fn server(&self) -> &Server {
        self.connection.server()
    }

    /// Whether its connection was closed because nothing used it, or what it was to bring.
    pub(crate) fn has_rested(&self) -> bool {
        self.connection.has_rested()
    }

    /// The time since data came last, of any request; `None` if none came.
    pub(crate) fn quiet_for(&self) -> Option<Duration> {
        self.connection.quiet_for()
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

async fn protocol_of(answer: Ticket) -> Result<bodies::Protocol, Trouble> {
    let body = refusal::data(answer.answer().await?)?;
    bodies::Protocol::decode(&body).map_err(broken)
}

async fn ask(connection: &Connection, request: Request) -> Answer {
    let (sending, ticket) = Sending::control(request);
    connection.send(vec![sending]);
    ticket.answer().await
}

/// Tries one authentication after the other, in the server's order.
async fn authenticate(connection: &Connection, offers: Vec<Request>) -> Result<(), Trouble> {
    let mut refused = None;
    for offer in offers.into_iter().take(limits::MOST_ROUNDS) {
        match ask(connection, offer).await.and_then(refusal::data) {
            Ok(_) => return Ok(()),
            // Servers may close the connection after they have refused.
            Err(error) if error.is_transient() => return Err(refused.unwrap_or(error)),
            Err(error) => {
                let denied = trouble(Kind::Denied, error.to_string());
                refused = Some(denied.with_cause(error));
            }
        }
    }
    refused.map_or(Ok(()), Err)
}

/// The user's token, where it may be sent: over TLS only.
fn token(options: &Options) -> Result<Option<Token>, Trouble> {
    let places = options.tokens.clone().unwrap_or_else(Places::of_process);
    let unreadable = |error: TokenError| trouble(Kind::Denied, error.to_string()).with_cause(error);
    places.find().map_err(unreadable)
}
