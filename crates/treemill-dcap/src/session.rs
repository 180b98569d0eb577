//! Data connections: one open file at a pool. Requests are sent without waiting, and answered in order. `mover` decides what
//! bytes mean; the caller that opened a connection decides what to do when it is lost.

use crate::door::Door;
use crate::frames::{close, greeting, request};
use crate::limits::{BUFFER, TICK};
use crate::mover::{Mover, Outcome};
use crate::pieces::Asked;
use crate::socket::{at, connect, read, write};
use crate::words::Pool;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};
use tokio::net::TcpStream;
use tokio::sync::mpsc;
use tokio::time::timeout;
use treemill_source::Costs;
use treemill_transfer::{Kind, Meter, SILENCE, Trouble, runtime};

/// Hears what becomes of requests. Called on the connection's own task: it must not wait.
pub(crate) trait Listener: Send + Sync + 'static {
    /// A request is answered.
    fn answered(self: &Arc<Self>, session: &Arc<Session>, asked: Asked, outcome: Outcome);
    /// The connection is lost, with these requests; `is_theirs`: because of what the pool has sent for the first.
    fn lost(
        self: &Arc<Self>,
        session: &Arc<Session>,
        asked: Vec<Asked>,
        is_theirs: bool,
        why: Trouble,
    );
}

/// An open file at a pool.
pub(crate) struct Session {
    pub(crate) pool: String,
    /// Pools end the data connections of a control line that is gone.
    _door: Arc<Door>,
    outbox: mpsc::UnboundedSender<Vec<u8>>,
    state: Mutex<State>,
    began: Instant,
    meter: Mutex<Meter>,
}

struct State {
    mover: Mover,
    /// When each request in flight was sent, the oldest first.
    sent: VecDeque<Duration>,
    /// When bytes came last.
    heard: Duration,
    broken: Option<Trouble>,
}

impl Session {
    /// Connects to the pool that the door has named for a session. The caller has the only strong hold on it, and the
    /// connection's tasks have none on its listener: both end when the file has no readers any more.
    pub(crate) async fn open<L: Listener>(
        door: Arc<Door>,
        session: u32,
        pool: &Pool,
        listener: Weak<L>,
    ) -> Result<Arc<Self>, Trouble> {
        let name = format!("{}:{}", pool.host, pool.port);
        let begun = Instant::now();
        // The door may name another one next time.
        let elsewhere = |trouble: Trouble| match trouble.kind {
            Kind::Unreachable => Trouble {
                kind: Kind::Transient,
                ..trouble
            },
            _ => trouble,
        };
        let socket = Arc::new(connect(&name).await.map_err(elsewhere)?);
        let mut meter = Meter::default();
        meter.answered(begun.elapsed());
        let (outbox, inbox) = mpsc::unbounded_channel();
        let opened = Arc::new(Session {
            pool: name,
            _door: door,
            outbox,
            state: Mutex::new(State {
                mover: Mover::default(),
                sent: VecDeque::new(),
                heard: Duration::ZERO,
                broken: None,
            }),
            began: Instant::now(),
            meter: Mutex::new(meter),
        });
        let runtime = runtime()?;
        let _ = opened.outbox.send(greeting(session, &pool.challenge));
        let weak = Arc::downgrade(&opened);
        runtime.spawn(say(Arc::clone(&socket), inbox));
        runtime.spawn(hear(weak, socket, listener));
        Ok(opened)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn meter(&self) -> MutexGuard<'_, Meter> {
        self.meter.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn costs(&self) -> Costs {
        Costs {
            range: crate::limits::RANGE,
            ..self.meter().costs()
        }
    }

    /// Sends requests in their order. Those that cannot be sent come back.
    pub(crate) fn send(&self, all: Vec<Asked>) -> Result<(), Box<(Vec<Asked>, Trouble)>> {
        let now = self.began.elapsed();
        let mut state = self.state();
        if let Some(trouble) = &state.broken {
            return Err(Box::new((all, trouble.clone())));
        }
        let mut bytes = Vec::new();
        let mut meter = self.meter();
        all.iter().for_each(|_| meter.started(now));
        drop(meter);
        for asked in all {
            bytes.extend(request(&asked));
            state.sent.push_back(now);
            state.mover.sent(asked);
        }
        // Sent while the state is held, so that bytes leave in the order of their requests. It does not wait.
        let _ = self.outbox.send(bytes);
        Ok(())
    }

    /// The connection is of no use: what is in flight.
    fn end(&self, trouble: &Trouble) -> Vec<Asked> {
        let mut state = self.state();
        state.broken.get_or_insert_with(|| trouble.clone());
        state.sent.clear();
        let lost = state.mover.lost();
        drop(state);
        let _ = self.outbox.send(Vec::new()); // ends the writer
        lost
    }

    /// Ends the connection for this reason: what was in flight.
    pub(crate) fn give_up(&self, why: &Trouble) -> (Vec<Asked>, Trouble) {
        let why = at(&self.pool, why);
        (self.end(&why), why)
    }

    /// Takes the oldest answer that has come.
    fn answer(&self) -> Option<(Asked, Outcome)> {
        self.state().mover.answer()
    }

    /// Bytes have come: there may be answers, or something is wrong with them.
    fn take(&self, bytes: &[u8]) -> Result<(), Trouble> {
        let now = self.began.elapsed();
        let mut state = self.state();
        state.heard = now;
        let due = state.mover.due();
        let taken = state.mover.take(bytes);
        let taken = taken.map_err(|broken| {
            Trouble::new(
                Kind::Transient,
                format!("the pool breaks the protocol: {}", broken.0),
            )
        });
        let mut meter = self.meter();
        meter.arrived(bytes.len(), now);
        for _ in state.mover.due()..due {
            meter.ended();
            state.sent.pop_front();
        }
        taken
    }

    /// Whether an answer is due for too long.
    fn is_silent(&self) -> bool {
        let state = self.state();
        let since = state.sent.front().map(|&sent| sent.max(state.heard));
        since.is_some_and(|since| self.began.elapsed().saturating_sub(since) >= SILENCE)
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        let _ = self.outbox.send(close());
        let _ = self.outbox.send(Vec::new());
    }
}

/// Writes what is sent. Ends with the session, whose last word is the command to close, or by an empty word.
async fn say(socket: Arc<TcpStream>, mut inbox: mpsc::UnboundedReceiver<Vec<u8>>) {
    while let Some(bytes) = inbox.recv().await {
        if bytes.is_empty() || write(&socket, &bytes).await.is_err() {
            return;
        }
    }
}

/// Reads answers. Ends with the connection, or when the session has no users any more.
async fn hear<L: Listener>(session: Weak<Session>, socket: Arc<TcpStream>, listener: Weak<L>) {
    let mut buffer = vec![0; BUFFER];
    loop {
        let came = timeout(TICK, read(&socket, &mut buffer)).await;
        let (Some(session), Some(listener)) = (session.upgrade(), listener.upgrade()) else {
            return;
        };
        let closed = || Trouble::new(Kind::Transient, "the pool has closed the connection");
        let (trouble, is_theirs) = match came {
            Err(_) if session.is_silent() => {
                let what = format!("the pool has sent nothing for {} s", SILENCE.as_secs());
                (Trouble::new(Kind::Silent, what), false)
            }
            Err(_) => continue,
            Ok(Ok(0)) => (closed(), false),
            Ok(Err(trouble)) => (trouble, false),
            Ok(Ok(count)) => {
                let taken = session.take(buffer.get(..count).unwrap_or_default());
                // One at a time: an answer may end the session, and those after it are lost with it.
                while let Some((asked, outcome)) = session.answer() {
                    listener.answered(&session, asked, outcome);
                }
                match taken {
                    Ok(()) if session.state().broken.is_some() => return,
                    Ok(()) => continue,
                    Err(trouble) => (trouble, true),
                }
            }
        };
        let trouble = at(&session.pool, &trouble);
        let lost = session.end(&trouble);
        return listener.lost(&session, lost, is_theirs, trouble);
    }
}
