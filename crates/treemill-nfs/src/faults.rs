//! Which data servers have failed, and for how long they are left alone. Time comes in. Pure.

use crate::limits::{AVOIDED, MOST_SERVERS};
use std::collections::HashMap;
use std::net::SocketAddr;
use std::time::Duration;

/// Data servers that have failed, by their addresses.
///
/// ```
/// use std::time::Duration;
/// use treemill_nfs::faults::Faults;
///
/// let (mut faults, server) = (Faults::default(), "10.0.0.7:2049".parse().unwrap());
/// let second = Duration::from_secs(1);
/// assert!(!faults.is_avoided(&server, second));
/// assert!(faults.note(server, second), "it is the first fault");
/// assert!(faults.is_avoided(&server, second * 2));
/// assert!(!faults.is_avoided(&server, second * 100), "it is tried again");
/// faults.forgive(&server, second * 2);
/// assert!(!faults.note(server, second * 100), "it has not recovered");
/// faults.forgive(&server, second * 200);
/// assert!(faults.note(server, second * 300));
/// ```
#[derive(Debug, Default)]
pub struct Faults {
    /// When each of them has failed last.
    last: HashMap<SocketAddr, Duration>,
}

impl Faults {
    /// A server has failed: whether it is the first time.
    pub fn note(&mut self, server: SocketAddr, now: Duration) -> bool {
        if self.last.len() >= MOST_SERVERS {
            self.last
                .retain(|_, then| now.saturating_sub(*then) < AVOIDED);
        }
        self.last.insert(server, now).is_none()
    }

    /// A server has given what was asked for: it has recovered, if its last fault was not a moment ago.
    pub fn forgive(&mut self, server: &SocketAddr, now: Duration) {
        if !self.is_avoided(server, now) {
            self.last.remove(server);
        }
    }

    /// Whether a server has failed a moment ago.
    #[must_use]
    pub fn is_avoided(&self, server: &SocketAddr, now: Duration) -> bool {
        let then = self.last.get(server);
        then.is_some_and(|then| now.saturating_sub(*then) < AVOIDED)
    }
}
