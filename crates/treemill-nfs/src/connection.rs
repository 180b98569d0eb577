//! A connection to a server: a task writes calls, another one reads what comes and hands each answer to the call that
//! waits for it. Knows RPC, no operation of NFS but calls on the back channel, which it answers.

use crate::intake::{Came, Intake};
use crate::limits::{MOST_ANSWER, SILENCE, TOGETHER};
use crate::room::Room;
use crate::wire::callback::{Order, Said, answer};
use crate::wire::rpc::{Credential, Message, Procedure, call, message, reply};
use crate::wire::xdr::{Reader, Writer};
use bytes::{Bytes, BytesMut};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::sync::{mpsc, oneshot};
use tokio::task::AbortHandle;
use tokio::time::timeout;
use treemill_transfer::{self as transfer, Connected, Kind, MOST_UNWANTED, Trouble, connect};

/// The program of NFS: its one procedure is COMPOUND.
const NFS: u32 = 100_003;
/// What is kept as long as a call waits.
pub(crate) type Hold = Box<dyn Send>;

/// A COMPOUND to send.
pub(crate) struct Sending<'a> {
    pub(crate) credential: &'a Credential,
    pub(crate) arguments: &'a Writer,
    /// Bytes that its results have at most, about.
    pub(crate) most: u64,
    /// Where the data that are asked for may be written.
    pub(crate) room: Option<Room>,
    /// Kept until the results are here or the connection ends.
    pub(crate) hold: Hold,
}
/// Does what the server wants, behind this call, or says why not.
pub(crate) type Obey = Arc<dyn Fn(&Order) -> Said + Send + Sync>;

/// A connection. Dropped, it ends.
pub(crate) struct Connection {
    /// How long it took to connect, which is one round trip; zero to this machine itself, however busy it is.
    pub(crate) distance: Duration,
    out: mpsc::UnboundedSender<Vec<u8>>,
    calls: Arc<Calls>,
}

/// The results of a COMPOUND, which come. Dropped before, they are not wanted any more.
pub(crate) struct Answer {
    receiver: oneshot::Receiver<Result<Reader, Trouble>>,
    calls: Arc<Calls>,
}

struct Waiting {
    answer: oneshot::Sender<Result<Reader, Trouble>>,
    since: Instant,
    most: u64,
    room: Option<Room>,
    /// Freed when the answer comes, whether or not the caller still waits for it.
    _hold: Hold,
}

#[derive(Default)]
struct State {
    waiting: HashMap<u32, Waiting>,
    next: u32,
    broken: Option<Trouble>,
    /// Whether it was closed because what it was to bring was not wanted any more.
    was_left: bool,
    /// What reads and what writes.
    tasks: Vec<AbortHandle>,
    /// When the server has answered last.
    heard: Option<Instant>,
}

/// The calls that wait for their answers.
#[derive(Default)]
struct Calls(Mutex<State>);

impl Calls {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn answered(&self, xid: u32, answer: Result<Reader, Trouble>) {
        let waiting = {
            let mut state = self.state();
            state.heard = Some(Instant::now());
            state.waiting.remove(&xid)
        };
        if let Some(waiting) = waiting {
            let _ = waiting.answer.send(answer); // the caller may be gone
        }
    }

    /// All calls fail, also those to come.
    fn end(&self, why: &Trouble) {
        let left = {
            let mut state = self.state();
            state.broken.get_or_insert_with(|| why.clone());
            std::mem::take(&mut state.waiting)
        };
        for (_, waiting) in left {
            let _ = waiting.answer.send(Err(why.clone()));
        }
    }

    /// Closes the connection if much of what is on its way is not wanted any more: all else would wait behind it.
    fn leave_unwanted(&self) {
        let unwanted = {
            let state = self.state();
            let all = state.waiting.values();
            let unwanted = all.filter(|waiting| waiting.answer.is_closed());
            unwanted.fold(0_u64, |sum, waiting| sum.saturating_add(waiting.most))
        };
        if unwanted > MOST_UNWANTED {
            self.state().was_left = true;
            let why = "treemill closed the connection, because nothing needs its bytes any more";
            self.close(why);
        }
    }

    fn close(&self, why: &str) {
        let tasks = std::mem::take(&mut self.state().tasks);
        tasks.iter().for_each(AbortHandle::abort);
        self.end(&lost(why));
    }

    /// The room of a call for this number of bytes of data, if it has one.
    fn room(&self, xid: u32, bytes: usize) -> Option<BytesMut> {
        let state = self.state();
        state.waiting.get(&xid)?.room.as_ref()?.take_for(bytes)
    }

    /// Gives a call its answer, and puts the data in the call's room. The data are dropped if no call waits: the room may be
    /// another answer's by then.
    fn filled(&self, xid: u32, answer: Reader, data: BytesMut) {
        if let Some(Waiting {
            room: Some(room), ..
        }) = self.state().waiting.get(&xid)
        {
            room.put(data);
        }
        self.answered(xid, Ok(answer));
    }

    /// Bytes of the largest answer that is due.
    fn most(&self) -> usize {
        let state = self.state();
        let most = state.waiting.values().map(|waiting| waiting.most).max();
        most.map_or(0, |most| usize::try_from(most).unwrap_or(usize::MAX))
    }

    fn is_silent(&self) -> bool {
        let state = self.state();
        let mut all = state.waiting.values();
        all.any(|waiting| waiting.since.elapsed() >= SILENCE)
    }
}

impl Connection {
    /// Connects.
    pub(crate) async fn open(host: &str, port: u16, obey: Obey) -> Result<Self, Trouble> {
        let Connected { socket, took } = connect(host, port, transfer::SILENCE).await?;
        let distance = match socket.peer_addr() {
            Ok(address) if address.ip().is_loopback() => Duration::ZERO,
            _ => took,
        };
        let _ = socket.set_nodelay(true);
        let (from, to) = socket.into_split();
        let (out, queue) = mpsc::unbounded_channel();
        let calls = Arc::new(Calls::default());
        let reading = Listener {
            calls: Arc::clone(&calls),
            out: out.clone(),
            obey,
        };
        calls.state().tasks = vec![
            tokio::spawn(write(to, queue, Arc::clone(&calls))).abort_handle(),
            tokio::spawn(reading.listen(from)).abort_handle(),
        ];
        Ok(Connection {
            distance,
            out,
            calls,
        })
    }

    /// Whether it was closed because what it was to bring was not wanted any more.
    pub(crate) fn was_left(&self) -> bool {
        self.calls.state().was_left
    }

    /// Whether it cannot be used any more.
    pub(crate) fn is_broken(&self) -> bool {
        self.calls.state().broken.is_some()
    }

    /// Whether the server has answered something within this time.
    pub(crate) fn has_answered_within(&self, time: Duration) -> bool {
        let heard = self.calls.state().heard;
        heard.is_some_and(|heard| heard.elapsed() < time)
    }

    /// Sends a COMPOUND, and waits for its results.
    pub(crate) async fn compound(&self, sending: Sending<'_>) -> Result<Reader, Trouble> {
        self.send(sending)?.results().await
    }

    /// Sends a COMPOUND: what is sent later comes behind it.
    pub(crate) fn send(&self, sending: Sending<'_>) -> Result<Answer, Trouble> {
        let compound = Procedure {
            program: NFS,
            version: 4,
            number: 1,
        };
        let (sender, receiver) = oneshot::channel();
        let waiting = Waiting {
            answer: sender,
            since: Instant::now(),
            most: sending.most,
            room: sending.room,
            _hold: sending.hold,
        };
        {
            let mut state = self.calls.state();
            if let Some(why) = &state.broken {
                return Err(why.clone());
            }
            state.next = state.next.wrapping_add(1);
            let xid = state.next;
            state.waiting.insert(xid, waiting);
            // In this order on the wire, too: slots begin in the order of their numbers.
            let _ = self
                .out
                .send(call(xid, compound, sending.credential, sending.arguments));
        }
        let calls = Arc::clone(&self.calls);
        Ok(Answer { receiver, calls })
    }
}

impl Answer {
    /// Waits for the results.
    pub(crate) async fn results(mut self) -> Result<Reader, Trouble> {
        match (&mut self.receiver).await {
            Ok(answer) => answer,
            Err(_) => Err(lost("the connection was given up")),
        }
    }
}

impl Drop for Answer {
    fn drop(&mut self) {
        if self.receiver.is_terminated() {
            return; // it has come
        }
        self.receiver.close();
        self.calls.leave_unwanted();
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.calls.close("the connection was given up");
    }
}

fn lost(what: impl Into<String>) -> Trouble {
    Trouble::new(Kind::Transient, what)
}

async fn write(
    mut socket: OwnedWriteHalf,
    mut queue: mpsc::UnboundedReceiver<Vec<u8>>,
    calls: Arc<Calls>,
) {
    while let Some(mut record) = queue.recv().await {
        // Those that wait go with it: one packet, and one call of the system.
        while record.len() < TOGETHER
            && let Ok(next) = queue.try_recv()
        {
            record.extend(next);
        }
        if let Err(error) = socket.write_all(&record).await {
            calls.end(&lost(format!("the connection broke: {error}")));
            return;
        }
    }
}

/// Reads what comes.
struct Listener {
    calls: Arc<Calls>,
    out: mpsc::UnboundedSender<Vec<u8>>,
    obey: Obey,
}

impl Listener {
    async fn listen(self, socket: OwnedReadHalf) {
        let why = self.until_it_ends(socket).await;
        self.calls.end(&why);
    }

    async fn until_it_ends(&self, mut socket: OwnedReadHalf) -> Trouble {
        let mut intake = Intake::new(usize::try_from(MOST_ANSWER).unwrap_or(usize::MAX));
        loop {
            let mut target = intake.target(self.calls.most());
            match timeout(SILENCE, socket.read_buf(&mut target)).await {
                Err(_) if self.calls.is_silent() => {
                    let what = format!("the server has sent nothing for {} s", SILENCE.as_secs());
                    return Trouble::new(Kind::Silent, what);
                }
                Err(_) => continue,
                Ok(Err(error)) => return lost(format!("the connection broke: {error}")),
                Ok(Ok(0)) => return lost("the server has closed the connection"),
                Ok(Ok(bytes)) => intake.wrote(bytes),
            }
            loop {
                let came = match intake.next(|xid, bytes| self.calls.room(xid, bytes)) {
                    Ok(None) => break,
                    Ok(Some(Came::Record(record))) => self.came(record),
                    Ok(Some(Came::Apart { xid, record, data })) => self.landed(xid, record, data),
                    Err(wrong) => return Trouble::new(Kind::Malformed, wrong.to_string()),
                };
                if let Err(why) = came {
                    return why;
                }
            }
        }
    }

    /// An answer whose data are in their room.
    fn landed(&self, xid: u32, record: Bytes, data: BytesMut) -> Result<(), Trouble> {
        let length = data.len();
        match message(record).map_err(|e| Trouble::new(Kind::Malformed, e.to_string()))? {
            Message::Reply { body: Ok(body), .. } => {
                self.calls.filled(xid, body.without(length), data);
            }
            _ => {
                return Err(Trouble::new(
                    Kind::Malformed,
                    "an answer of the server has changed while it came",
                ));
            }
        }
        Ok(())
    }

    fn came(&self, record: Bytes) -> Result<(), Trouble> {
        let read = message(record).map_err(|e| Trouble::new(Kind::Malformed, e.to_string()))?;
        match read {
            Message::Reply { xid, body } => {
                let body =
                    body.map_err(|refusal| Trouble::new(Kind::Permanent, refusal.to_string()));
                self.calls.answered(xid, body);
            }
            Message::Call {
                xid,
                procedure,
                body,
            } => {
                let answer = answer(procedure, &body, &*self.obey);
                let _ = self.out.send(reply(xid, &answer));
            }
        }
        Ok(())
    }
}
