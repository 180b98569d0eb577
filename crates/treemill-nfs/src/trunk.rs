//! The connections of one session: each request goes to the one that is done with it first, for a far connection brings few
//! bytes at first, and may have a limit of its own. Knows no operation.

use crate::connection::Connection;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use treemill_transfer::{Backlog, Owed, soonest};

/// The connections, the one that the session was made on first.
pub(crate) struct Trunk(Mutex<Vec<Line>>);

struct Line {
    connection: Arc<Connection>,
    owed: Arc<AtomicU64>,
}

impl Line {
    fn new(connection: Connection) -> Self {
        Line {
            connection: Arc::new(connection),
            owed: Arc::default(),
        }
    }
}

impl Trunk {
    pub(crate) fn new(first: Connection) -> Self {
        Trunk(Mutex::new(vec![Line::new(first)]))
    }

    fn lines(&self) -> MutexGuard<'_, Vec<Line>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// One more connection.
    pub(crate) fn add(&self, connection: Connection) {
        self.lines().push(Line::new(connection));
    }

    /// The connection for a request whose answer has about `bytes` bytes.
    pub(crate) fn soonest(&self, bytes: u64) -> Option<(Arc<Connection>, Owed)> {
        let lines = self.lines();
        let load = |line: &Line| Backlog {
            busy: line.owed.load(Ordering::Relaxed),
            window: 1, // all of them have the same, as far as is known
        };
        let line = lines.get(soonest(lines.iter().map(load), bytes)?)?;
        Some((Arc::clone(&line.connection), Owed::new(&line.owed, bytes)))
    }

    /// Whether one of them cannot be used any more. The requests that were sent on it are in doubt, and their slots with them.
    pub(crate) fn is_broken(&self) -> bool {
        let lines = self.lines();
        lines.iter().any(|line| line.connection.is_broken())
    }

    /// Whether one of them broke, but not the first one: the server does not take several, or the way does not.
    pub(crate) fn is_too_wide(&self) -> bool {
        let lines = self.lines();
        let broke = |line: &Line| line.connection.is_broken() && !line.connection.was_left();
        !lines.first().is_some_and(broke) && lines.iter().any(broke)
    }

    /// How many there are.
    pub(crate) fn width(&self) -> usize {
        self.lines().len()
    }

    /// Whether the server has answered something within this time.
    pub(crate) fn has_answered_within(&self, time: Duration) -> bool {
        let lines = self.lines();
        lines
            .iter()
            .any(|line| line.connection.has_answered_within(time))
    }
}
