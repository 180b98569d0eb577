//! Brings the bytes of one part: asks, takes what comes, and asks again for what is missing. Decides nothing:
//! `retry.rs` does.

use crate::carrier::{Body, Carrier, Chunk};
use crate::gate::{Gate, gate};
use crate::health::Health;
use crate::limits::{IN_LINE, SILENCE};
use crate::meter::Meter;
use crate::retry::Retry;
use crate::{Kind, Trouble};
use bytes::{Buf, Bytes, BytesMut};
use std::ops::Range;
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{sleep, timeout};
use treemill_source::Messages;

/// What all requests of a source share.
pub(crate) struct Watch {
    begun: Instant,
    seen: Mutex<Seen>,
    gate: Arc<Gate>,
    messages: Messages,
}

/// What they have seen of their server.
pub(crate) struct Seen {
    pub(crate) meter: Meter,
    health: Health,
}

impl Watch {
    /// `place`: the server's name in reports.
    pub(crate) fn new(meter: Meter, server: &str, place: &str) -> Self {
        Watch {
            begun: Instant::now(),
            seen: Mutex::new(Seen {
                meter,
                health: Health::default(),
            }),
            gate: gate(server),
            messages: Messages::to(place),
        }
    }

    /// A request is sent.
    pub(crate) fn sent(&self) {
        self.messages.sent();
    }

    /// What all requests to the server share.
    pub(crate) fn gate(&self) -> &Gate {
        &self.gate
    }

    pub(crate) fn places(&self) -> Arc<Semaphore> {
        Arc::clone(&self.gate.places)
    }

    pub(crate) fn now(&self) -> Duration {
        self.begun.elapsed()
    }

    pub(crate) fn seen(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn arrived(&self, bytes: usize) {
        let now = self.now();
        let mut seen = self.seen();
        seen.meter.arrived(bytes, now);
        seen.health.heard(now);
        drop(seen);
        self.gate.arrived(bytes);
    }

    /// Why a request that waits since `asked` need not be sent: the server has been given up since, and is silent.
    pub(crate) fn given_up_since(&self, asked: Duration) -> Option<Trouble> {
        self.seen().health.lost_since(asked)
    }

    fn give_up(&self, why: &Trouble) {
        if why.kind.may_pass() {
            let now = self.now();
            self.seen().health.failed(why.clone(), now);
        }
    }
}

/// A request in flight, for the meter.
struct Flight<'a>(&'a Watch);

impl<'a> Flight<'a> {
    fn new(watch: &'a Watch) -> Self {
        let round_trip = watch.seen().meter.costs().round_trip;
        watch.gate().asked(round_trip);
        watch.seen().meter.started(watch.now());
        watch.sent();
        Flight(watch)
    }
}

impl Drop for Flight<'_> {
    fn drop(&mut self) {
        self.0.seen().meter.ended();
    }
}

/// The bytes of `range`, added to `buffer`, by a request that has this place among those to the server.
pub(crate) async fn deliver<C: Carrier>(
    carrier: &C,
    watch: &Watch,
    range: Range<u64>,
    mut buffer: BytesMut,
    place: OwnedSemaphorePermit,
) -> Result<BytesMut, Trouble> {
    let begun = Instant::now();
    let gate = watch.gate();
    let mut retry = gate.health().tries(Retry::new(range), gate.now());
    let mut place = Some(place);
    loop {
        let Err(trouble) = attempt(carrier, watch, &mut retry, begun, &mut buffer).await else {
            gate.answered();
            gate.leave(place).await;
            return Ok(buffer);
        };
        place = again(gate, &mut retry, place, trouble, begun)
            .await
            .inspect_err(|why| watch.give_up(why))?;
    }
}

/// Waits after a failed attempt until the next one is due, as the retry says: the place that it has among the requests to the
/// server. One that takes no more at once is waited for in line.
///
/// # Errors
/// Why there is no further attempt: the trouble, or why the server was given up meanwhile.
async fn again(
    gate: &Gate,
    retry: &mut Retry,
    mut place: Option<OwnedSemaphorePermit>,
    trouble: Trouble,
    begun: Instant,
) -> Result<Option<OwnedSemaphorePermit>, Trouble> {
    if trouble.kind == Kind::Busy {
        let refused = gate.now();
        match gate.refused(place).await {
            Err(last) => place = last,
            Ok(next) => {
                if let Some(why) = gate.health().lost_since(refused) {
                    return Err(why);
                }
                retry.resumed(begun.elapsed());
                return Ok(next);
            }
        }
    }
    let Some(wait) = retry.failed(&trouble, begun.elapsed()) else {
        note(gate, &trouble, retry.waited(begun.elapsed()));
        return Err(trouble);
    };
    sleep(wait).await;
    Ok(place)
}

async fn attempt<C: Carrier>(
    carrier: &C,
    watch: &Watch,
    retry: &mut Retry,
    begun: Instant,
    buffer: &mut BytesMut,
) -> Result<(), Trouble> {
    let _flight = Flight::new(watch);
    let sent = Instant::now();
    let mut room = buffer.split_off(buffer.len());
    let is_busy = |time| carrier.is_busy(time);
    let ask = carrier.ask_into(retry.left(), &mut room);
    let asked = in_line(retry.silence(), sent, ask, is_busy).await;
    buffer.unsplit(room); // what the carrier has not taken
    let mut part = asked.map_err(|trouble| watch.gate().crowded(trouble))?;
    watch.gate().speaks();
    watch.seen().meter.answered(sent.elapsed());
    let before = retry.left().start.checked_sub(part.start);
    let mut skip = before.ok_or_else(|| {
        Trouble::new(
            Kind::Permanent,
            "the server sent other bytes than treemill asked for",
        )
    })?;
    // The beginning of an answer is none of its bytes: those are waited for together.
    let mut since = sent;
    while !retry.left().is_empty() {
        let next = in_line(retry.silence(), since, part.body.next(), is_busy);
        let Some(chunk) = next.await? else {
            return Err(short(&retry.left()));
        };
        since = Instant::now();
        let left = retry.left();
        let wanted = left.end.saturating_sub(left.start);
        let chunk = match chunk {
            Chunk::Placed(placed) if skip == 0 && placed.len() as u64 <= wanted => {
                let gained = placed.len();
                watch.arrived(gained);
                buffer.unsplit(placed); // without a copy, where it stands after the others
                retry.gained(gained as u64, begun.elapsed());
                continue;
            }
            Chunk::Placed(placed) => placed.freeze(),
            Chunk::Bytes(bytes) => bytes,
        };
        watch.arrived(chunk.len());
        let gained = append(buffer, chunk, &mut skip, wanted);
        retry.gained(gained as u64, begun.elapsed());
    }
    part.body.satisfied();
    // The end of the answer, without which the connection cannot be used again.
    let _ = timeout(Duration::from_millis(1), part.body.next()).await;
    Ok(())
}

/// Adds what is wanted of a chunk: how many bytes that were. `skip`: bytes that come before.
fn append(buffer: &mut BytesMut, mut chunk: Bytes, skip: &mut u64, wanted: u64) -> usize {
    let skipped = usize::try_from(*skip)
        .unwrap_or(usize::MAX)
        .min(chunk.len());
    chunk.advance(skipped);
    *skip = skip.saturating_sub(skipped as u64);
    chunk.truncate(usize::try_from(wanted).unwrap_or(usize::MAX));
    buffer.extend_from_slice(&chunk);
    chunk.len()
}

fn short(left: &Range<u64>) -> Trouble {
    let missing = left.end.saturating_sub(left.start);
    let what = format!("the server's answer ends {missing} bytes early");
    Trouble::new(Kind::Transient, what)
}

/// What must show progress in time: within [`SILENCE`].
///
/// # Errors
/// The future's, or that it takes too long.
pub async fn soon<T>(what: impl Future<Output = Result<T, Trouble>>) -> Result<T, Trouble> {
    within(SILENCE, what).await
}

async fn within<T>(
    silence: Duration,
    what: impl Future<Output = Result<T, Trouble>>,
) -> Result<T, Trouble> {
    match timeout(silence, what).await {
        Ok(done) => done,
        Err(_) => Err(silent(silence)),
    }
}

/// Waits as `within` does, since this moment, and longer for a server that is busy with others, as long as a queue is worth it.
async fn in_line<T>(
    silence: Duration,
    since: Instant,
    what: impl Future<Output = Result<T, Trouble>>,
    is_busy: impl Fn(Duration) -> bool,
) -> Result<T, Trouble> {
    let mut what = pin!(what);
    let mut wait = silence.saturating_sub(since.elapsed());
    loop {
        if let Ok(done) = timeout(wait, what.as_mut()).await {
            return done;
        }
        if !is_busy(silence) || since.elapsed() >= IN_LINE {
            return Err(silent(silence));
        }
        wait = silence;
    }
}

fn silent(silence: Duration) -> Trouble {
    let what = format!("the server has sent nothing for {} s", silence.as_secs());
    Trouble::new(Kind::Silent, what)
}

/// The server was given up for this reason, after it had brought nothing for this time.
fn note(gate: &Gate, why: &Trouble, waited: Duration) {
    gate.health().given_up(why, waited, gate.now());
    if matches!(why.kind, Kind::Silent | Kind::Reset | Kind::Unreachable) {
        gate.widen();
    }
}

/// Tries `one` until it succeeds or there is no hope, as ranges of files of this server are tried. Each attempt sees to
/// its own deadlines, by [`soon`]; it is cut short at a server that was silent a moment ago.
///
/// # Errors
/// The last attempt's.
pub async fn insist<T, F: Future<Output = Result<T, Trouble>>>(
    server: &str,
    mut one: impl FnMut() -> F,
) -> Result<T, Trouble> {
    let begun = Instant::now();
    let gate = gate(server);
    let mut retry = gate.health().tries(Retry::new(0..1), gate.now());
    let mut place = gate.place_in_line().await;
    retry.resumed(begun.elapsed());
    loop {
        let done = match retry.is_doubtful() {
            true => within(retry.silence(), one()).await,
            false => one().await,
        };
        let trouble = match done {
            Ok(done) => {
                gate.heard();
                gate.answered();
                gate.leave(place).await;
                return Ok(done);
            }
            Err(trouble) => gate.crowded(trouble),
        };
        place = again(&gate, &mut retry, place, trouble, begun).await?;
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::arithmetic_side_effects)]
mod tests {
    use super::*;
    use std::cell::Cell;
    use std::future::poll_fn;
    use std::task::Poll;

    /// What is there after the third deadline.
    async fn at_last(is_busy: bool) -> Result<(), Trouble> {
        let deadlines = Cell::new(0);
        let what = poll_fn(|_| match deadlines.get() {
            3 => Poll::Ready(Ok(())),
            _ => Poll::Pending,
        });
        let asked = |_| {
            deadlines.set(deadlines.get() + 1);
            is_busy
        };
        in_line(Duration::ZERO, Instant::now(), what, asked).await
    }

    /// What waits is not sent to a server that was given up meanwhile, until its bytes come.
    #[test]
    fn who_waited_while_a_server_was_given_up_does_not_try_too() {
        let watch = Watch::new(Meter::default(), "ill.example:1", "http://ill.example:1");
        let asked = watch.now();
        watch.give_up(&Trouble::new(Kind::Permanent, "no such file"));
        assert_eq!(watch.given_up_since(asked), None, "of that request alone");
        let silent = Trouble::new(Kind::Silent, "nothing came");
        watch.give_up(&silent);
        assert_eq!(watch.given_up_since(asked), Some(silent));
        watch.arrived(1);
        assert_eq!(watch.given_up_since(asked), None);
    }

    #[test]
    fn a_server_that_answers_others_is_waited_for() {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .build()
            .unwrap();
        runtime.block_on(at_last(true)).unwrap();
        let trouble = runtime.block_on(at_last(false)).unwrap_err();
        assert_eq!(trouble.kind, Kind::Silent);
    }
}
