//! What all requests to one server share, over all of its files: how many are in flight, how wide their connections have
//! become, and whether the server is silent. Knows no request.

use crate::health::Health;
use crate::limits::{IN_FLIGHT, REST, WIDEN_AFTER, WIDEN_BY};
use crate::process::PerProcess;
use crate::{Kind, Trouble};
use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::sleep;
use treemill_source::Growth;

type Gates = Mutex<HashMap<String, Arc<Gate>>>;

static GATES: PerProcess<Gates> = PerProcess::new();

/// The gate of a server: the request that asks first enters first.
pub(crate) struct Gate {
    pub(crate) places: Arc<Semaphore>,
    /// Places that were given up, because the server refused requests that had them, and its answers since.
    narrowed: Mutex<(usize, usize)>,
    /// Requests that wait for a place.
    waiting: AtomicUsize,
    health: Mutex<Health>,
    growth: Mutex<Growth>,
    begun: Instant,
}

impl Gate {
    fn new() -> Self {
        Gate {
            places: Arc::new(Semaphore::new(IN_FLIGHT)),
            narrowed: Mutex::default(),
            waiting: AtomicUsize::new(0),
            health: Mutex::default(),
            growth: Mutex::default(),
            begun: Instant::now(),
        }
    }

    pub(crate) fn now(&self) -> Duration {
        self.begun.elapsed()
    }

    /// A request is sent, after this place was taken for it.
    pub(crate) fn asked(&self, round_trip: Duration) {
        let narrowed = self.narrowed().0;
        if self.places.available_permits().saturating_add(1) >= IN_FLIGHT.saturating_sub(narrowed) {
            self.growth().asked(self.now(), round_trip);
        }
    }

    fn narrowed(&self) -> MutexGuard<'_, (usize, usize)> {
        self.narrowed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The server has refused a request because it takes no more at once than are in flight beside it: its place is given up, unless
    /// it is the last one, and those that are free.
    fn narrow(&self, place: OwnedSemaphorePermit) -> Option<OwnedSemaphorePermit> {
        let mut narrowed = self.narrowed();
        let free = self.places.forget_permits(IN_FLIGHT);
        *narrowed = (narrowed.0.saturating_add(free), 0);
        if narrowed.0.saturating_add(1) >= IN_FLIGHT {
            return Some(place);
        }
        narrowed.0 = narrowed.0.saturating_add(1);
        place.forget();
        None
    }

    /// The server has answered a request: after some of them it may take a few more at once.
    pub(crate) fn answered(&self) {
        let mut narrowed = self.narrowed();
        if narrowed.0 == 0 {
            return;
        }
        narrowed.1 = narrowed.1.saturating_add(1);
        if narrowed.1 >= WIDEN_AFTER {
            let taken = IN_FLIGHT.saturating_sub(narrowed.0);
            let more = (taken / WIDEN_BY).max(1).min(narrowed.0);
            *narrowed = (narrowed.0.saturating_sub(more), 0);
            self.places.add_permits(more);
        }
    }

    /// The server was given up: it is not the number of requests that it refuses, and what waits for a place need not wait.
    pub(crate) fn widen(&self) {
        let (given_up, _) = std::mem::take(&mut *self.narrowed());
        self.places.add_permits(given_up);
    }

    fn is_narrow(&self) -> bool {
        self.narrowed().0 > 0
    }

    /// The next place that is free, in the order in which they are asked for.
    async fn place(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.places).acquire_owned().await.ok()
    }

    /// A place, if the server takes fewer requests at once than there are places for: what has none would be refused.
    pub(crate) async fn place_in_line(&self) -> Option<OwnedSemaphorePermit> {
        match self.is_narrow() {
            true => self.place().await,
            false => None,
        }
    }

    /// The server has refused a request because it takes no more at once, and answers others: it waits for one of their places, and
    /// has failed in nothing. `Err` if there are no others.
    pub(crate) async fn refused(
        &self,
        place: Option<OwnedSemaphorePermit>,
    ) -> Result<Option<OwnedSemaphorePermit>, Option<OwnedSemaphorePermit>> {
        let place = match place {
            Some(place) => Some(place),
            None => self.place().await,
        };
        match place.and_then(|place| self.narrow(place)) {
            Some(last) => Err(Some(last)),
            None => Ok(self.place().await),
        }
    }

    /// Gives a place to the next request. Where there are few of them, that one needs the connection, too, which is free only a
    /// moment after the end of an answer: another connection would be refused.
    pub(crate) async fn leave(&self, place: Option<OwnedSemaphorePermit>) {
        if place.is_some() && self.is_narrow() {
            sleep(REST).await;
        }
    }

    /// What it means that a request has failed before the first byte of its answer: where the server answers others, that it
    /// takes no more connections at once.
    pub(crate) fn crowded(&self, trouble: Trouble) -> Trouble {
        match trouble.kind {
            Kind::Reset | Kind::Unreachable if self.health().answers(self.now()) => Trouble {
                kind: Kind::Busy,
                ..trouble
            },
            _ => trouble,
        }
    }

    /// What was asked for has come, or a part of it.
    pub(crate) fn heard(&self) {
        self.health().heard(self.now());
    }

    /// An answer has begun to come.
    pub(crate) fn speaks(&self) {
        self.health().speaks(self.now());
    }

    /// Bytes have come.
    pub(crate) fn arrived(&self, bytes: usize) {
        self.growth().arrived(bytes as u64, self.now());
        self.heard();
    }

    /// Bytes that the next round trip brings over one connection that is in use.
    pub(crate) fn window(&self) -> u64 {
        self.growth().window()
    }

    /// Requests begin to wait for places.
    pub(crate) fn queued(&self, requests: usize) {
        self.waiting.fetch_add(requests, Ordering::Relaxed);
    }

    /// A request waits no more.
    pub(crate) fn unqueued(&self) {
        self.waiting.fetch_sub(1, Ordering::Relaxed);
    }

    /// Requests that may be sent at once, beside those that wait.
    pub(crate) fn free(&self) -> usize {
        let free = self.places.available_permits();
        free.saturating_sub(self.waiting.load(Ordering::Relaxed))
    }

    fn growth(&self) -> MutexGuard<'_, Growth> {
        self.growth.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn health(&self) -> MutexGuard<'_, Health> {
        self.health.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The gate of a server in this process.
pub(crate) fn gate(server: &str) -> Arc<Gate> {
    let Ok(gates) = GATES.get(|| Ok::<Gates, std::convert::Infallible>(Mutex::default()));
    let mut gates = gates.lock().unwrap_or_else(PoisonError::into_inner);
    let gate = gates
        .entry(server.to_owned())
        .or_insert_with(|| Arc::new(Gate::new()));
    Arc::clone(gate)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::arithmetic_side_effects)]
mod tests {
    use super::*;

    #[test]
    fn places_that_others_wait_for_are_not_free() {
        let gate = Gate::new();
        gate.queued(IN_FLIGHT - 1);
        assert_eq!(gate.free(), 1);
        gate.unqueued();
        assert_eq!(gate.free(), 2);
        gate.queued(IN_FLIGHT);
        assert_eq!(gate.free(), 0);
    }

    #[test]
    fn a_server_is_asked_as_much_at_once_as_it_takes_and_more_after_a_while() {
        let gate = Gate::new();
        let place = || Arc::clone(&gate.places).try_acquire_owned().unwrap();
        let three = [place(), place(), place()];
        assert!(gate.narrow(place()).is_none());
        drop(three);
        assert_eq!(gate.free(), 3, "those that it has not refused");
        let last = gate.narrow(place());
        assert!(last.is_some(), "one is left");
        assert_eq!(gate.free(), 0);
        drop(last);
        assert_eq!(gate.free(), 1);
        (0..WIDEN_AFTER).for_each(|_| gate.answered());
        assert_eq!(gate.free(), 2);
        (0..IN_FLIGHT * WIDEN_AFTER).for_each(|_| gate.answered());
        assert_eq!(gate.free(), IN_FLIGHT);
    }

    #[test]
    fn a_server_that_resets_connections_takes_few_only_while_it_answers() {
        let gate = Gate::new();
        let kind = |kind| gate.crowded(Trouble::new(kind, "reset")).kind;
        assert_eq!(kind(Kind::Reset), Kind::Reset, "it has never answered");
        gate.heard();
        for refusal in [Kind::Reset, Kind::Unreachable] {
            assert_eq!(kind(refusal), Kind::Busy);
        }
        assert_eq!(kind(Kind::Transient), Kind::Transient, "it said so itself");
    }

    #[test]
    fn a_server_that_is_given_up_is_not_narrow() {
        let gate = Gate::new();
        let place = Arc::clone(&gate.places).try_acquire_owned().unwrap();
        assert!(gate.narrow(place).is_some());
        gate.widen();
        assert_eq!(gate.free(), IN_FLIGHT);
    }
}
