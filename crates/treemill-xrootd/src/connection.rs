//! One socket and its two tasks: one reads, one writes, so that no caller waits for the network. They run on the process's
//! runtime: a hundred servers take no more threads than one.
//! Decides nothing of the protocol: the stream's state machine does; knows no files and no redirects.

use crate::error::trouble;
use crate::options::Options;
use crate::stream::{Event, Outcome, Stream};
use crate::ticket::{Sink, Ticket};
use crate::tls::Tls;
use crate::transport::{Arrived, Encryption, Transport};
use crate::url::Server;
use crate::wire::Request;
use crate::{limits, refusal};
use bytes::BytesMut;
use rustls::ClientConfig;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::mpsc;
use tokio::task::AbortHandle;
use treemill_source::Costs;
use treemill_transfer::{Kind, Meter, Trouble, are_connections_shared, runtime};

/// A request to send: how many bytes of data its answer may have, and what takes the answer.
pub(crate) struct Sending {
    pub(crate) request: Request,
    pub(crate) most: usize,
    /// Memory for these data, or none.
    pub(crate) room: BytesMut,
    pub(crate) sink: Sink,
}

/// A connection to one server, which its two tasks share. They end when it is closed, and the socket with them.
pub(crate) struct Connection {
    server: Server,
    encryption: Encryption,
    began: Instant,
    state: Mutex<State>,
}

struct State {
    stream: Stream,
    meter: Meter,
    flights: HashMap<u16, Flight>,
    /// Bytes of files that were asked for and have not come.
    due: u64,
    /// Those of them that are not wanted any more, about.
    unwanted: u64,
    /// Bytes for the writing task; gone when the connection is broken.
    outbox: Option<mpsc::UnboundedSender<Vec<u8>>>,
    broken: Option<Trouble>,
    /// Both tasks, until they are told to end.
    tasks: Vec<AbortHandle>,
    /// Whether it was closed because nothing used it, or what it was to bring.
    has_rested: bool,
    /// Whether bytes that come in the clear are none of the server's words any more.
    is_encrypted: bool,
}

/// A request in flight: what takes its answer, when it was sent, and the bytes of a file that it asks for.
struct Flight {
    sink: Sink,
    sent: Duration,
    due: u64,
}

impl Sending {
    /// A request whose answer carries no file data, and a ticket for that answer.
    pub(crate) fn control(request: Request) -> (Self, Ticket) {
        let (ticket, sink) = Ticket::pair();
        let most = limits::MOST_CONTROL;
        let sending = Sending {
            request,
            most,
            room: BytesMut::new(),
            sink,
        };
        (sending, ticket)
    }
}

impl Connection {
    /// Connects, and starts the tasks.
    pub(crate) async fn open(server: &Server, options: &Options) -> Result<Arc<Self>, Trouble> {
        let named = |error: Trouble| error.at(server);
        let (connect, silence) = (options.connect, options.deadlines.silence);
        let connected = Transport::connect(server, connect, silence).await;
        let (transport, connect) = connected.map_err(named)?;
        if connect < options.beyond {
            let what = "the server is near, so that treemill opens no further connection to it";
            return Err(named(trouble(Kind::Unsupported, what)));
        }
        // A connection is set up in one round trip.
        let mut meter = Meter::default();
        meter.answered(connect);
        let runtime = runtime().map_err(named)?;
        let (outbox, inbox) = mpsc::unbounded_channel();
        let connection = Arc::new(Connection {
            server: server.clone(),
            encryption: Encryption::default(),
            began: Instant::now(),
            state: Mutex::new(State {
                stream: Stream::new(options.deadlines),
                meter,
                flights: HashMap::new(),
                due: 0,
                unwanted: 0,
                outbox: Some(outbox),
                broken: None,
                tasks: Vec::new(),
                has_rested: false,
                is_encrypted: false,
            }),
        });
        let transport = Arc::new(transport);
        let writing = Arc::clone(&connection).write_all(Arc::clone(&transport), inbox);
        let reading = Arc::clone(&connection).read_all(transport);
        // While the state is held, neither can end the connection without the other.
        let mut state = connection.state();
        let tasks = [runtime.spawn(writing), runtime.spawn(reading)];
        state.tasks = tasks.map(|task| task.abort_handle()).into();
        drop(state);
        Ok(connection)
    }

    pub(crate) fn server(&self) -> &Server {
        &self.server
    }

    pub(crate) fn is_broken(&self) -> bool {
        self.state().broken.is_some()
    }

    /// Whether it was closed because nothing used it, or what it was to bring.
    pub(crate) fn has_rested(&self) -> bool {
        self.state().has_rested
    }

    /// The time since data came last, of any request; `None` if none came.
    pub(crate) fn quiet_for(&self) -> Option<Duration> {
        let brought = self.state().stream.brought()?;
        Some(self.began.elapsed().saturating_sub(brought))
    }

    /// What the connection costs, as far as it is known.
    pub(crate) fn costs(&self) -> Costs {
        let state = self.state();
        let costs = state.meter.costs();
        Costs {
            // One of the many ranges of a vectored read.
            range: Costs::far(costs.round_trip).range,
            due: state.due,
            is_lost: state.broken.is_some() && !state.has_rested,
            ..costs
        }
    }

    /// Ends the connection. Its tasks end soon after: one of them may be the caller, so they are not waited for.
    pub(crate) fn close(&self) {
        self.end("the connection was closed by its user");
    }

    /// Closes like `close`, for this reason.
    pub(crate) fn end(&self, why: &str) {
        self.fail(trouble(Kind::Lost, why));
    }

    /// This number of bytes of files is not wanted any more. If much of that is on its way, the connection is closed: all else
    /// would wait behind it.
    pub(crate) fn abandon(&self, bytes: u64) {
        let mut state = self.state();
        state.unwanted = state.unwanted.saturating_add(bytes).min(state.due);
        if state.unwanted <= treemill_transfer::MOST_UNWANTED {
            return;
        }
        state.has_rested = true;
        drop(state);
        self.end("treemill closed the connection, because nothing needs its bytes any more");
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sends the handshake, and requests after it in the same piece; a ticket for the handshake's answer.
    pub(crate) fn greet(&self, all: Vec<Sending>) -> Ticket {
        let (ticket, sink) = Ticket::pair();
        let mut state = self.state();
        // A connection that was reset at once would never be heard of again.
        if let Some(error) = state.broken.clone() {
            drop(state);
            sink(Err(error));
            self.send(all);
            return ticket;
        }
        let sent = self.began.elapsed();
        let greeting = state.stream.greet(sent);
        let due = 0;
        state.meter.started(sent);
        state.flights.insert(0, Flight { sink, sent, due });
        self.post(state, greeting, all);
        ticket
    }

    /// Sends requests, in one piece, without waiting. Each sink is called once: at once if the connection is broken.
    pub(crate) fn send(&self, all: Vec<Sending>) {
        self.post(self.state(), Vec::new(), all);
    }

    /// Encrypts all that follows. No answer may be due, and nothing of one may have come: whoever is on the way could have
    /// sent it.
    pub(crate) fn encrypt(&self, config: &Arc<ClientConfig>) -> Result<(), Trouble> {
        let tls = Tls::begin(config, &self.server)?;
        let mut state = self.state();
        if !state.stream.is_at_rest() {
            return Err(in_the_clear());
        }
        state.is_encrypted = true;
        self.encryption.begin(tls);
        drop(state);
        self.flush();
        Ok(())
    }

    /// Makes the writing task send what TLS itself has to say.
    fn flush(&self) {
        if let Some(outbox) = &self.state().outbox {
            outbox.send(Vec::new()).ok();
        }
    }

    fn post(&self, mut state: MutexGuard<'_, State>, mut bytes: Vec<u8>, all: Vec<Sending>) {
        let now = self.began.elapsed();
        let mut failed: Vec<(Sink, Trouble)> = Vec::new();
        for Sending {
            request,
            most,
            room,
            sink,
        } in all
        {
            if let Some(error) = &state.broken {
                failed.push((sink, error.clone()));
                continue;
            }
            match state.stream.send(&request, most, now) {
                Ok((stream, bytes_sent)) => {
                    bytes.extend(bytes_sent);
                    state.stream.place(stream, room);
                    let due = request.file_bytes();
                    state.due = state.due.saturating_add(due);
                    let sent = now;
                    state.meter.started(now);
                    state.flights.insert(stream, Flight { sink, sent, due });
                }
                Err(error) => {
                    let invalid = trouble(Kind::Invalid, error.to_string());
                    failed.push((sink, invalid.with_cause(error)));
                }
            }
        }
        // Sent while the state is held, so that bytes leave in the order of their streams. It does not wait.
        if let Some(outbox) = &state.outbox
            && !bytes.is_empty()
        {
            outbox.send(bytes).ok();
        }
        drop(state);
        for (sink, error) in failed {
            sink(Err(error.at(&self.server)));
        }
    }

    /// Ends the connection and all requests in flight; the error is the first that ended it.
    fn fail(&self, error: Trouble) {
        let error = error.at(&self.server);
        let mut state = self.state();
        let error = state.broken.get_or_insert(error).clone();
        let flights = std::mem::take(&mut state.flights);
        (state.due, state.unwanted) = (0, 0);
        state.outbox = None;
        let tasks = std::mem::take(&mut state.tasks);
        drop(state);
        tasks.iter().for_each(AbortHandle::abort);
        for flight in flights.into_values() {
            (flight.sink)(Err(error.clone()));
        }
    }

    /// The writing task. It ends with the connection, or when the outbox does.
    async fn write_all(
        self: Arc<Self>,
        transport: Arc<Transport>,
        mut inbox: mpsc::UnboundedReceiver<Vec<u8>>,
    ) {
        while let Some(bytes) = inbox.recv().await {
            let sealed = self.encryption.seal(&bytes);
            let sent = match &sealed {
                Ok(bytes) => transport.write(bytes).await,
                Err(error) => Err(error.clone()),
            };
            // Half a request may be out: nothing more can be sent after it.
            if let Err(error) = sent {
                return self.fail(error);
            }
        }
    }

    /// The reading task. It ends with the connection.
    async fn read_all(self: Arc<Self>, transport: Arc<Transport>) {
        let mut buffer = vec![0; limits::BUFFER];
        loop {
            let turn = transport.read(&mut buffer).await.and_then(|count| {
                let bytes = buffer.get(..count).unwrap_or_default();
                self.take(&self.encryption.open(bytes)?)
            });
            if let Err(error) = turn {
                return self.fail(error);
            }
            if self.encryption.wants_write() {
                self.flush();
            }
        }
    }

    /// What arrived bytes, or a tick without any, bring about.
    fn take(&self, arrived: &Arrived) -> Result<(), Trouble> {
        let bytes: &[u8] = &arrived.bytes;
        let mut state = self.state();
        // They were read before TLS began, and looked at after it.
        if state.is_encrypted && !arrived.is_encrypted && !bytes.is_empty() {
            return Err(in_the_clear());
        }
        let now = self.began.elapsed();
        let mut events = Vec::new();
        let taken = state.stream.take(bytes, now, &mut events);
        let mut end = taken.map_err(refusal::broken);
        if end.is_ok() {
            events.extend(state.stream.tick(now));
            let is_spared = state.stream.unused_for(now) >= limits::SHARED_IDLE;
            if is_spared && are_connections_shared() {
                events.push(Event::Idle);
            }
        }
        if !bytes.is_empty() {
            state.meter.arrived(bytes.len(), now);
        }
        let mut done: Vec<(Sink, Outcome)> = Vec::new();
        for event in events {
            match event {
                Event::Done { stream, outcome } => {
                    let Some(flight) = state.flights.remove(&stream) else {
                        continue;
                    };
                    state.due = state.due.saturating_sub(flight.due);
                    state.unwanted = state.unwanted.min(state.due);
                    if let Outcome::Data(data) | Outcome::Pages { data, .. } = &outcome
                        && data.len() <= limits::SMALL_ANSWER
                    {
                        state.meter.answered(now.saturating_sub(flight.sent));
                    }
                    state.meter.ended();
                    done.push((flight.sink, outcome));
                }
                Event::Send(bytes) => {
                    if let Some(outbox) = &state.outbox {
                        outbox.send(bytes).ok();
                    }
                }
                Event::Silent => {
                    let what = "the server has sent nothing for too long";
                    end = Err(trouble(Kind::Silent, what));
                }
                Event::Idle => {
                    state.has_rested = true;
                    let what = "the connection was closed because nothing used it";
                    end = Err(trouble(Kind::Lost, what));
                }
            }
        }
        drop(state);
        for (sink, outcome) in done {
            sink(Ok(outcome));
        }
        end
    }
}

/// Bytes that came without TLS where there must be none.
fn in_the_clear() -> Trouble {
    let what = "bytes without encryption came where TLS should begin: someone on the network may have sent them";
    trouble(Kind::Malformed, what)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::wire::{Header, codes};
    use std::io::Write;
    use std::net::TcpListener;
    use std::sync::mpsc::channel;
    use treemill_transfer::wait;

    #[test]
    fn data_come_where_their_request_has_memory_for_them() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let server = Server {
            host: "127.0.0.1".to_owned(),
            port: listener.local_addr().unwrap().port(),
        };
        let connection = wait(Connection::open(&server, &Options::default())).unwrap();
        let (room, (sender, answers)) = (BytesMut::with_capacity(5), channel());
        let address = room.as_ptr() as usize;
        let request = Request::Read {
            handle: [0; 4],
            offset: 0,
            length: 5,
        };
        connection.send(vec![Sending {
            request,
            most: 5,
            room,
            sink: Box::new(move |answer| sender.send(answer).unwrap()),
        }]);
        let header = Header {
            stream: 1,
            state: codes::OK,
            length: 5,
        };
        let (mut peer, _) = listener.accept().unwrap();
        peer.write_all(&[&header.encode()[..], b"bytes"].concat())
            .unwrap();
        let answer = answers.recv_timeout(Duration::from_secs(20));
        let data = refusal::data(answer.unwrap().unwrap()).unwrap();
        assert_eq!(
            (data.as_ptr() as usize, &data[..]),
            (address, &b"bytes"[..])
        );
    }

    #[test]
    fn a_connection_that_breaks_before_its_greeting_is_an_error_of_all_that_is_asked() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let server = Server {
            host: "127.0.0.1".to_owned(),
            port: listener.local_addr().unwrap().port(),
        };
        let options = Options::default();
        let connection = wait(Connection::open(&server, &options)).unwrap();
        connection.end("it was reset");
        let (asked, answer) = Sending::control(Request::Ping);
        let greeted = connection.greet(vec![asked]);
        let broken = Kind::Lost;
        assert_eq!(greeted.wait().unwrap_err().kind, broken);
        assert_eq!(answer.wait().unwrap_err().kind, broken);
    }
}
