//! What all requests to one server share, over all of its files: how many are in flight, how wide their connections have
//! become, and whether the server is silent. Knows no request.

use crate::health::Health;
use crate::limits::IN_FLIGHT;
use crate::process::PerProcess;
use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::Semaphore;
use treemill_source::Growth;

type Gates = Mutex<HashMap<String, Arc<Gate>>>;

static GATES: PerProcess<Gates> = PerProcess::new();

/// The gate of a server: the request that asks first enters first.
pub(crate) struct Gate {
    pub(crate) places: Arc<Semaphore>,
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
        if self.places.available_permits().saturating_add(1) >= IN_FLIGHT {
            self.growth().asked(self.now(), round_trip);
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
}
