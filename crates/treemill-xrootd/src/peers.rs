//! The sessions of clients that share them. Each client has a connection of its own to a server, for the sake of speed; a
//! server, or a firewall before it, that takes no further connection serves all clients by those that it has taken.

use crate::session::Session;
use crate::url::Server;
use std::collections::HashMap;
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};
use tokio::sync::Notify;
use tokio::time::timeout;

/// The key of a session: the server, the user, and whether it must be encrypted.
pub(crate) type Key = (Server, String, bool);

/// The sessions of clients that share them, by server and user.
#[derive(Default)]
pub struct Peers {
    state: Mutex<HashMap<Key, Known>>,
    bell: Notify,
}

#[derive(Default)]
struct Known {
    made: Vec<Weak<Session>>,
    /// Sessions that are being made.
    due: usize,
}

/// A session that is being made, until this is dropped.
pub(crate) struct Making<'a> {
    peers: &'a Peers,
    key: Key,
}

impl Peers {
    fn state(&self) -> MutexGuard<'_, HashMap<Key, Known>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A client begins to make a session.
    pub(crate) fn begin(&self, key: &Key) -> Making<'_> {
        let mut state = self.state();
        let known = state.entry(key.clone()).or_default();
        known.due = known.due.saturating_add(1);
        Making {
            peers: self,
            key: key.clone(),
        }
    }

    /// A session of another client; those that are being made are waited for, within `limit`. The caller makes none itself.
    pub(crate) async fn other(&self, key: &Key, limit: Duration) -> Option<Arc<Session>> {
        let begun = Instant::now();
        loop {
            let mut rings = pin!(self.bell.notified());
            rings.as_mut().enable(); // also if it rings before it is waited for
            let (found, due) = self.known(key)?;
            let left = limit.saturating_sub(begun.elapsed());
            if found.is_some() || due == 0 || left.is_zero() {
                return found;
            }
            let _ = timeout(left, rings).await;
        }
    }

    /// A session of another client that can be used, and how many are being made.
    fn known(&self, key: &Key) -> Option<(Option<Arc<Session>>, usize)> {
        let state = self.state();
        let known = state.get(key)?;
        let all: Vec<_> = known.made.iter().filter_map(Weak::upgrade).collect();
        let due = known.due;
        drop(state); // before sessions, whose end calls others
        let found = all.into_iter().find(|session| !session.is_broken());
        Some((found, due))
    }
}

impl Making<'_> {
    /// The session is made.
    pub(crate) fn made(self, session: &Arc<Session>) {
        let mut state = self.peers.state();
        let known = state.entry(self.key.clone()).or_default();
        known.made.retain(|other| other.strong_count() > 0);
        known.made.push(Arc::downgrade(session));
    }
}

impl Drop for Making<'_> {
    fn drop(&mut self) {
        let mut state = self.peers.state();
        if let Some(known) = state.get_mut(&self.key) {
            known.due = known.due.saturating_sub(1);
        }
        drop(state);
        self.peers.bell.notify_waiters();
    }
}
