//! How many requests are in flight to a server, over all of its files. Knows no request.

use crate::limits::IN_FLIGHT;
use crate::process::PerProcess;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::Semaphore;

type Gates = Mutex<HashMap<String, Arc<Semaphore>>>;

static GATES: PerProcess<Gates> = PerProcess::new();

/// The gate of a server in this process: who asks first enters first.
pub(crate) fn gate(server: &str) -> Arc<Semaphore> {
    let new = || Arc::new(Semaphore::new(IN_FLIGHT));
    let Ok(gates) = GATES.get(|| Ok::<Gates, std::convert::Infallible>(Mutex::default()));
    let mut gates = gates.lock().unwrap_or_else(PoisonError::into_inner);
    Arc::clone(gates.entry(server.to_owned()).or_insert_with(new))
}
