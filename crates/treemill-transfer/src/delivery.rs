//! Brings the bytes of one part: asks, takes what comes, and asks again for what is missing. Decides nothing:
//! `trial.rs` does.

use crate::carrier::{Body, Carrier};
use crate::limits::SILENCE;
use crate::meter::Meter;
use crate::trial::Trial;
use crate::trouble::{Kind, Trouble};
use bytes::{Buf, BytesMut};
use std::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::time::{sleep, timeout};

/// What all requests of a source share.
pub(crate) struct Watch {
    begun: Instant,
    meter: Mutex<Meter>,
    /// When the server was given up last, and why.
    given_up: Mutex<Option<(Duration, Trouble)>>,
}

impl Watch {
    pub(crate) fn new(meter: Meter) -> Self {
        Watch {
            begun: Instant::now(),
            meter: Mutex::new(meter),
            given_up: Mutex::new(None),
        }
    }

    pub(crate) fn now(&self) -> Duration {
        self.begun.elapsed()
    }

    pub(crate) fn meter(&self) -> MutexGuard<'_, Meter> {
        self.meter.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Why a request that waits since `asked` need not be sent: the server has been given up since, and is silent.
    pub(crate) fn given_up_since(&self, asked: Duration) -> Option<Trouble> {
        let held = self.given_up.lock().unwrap_or_else(PoisonError::into_inner);
        let (when, why) = held.as_ref()?;
        (*when > asked && !self.meter().has_moved_since(*when)).then(|| why.clone())
    }

    fn give_up(&self, why: &Trouble) {
        if why.kind == Kind::Transient {
            let mut held = self.given_up.lock().unwrap_or_else(PoisonError::into_inner);
            *held = Some((self.now(), why.clone()));
        }
    }
}

/// A request in flight, for the meter.
struct Flight<'a>(&'a Watch);

impl<'a> Flight<'a> {
    fn new(watch: &'a Watch) -> Self {
        watch.meter().started();
        Flight(watch)
    }
}

impl Drop for Flight<'_> {
    fn drop(&mut self) {
        self.0.meter().ended();
    }
}

/// The bytes of `range`, added to `buffer`.
pub(crate) async fn deliver<C: Carrier>(
    carrier: &C,
    watch: &Watch,
    range: Range<u64>,
    mut buffer: BytesMut,
) -> Result<BytesMut, Trouble> {
    let begun = Instant::now();
    let mut trial = Trial::new(range);
    loop {
        let Err(trouble) = attempt(carrier, watch, &mut trial, begun, &mut buffer).await else {
            return Ok(buffer);
        };
        match trial.failed(&trouble, begun.elapsed()) {
            Some(wait) => sleep(wait).await,
            None => {
                watch.give_up(&trouble);
                return Err(trouble);
            }
        }
    }
}

async fn attempt<C: Carrier>(
    carrier: &C,
    watch: &Watch,
    trial: &mut Trial,
    begun: Instant,
    buffer: &mut BytesMut,
) -> Result<(), Trouble> {
    let _flight = Flight::new(watch);
    let sent = Instant::now();
    let mut part = soon(carrier.ask(trial.left())).await?;
    watch.meter().answered(sent.elapsed());
    let before = trial.left().start.checked_sub(part.start);
    let mut skip =
        before.ok_or_else(|| Trouble::new(Kind::Final, "the server sent other bytes"))?;
    while !trial.left().is_empty() {
        let Some(mut chunk) = soon(part.body.chunk()).await? else {
            return Err(short(&trial.left()));
        };
        watch.meter().arrived(chunk.len(), watch.now());
        let skipped = usize::try_from(skip).unwrap_or(usize::MAX).min(chunk.len());
        chunk.advance(skipped);
        skip = skip.saturating_sub(skipped as u64);
        let left = trial.left();
        let wanted = left.end.saturating_sub(left.start);
        chunk.truncate(usize::try_from(wanted).unwrap_or(usize::MAX));
        buffer.extend_from_slice(&chunk);
        trial.gained(chunk.len() as u64, begun.elapsed());
    }
    part.body.satisfied();
    // The end of the answer, without which the connection cannot be used again.
    let _ = timeout(Duration::from_millis(1), part.body.chunk()).await;
    Ok(())
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
    match timeout(SILENCE, what).await {
        Ok(done) => done,
        Err(_) => Err(Trouble::new(
            Kind::Transient,
            format!("the server has sent nothing for {} s", SILENCE.as_secs()),
        )),
    }
}

/// Tries `one` until it succeeds or there is no hope, as ranges are tried. Each attempt sees
/// to its own deadlines, by [`soon`].
///
/// # Errors
/// The last attempt's.
pub async fn insist<T, F: Future<Output = Result<T, Trouble>>>(
    mut one: impl FnMut() -> F,
) -> Result<T, Trouble> {
    let begun = Instant::now();
    let mut trial = Trial::new(0..1);
    loop {
        match one().await {
            Ok(done) => return Ok(done),
            Err(trouble) => match trial.failed(&trouble, begun.elapsed()) {
                Some(wait) => sleep(wait).await,
                None => return Err(trouble),
            },
        }
    }
}
