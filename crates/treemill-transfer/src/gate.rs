//! What all requests to one server share, over all of its files: how many are in flight, how wide their connections have
//! become, and whether the server is silent. Knows no request.

use crate::health::Health;
use crate::limits::{IN_FLIGHT, WIDEN_AFTER};
use crate::process::PerProcess;
use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
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

    /// The server has refused a request because it takes no more at once: its place is given up, unless it is the last one.
    pub(crate) fn narrow(&self, place: OwnedSemaphorePermit) -> Option<OwnedSemaphorePermit> {
        let mut narrowed = self.narrowed();
        if narrowed.0.saturating_add(1) >= IN_FLIGHT {
            return Some(place);
        }
        *narrowed = (narrowed.0.saturating_add(1), 0);
        place.forget();
        None
    }

    /// The server has answered a request: after some of them it may take one more at once.
    pub(crate) fn answered(&self) {
        let mut narrowed = self.narrowed();
        if narrowed.0 == 0 {
            return;
        }
        narrowed.1 = narrowed.1.saturating_add(1);
        if narrowed.1 >= WIDEN_AFTER {
            *narrowed = (narrowed.0.saturating_sub(1), 0);
            self.places.add_permits(1);
        }
    }

    /// Bytes have come.
    pub(crate) fn arrived(&self, bytes: usize) {
        self.growth().arrived(bytes as u64, self.now());
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
    fn a_place_whose_request_was_refused_is_given_up_for_a_while() {
        let gate = Gate::new();
        let place = || Arc::clone(&gate.places).try_acquire_owned().unwrap();
        assert!((1..IN_FLIGHT).all(|_| gate.narrow(place()).is_none()));
        assert_eq!(gate.free(), 1);
        let last = gate.narrow(place());
        assert!(last.is_some(), "one is left");
        drop(last);
        (0..WIDEN_AFTER).for_each(|_| gate.answered());
        assert_eq!(gate.free(), 2);
        (0..IN_FLIGHT * WIDEN_AFTER).for_each(|_| gate.answered());
        assert_eq!(gate.free(), IN_FLIGHT);
    }
}
