//! A session at a server: requests in its slots. Knows no file, and not how a session is made.

use crate::claims::Claims;
use crate::connection::{Answer, Connection, Hold, Sending};
use crate::limits::{FEWEST_OPERATIONS, FRAME, MOST_ANSWER, READ_PATIENCE, SLOTS, YOUTH};
use crate::queue::Queue;
use crate::room::Room;
use crate::shares::Load;
use crate::trunk::Trunk;
use crate::wire::compound::{Failure, Operations, Results};
use crate::wire::rpc::Credential;
use crate::wire::session::{Created, Sequenced};
use crate::wire::status::{COMPLETE_ALREADY, Meaning, OK, meaning};
use crate::wire::xdr::{Reader, Writer};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::OwnedMutexGuard;
use tokio::time::{sleep, timeout};
use treemill_transfer::{FAR, Kind, Owed, SILENCE, Trouble, pause};

/// A server that was started anew and kept its sessions wants the files' state claimed again (SEQ4_STATUS_*).
const RECLAIM_NEEDED: u32 = 0x100;

/// A session.
pub(crate) struct Session {
    trunk: Trunk,
    claims: Arc<Claims>,
    /// Whether it is a data server's.
    is_data: bool,
    /// A round trip.
    distance: Duration,
    widening: Arc<tokio::sync::Mutex<()>>,
    credential: Credential,
    minor: u32,
    id: [u8; 16],
    /// The client's number at the server.
    pub(crate) client: u64,
    /// Bytes of one READ, at most.
    pub(crate) read: u32,
    /// Operations of one request, at most, without the SEQUENCE.
    pub(crate) operations: u32,
    queue: Queue,
    ended: AtomicBool,
    /// Whether the server has refused a further connection.
    refused: AtomicBool,
    /// Whether former state must be claimed again.
    stale: AtomicBool,
    used: Mutex<Instant>,
    /// Bytes of data that were asked for.
    asked: AtomicU64,
    /// Bytes of ranges that are wanted and have not come, also those that wait for a slot.
    due: Arc<AtomicU64>,
}

/// What a session takes over from its client.
pub(crate) struct Known {
    pub(crate) credential: Credential,
    pub(crate) minor: u32,
    pub(crate) is_data: bool,
    pub(crate) claims: Arc<Claims>,
}

/// Why a request has no results.
#[derive(Debug)]
pub(crate) enum Lost {
    /// The session has ended: the request may be sent in a new one.
    Session(Trouble),
    /// What a new session would meet, too.
    Trouble(Trouble),
}

impl Session {
    pub(crate) fn new(
        connection: Connection,
        known: Known,
        client: u64,
        created: &Created,
    ) -> Result<Self, Trouble> {
        let fore = created.fore;
        let read = fore.most_answer.min(MOST_ANSWER).saturating_sub(FRAME);
        let slots = fore.slots.clamp(1, SLOTS);
        if read < FRAME || fore.operations < FEWEST_OPERATIONS {
            let what = format!(
                "the server allows {} operations and {} bytes in one answer, which is too little to read",
                fore.operations, fore.most_answer
            );
            return Err(Trouble::new(Kind::Permanent, what));
        }
        let slots = usize::try_from(slots).unwrap_or(1);
        Ok(Session {
            distance: connection.distance,
            widening: Arc::default(),
            trunk: Trunk::new(connection),
            claims: known.claims,
            is_data: known.is_data,
            credential: known.credential,
            minor: known.minor,
            id: created.session,
            client,
            // Whole pages of the server's file system.
            read: read
                .checked_next_power_of_two()
                .map_or(read, |next| match next == read {
                    true => read,
                    false => next / 2,
                }),
            operations: fore.operations.saturating_sub(1),
            queue: Queue::new(slots),
            ended: AtomicBool::new(false),
            refused: AtomicBool::new(false),
            stale: AtomicBool::new(false),
            used: Mutex::new(Instant::now()),
            asked: AtomicU64::new(0),
            due: Arc::default(),
        })
    }

    /// Whether it can be used.
    pub(crate) fn is_good(&self) -> bool {
        !self.ended.load(Ordering::Relaxed) && !self.trunk.is_broken()
    }

    /// Whether the server takes one connection only, or only those beside the first one are broken.
    pub(crate) fn is_too_wide(&self) -> bool {
        self.refused.load(Ordering::Relaxed) || self.trunk.is_too_wide()
    }

    /// What it is like now, for the next range.
    pub(crate) fn load(&self) -> Load {
        Load {
            most: u64::from(self.read),
            width: self.trunk.width() as u64,
            is_young: self.asked.load(Ordering::Relaxed) < YOUTH,
            due: self.due.load(Ordering::Relaxed),
        }
    }

    /// This number of bytes is wanted until the returned value is dropped.
    pub(crate) fn due(&self, bytes: u64) -> Owed {
        Owed::new(&self.due, bytes)
    }

    /// A guard that is kept as long as further connections are on their way.
    pub(crate) fn widening(&self) -> Option<OwnedMutexGuard<()>> {
        Arc::clone(&self.widening).try_lock_owned().ok()
    }

    /// Whether a round trip is worth some trouble.
    pub(crate) fn is_far(&self) -> bool {
        self.distance >= FAR
    }

    /// Waits for further connections that are about to be there, for half a round trip.
    pub(crate) async fn widest(&self) {
        let _ = timeout(self.distance.div_f64(2.0), self.widening.lock()).await;
    }

    /// Takes one more connection, and asks the server to. It is used at once: most servers need not be asked (RFC 8881, section
    /// 2.10.3.1), and the others are asked before anything else comes on it.
    pub(crate) fn widen(&self, connection: Connection) -> Option<Answer> {
        let ask = Operations::default().bind_connection(&self.id);
        let arguments = ask.arguments(self.minor, &Operations::default());
        let asked = connection.send(self.sending(&arguments, 0, None, Box::new(())));
        let answer = asked.ok()?;
        self.trunk.add(connection);
        Some(answer)
    }

    /// Waits for the server's answer to `widen`. If it refuses, the session is not used any more, and the next one has one
    /// connection.
    pub(crate) async fn widened(&self, answer: Answer) {
        if let Ok(Ok(answer)) = timeout(SILENCE, answer.results()).await
            && !Results::new(answer).is_ok_and(|mut results| results.bound().is_ok())
        {
            self.refused.store(true, Ordering::Relaxed);
            self.end();
        }
    }

    /// Whether the server wants former state claimed again.
    pub(crate) fn is_stale(&self) -> bool {
        self.stale.load(Ordering::Relaxed)
    }

    /// It is not used any more.
    pub(crate) fn end(&self) {
        self.ended.store(true, Ordering::Relaxed);
    }

    /// The time since something was asked last.
    pub(crate) fn idle(&self) -> Duration {
        self.used
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .elapsed()
    }

    /// Whether the server has answered something within this time.
    pub(crate) fn has_answered_within(&self, time: Duration) -> bool {
        self.trunk.has_answered_within(time)
    }

    /// Sends operations in the next free slot: their results.
    pub(crate) async fn call(&self, operations: &Operations) -> Result<Results, Lost> {
        let Some(turn) = self.claims.turn().await else {
            return Ok(self.sent(operations, false).await?.0);
        };
        let (mut results, said) = self.sent(operations, true).await?;
        results.uncounted();
        match said {
            OK => {
                turn.end();
                Ok(results)
            }
            COMPLETE_ALREADY => {
                turn.end();
                Ok(self.sent(operations, false).await?.0)
            }
            // A data server need not know the operation.
            status if self.is_data && meaning(status) == Meaning::Final => {
                turn.end();
                Ok(self.sent(operations, false).await?.0)
            }
            status => Ok(results.failed(status)),
        }
    }

    /// Sends operations that claim what was open before the server restarted; RECLAIM_COMPLETE is not sent with them.
    pub(crate) async fn claim(&self, operations: &Operations) -> Result<Results, Lost> {
        Ok(self.sent(operations, false).await?.0)
    }

    /// Sends operations; with `is_last_claim`, the status of RECLAIM_COMPLETE before them.
    async fn sent(
        &self,
        operations: &Operations,
        is_last_claim: bool,
    ) -> Result<(Results, u32), Lost> {
        let taken = Arc::new(self.queue.slot().await.ok_or_else(no_slot)?);
        self.asked.fetch_add(operations.asked(), Ordering::Relaxed);
        let bytes = operations.asked().saturating_add(u64::from(FRAME));
        let mut before = Operations::default().sequence(&self.id, taken.slot);
        if is_last_claim {
            before = before.reclaim_complete();
        }
        let arguments = operations.arguments(self.minor, &before);
        let (begun, mut refusals) = (Instant::now(), 0_u32);
        let (mut results, said) = loop {
            *self.used.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
            let (connection, owed) = self.trunk.soonest(bytes).ok_or_else(no_slot)?;
            let hold = Box::new((Arc::clone(&taken), owed));
            let sent =
                connection.compound(self.sending(&arguments, bytes, operations.room(), hold));
            let reader = sent
                .await
                .map_err(|trouble| match trouble.kind.may_pass() {
                    true => Lost::Session(trouble),
                    false => Lost::Trouble(trouble),
                })?;
            match sequenced(reader) {
                Ok(done) => break done,
                // Nothing was done, and the slot has not gone on: the same is sent again (RFC 8881, section 15.1.1.3).
                Err(failure) if failure.status().map(meaning) == Some(Meaning::Later) => {
                    taken.set_refused(true);
                    if begun.elapsed() > READ_PATIENCE {
                        return Err(Lost::Trouble(trouble(&failure)));
                    }
                    refusals = refusals.saturating_add(1);
                    sleep(pause(refusals)).await;
                    taken.set_refused(false);
                }
                Err(failure) => return Err(self.lost(&failure)),
            }
        };
        self.limit_slots(said.target);
        let slot = taken.slot;
        if said.slot != slot.number {
            self.end();
            return Err(Lost::Trouble(Trouble::new(
                Kind::Permanent,
                "the server has answered in another slot",
            )));
        }
        if said.flags & RECLAIM_NEEDED != 0 {
            self.stale.store(true, Ordering::Relaxed);
            self.end();
        }
        let complete = match is_last_claim {
            true => results
                .complete()
                .map_err(|malformed| self.lost(&malformed.into()))?,
            false => OK,
        };
        Ok((results, complete))
    }

    /// The server wants no slot above this one to be used.
    pub(crate) fn limit_slots(&self, highest: u32) {
        self.queue.limit(highest);
    }

    fn sending<'a>(
        &'a self,
        arguments: &'a Writer,
        most: u64,
        room: Option<Room>,
        hold: Hold,
    ) -> Sending<'a> {
        Sending {
            credential: &self.credential,
            arguments,
            most,
            room,
            hold,
        }
    }

    /// The SEQUENCE has failed for good: nothing was done.
    fn lost(&self, failure: &Failure) -> Lost {
        self.end();
        let trouble = trouble(failure);
        let meaning = failure.status().map(meaning);
        match meaning {
            Some(Meaning::Session | Meaning::Client) => Lost::Session(trouble),
            _ => Lost::Trouble(trouble),
        }
    }

    /// Says that it is not used any more. The server would find out by itself.
    pub(crate) async fn destroy(&self) {
        self.last(Operations::default().destroy_session(&self.id))
            .await;
    }

    /// Says that the client is not there any more, after `destroy`.
    pub(crate) async fn forget(&self, client: u64) {
        self.last(Operations::default().destroy_client(client))
            .await;
    }

    /// Says what needs no session, on one of its connections. A server that does not take it does no harm.
    async fn last(&self, last: Operations) {
        let arguments = last.arguments(self.minor, &Operations::default());
        if let Some((connection, owed)) = self.trunk.soonest(0) {
            let asked = connection.compound(self.sending(&arguments, 0, None, Box::new(owed)));
            let _ = timeout(SILENCE, asked).await;
        }
    }
}

/// The results behind a SEQUENCE that has succeeded.
fn sequenced(reader: Reader) -> Result<(Results, Sequenced), Failure> {
    let mut results = Results::new(reader)?;
    let said = results.sequenced()?;
    Ok((results, said))
}

fn no_slot() -> Lost {
    Lost::Session(Trouble::new(Kind::Transient, "no slot"))
}

/// What a failure means for further attempts.
pub(crate) fn trouble(failure: &Failure) -> Trouble {
    let kind = match failure.status().map(meaning) {
        Some(Meaning::Missing) => Kind::Missing,
        Some(Meaning::Denied) => Kind::Denied,
        Some(Meaning::Later | Meaning::Session | Meaning::Client | Meaning::State) => {
            Kind::Transient
        }
        Some(Meaning::Final | Meaning::Link) | None => Kind::Permanent,
    };
    Trouble::new(kind, failure.to_string())
}
