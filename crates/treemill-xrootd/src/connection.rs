//! One socket, its session and the thread that reads it. Decides nothing of the protocol: the stream's state machine
//! does; knows no files and no redirects.

use crate::error::{Error, ErrorKind};
use crate::stream::{Deadlines, Event, Outcome, Stream};
use crate::ticket::Ticket;
use crate::url::Server;
use crate::vector::Most;
use crate::wire::{Request, WireError, bodies};
use crate::{limits, login, refusal};
use std::collections::HashMap;
use std::io::{ErrorKind as IoErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream, ToSocketAddrs};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// How a client behaves.
#[derive(Debug, Clone)]
pub struct Options {
    /// The user's name for logins and for the authentication `unix`, if the address has none; "treemill" by default.
    pub user: String,
    /// How long it may take to connect to one address of a server.
    pub connect: Duration,
    /// How long answers may take.
    pub deadlines: Deadlines,
}

impl Default for Options {
    fn default() -> Self {
        let (connect, deadlines) = (limits::CONNECT, Deadlines::default());
        Options {
            user: "treemill".to_owned(),
            connect,
            deadlines,
        }
    }
}

/// A session with one server.
pub(crate) struct Connection {
    shared: Arc<Shared>,
    reader: Option<JoinHandle<()>>,
    most: OnceLock<Most>,
}

struct Shared {
    server: Server,
    socket: TcpStream,
    began: Instant,
    state: Mutex<State>,
    /// Held while a request is written, so that requests do not mix. Never taken by who holds `state`.
    writing: Mutex<()>,
}

struct State {
    stream: Stream,
    tickets: HashMap<u16, Ticket>,
    broken: Option<Error>,
}

impl Connection {
    /// Connects, greets and logs in.
    pub(crate) fn open(
        server: &Server,
        user: &str,
        token: &str,
        options: &Options,
    ) -> Result<Self, Error> {
        let socket = connect(server, options.connect).map_err(|error| error.at(server))?;
        let (stream, tickets) = (Stream::new(options.deadlines), HashMap::new());
        let shared = Arc::new(Shared {
            server: server.clone(),
            socket,
            began: Instant::now(),
            state: Mutex::new(State {
                stream,
                tickets,
                broken: None,
            }),
            writing: Mutex::new(()),
        });
        shared
            .prepare(options.deadlines.silence)
            .map_err(|e| lost(&e).at(server))?;
        let reading = Arc::clone(&shared);
        let reader = std::thread::Builder::new()
            .name("xrootd".to_owned())
            .spawn(move || reading.listen())
            .map_err(|e| lost(&e).at(server))?;
        let connection = Connection {
            shared,
            reader: Some(reader),
            most: OnceLock::new(),
        };
        connection
            .log_in(user, token)
            .map_err(|error| error.at(server))?;
        Ok(connection)
    }

    fn log_in(&self, user: &str, token: &str) -> Result<(), Error> {
        let greeting = self.shared.greet()?;
        let protocol = self.submit(&Request::Protocol, limits::MOST_CONTROL)?;
        refusal::data(greeting.wait()?)?;
        let protocol = refusal::data(protocol.wait()?)?;
        login::check(bodies::Protocol::decode(&protocol).map_err(broken)?)?;
        let user_bytes = login::user_bytes(user);
        let request = Request::Login {
            process: std::process::id(),
            user: user_bytes,
            token: token.as_bytes().to_vec(),
        };
        let login = bodies::Login::decode(&self.ask(&request)?).map_err(broken)?;
        let mut refused = None;
        for offer in login::offers(&login, user)?
            .iter()
            .take(limits::MOST_ROUNDS)
        {
            match self.ask(offer) {
                Ok(_) => return Ok(()),
                Err(error) if error.is_transient() => return Err(error),
                Err(error) => refused = Some(Error::new(ErrorKind::Denied, error.to_string())),
            }
        }
        refused.map_or(Ok(()), Err)
    }

    /// Sends a request without waiting for its answer, which may have `most` bytes of data.
    pub(crate) fn submit(&self, request: &Request, most: usize) -> Result<Ticket, Error> {
        self.shared
            .submit(request, most)
            .map_err(|error| error.at(&self.shared.server))
    }

    /// Sends a request and waits for the data of its answer.
    pub(crate) fn ask(&self, request: &Request) -> Result<Vec<u8>, Error> {
        let outcome = self.submit(request, limits::MOST_CONTROL)?.wait();
        outcome
            .and_then(refusal::data)
            .map_err(|error| error.at(&self.shared.server))
    }

    /// The server's limits of vectored reads, asked for once; the usual ones if it does not say them.
    pub(crate) fn most(&self) -> Result<Most, Error> {
        if let Some(most) = self.most.get() {
            return Ok(*most);
        }
        let most = match self.ask(&Request::Config {
            names: Most::NAMES.join(" "),
        }) {
            Ok(body) => Most::from_values(&bodies::values(&body, &Most::NAMES)),
            Err(error) if error.is_transient() => return Err(error),
            Err(_) => Most::default(),
        };
        Ok(*self.most.get_or_init(|| most))
    }

    pub(crate) fn server(&self) -> &Server {
        &self.shared.server
    }

    pub(crate) fn is_broken(&self) -> bool {
        self.shared.state().broken.is_some()
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        // The reader's thread sees the end of the stream at once.
        self.shared.socket.shutdown(Shutdown::Both).ok();
        if let Some(reader) = self.reader.take() {
            reader.join().ok();
        }
    }
}

impl Shared {
    fn prepare(&self, silence: Duration) -> std::io::Result<()> {
        self.socket.set_nodelay(true)?;
        self.socket.set_read_timeout(Some(limits::TICK))?;
        self.socket
            .set_write_timeout(Some(silence.max(limits::TICK)))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn greet(&self) -> Result<Ticket, Error> {
        let ticket = Ticket::default();
        let mut state = self.state();
        let bytes = state.stream.greet(self.began.elapsed());
        state.tickets.insert(0, ticket.clone());
        drop(state);
        self.write(&bytes)?;
        Ok(ticket)
    }

    fn submit(&self, request: &Request, most: usize) -> Result<Ticket, Error> {
        let ticket = Ticket::default();
        let mut state = self.state();
        if let Some(error) = &state.broken {
            return Err(error.clone());
        }
        let now = self.began.elapsed();
        let (stream, bytes) = state
            .stream
            .send(request, most, now)
            .map_err(|e| Error::new(ErrorKind::Invalid, e.to_string()))?;
        state.tickets.insert(stream, ticket.clone());
        drop(state);
        self.write(&bytes)?;
        Ok(ticket)
    }

    fn write(&self, bytes: &[u8]) -> Result<(), Error> {
        let turn = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        let written = (&self.socket).write_all(bytes);
        drop(turn);
        // Half a request may be out: nothing more can be sent after it.
        written.map_err(|e| self.fail(lost(&e)))
    }

    /// Ends the connection and all requests in flight; the error is the first that ended it.
    fn fail(&self, error: Error) -> Error {
        let error = error.at(&self.server);
        let mut state = self.state();
        let error = state.broken.get_or_insert(error).clone();
        let tickets = std::mem::take(&mut state.tickets);
        drop(state);
        self.socket.shutdown(Shutdown::Both).ok();
        for ticket in tickets.into_values() {
            ticket.fill(Err(error.clone()));
        }
        error
    }

    /// The reader's thread.
    fn listen(&self) {
        let mut buffer = vec![0; limits::BUFFER];
        loop {
            if let Err(error) = self.turn(&mut buffer) {
                self.fail(error);
                return;
            }
        }
    }

    fn turn(&self, buffer: &mut [u8]) -> Result<(), Error> {
        let count = match (&self.socket).read(buffer) {
            Ok(0) => {
                return Err(Error::new(
                    ErrorKind::Connection,
                    "the connection was closed",
                ));
            }
            Ok(count) => count,
            Err(e) if is_pause(e.kind()) => 0,
            Err(e) => return Err(lost(&e)),
        };
        let mut state = self.state();
        let now = self.began.elapsed();
        let bytes = buffer.get(..count).unwrap_or_default();
        let mut events = state.stream.take(bytes, now).map_err(broken)?;
        events.extend(state.stream.tick(now));
        let mut done: Vec<(Option<Ticket>, Outcome)> = Vec::new();
        let mut again = Vec::new();
        for event in events {
            match event {
                Event::Done { stream, outcome } => {
                    done.push((state.tickets.remove(&stream), outcome))
                }
                Event::Send(bytes) => again.push(bytes),
                Event::Silent => {
                    let what = "the server has sent nothing for too long";
                    return Err(Error::new(ErrorKind::Timeout, what));
                }
            }
        }
        drop(state);
        for (ticket, outcome) in done {
            if let Some(ticket) = ticket {
                ticket.fill(Ok(outcome));
            }
        }
        again.iter().try_for_each(|bytes| self.write(bytes))
    }
}

/// Whether a read ended only because nothing came within a tick.
fn is_pause(kind: IoErrorKind) -> bool {
    matches!(
        kind,
        IoErrorKind::WouldBlock | IoErrorKind::TimedOut | IoErrorKind::Interrupted
    )
}

fn connect(server: &Server, limit: Duration) -> Result<TcpStream, Error> {
    let addresses = (server.host.as_str(), server.port)
        .to_socket_addrs()
        .map_err(|e| Error::new(ErrorKind::Connection, format!("no address is known: {e}")))?;
    let mut last = Error::new(ErrorKind::Connection, "the server's name has no address");
    for address in addresses {
        match TcpStream::connect_timeout(&address, limit) {
            Ok(socket) => return Ok(socket),
            Err(e) => last = Error::new(ErrorKind::Connection, format!("no connection: {e}")),
        }
    }
    Err(last)
}

fn lost(error: &std::io::Error) -> Error {
    Error::new(
        ErrorKind::Connection,
        format!("the connection is lost: {error}"),
    )
}

pub(crate) fn broken(error: WireError) -> Error {
    Error::new(
        ErrorKind::Protocol,
        format!("the server breaks the protocol: {error}"),
    )
}
