//! What all requests to one server share, over all of its files: how many are in flight, and whether it is silent. Knows
//! no request.

use crate::health::Health;
use crate::limits::IN_FLIGHT;
use crate::process::PerProcess;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::Semaphore;

type Gates = Mutex<HashMap<String, Arc<Gate>>>;

static GATES: PerProcess<Gates> = PerProcess::new();

/// The gate of a server: the request that asks first enters first.
pub(crate) struct Gate {
    pub(crate) places: Arc<Semaphore>,
    health: Mutex<Health>,
    begun: Instant,
}

impl Gate {
    fn new() -> Self {
        Gate {
            places: Arc::new(Semaphore::new(IN_FLIGHT)),
            health: Mutex::default(),
            begun: Instant::now(),
        }
    }

    pub(crate) fn now(&self) -> Duration {
        self.begun.elapsed()
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
