//! What a client knows of data servers: the groups that the metadata server names, and which of them have failed. Knows no
//! connection.

use crate::limits::MOST_SERVERS;
use crate::stripes::Place;
use crate::wire::layout::{Device, DeviceId};
use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;
use treemill_transfer::Health;

/// Data servers.
pub(crate) struct Stores {
    groups: Mutex<HashMap<DeviceId, Device>>,
    /// Those that have failed.
    ill: Mutex<HashMap<SocketAddr, Health<()>>>,
    begun: Instant,
}

impl Stores {
    pub(crate) fn new() -> Self {
        Stores {
            groups: Mutex::default(),
            ill: Mutex::default(),
            begun: Instant::now(),
        }
    }

    fn groups(&self) -> MutexGuard<'_, HashMap<DeviceId, Device>> {
        self.groups.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A group, if it is known.
    pub(crate) fn group(&self, id: &DeviceId) -> Option<Device> {
        self.groups().get(id).cloned()
    }

    /// The server has told of a group.
    pub(crate) fn learn(&self, id: DeviceId, group: Device) {
        self.groups().insert(id, group);
    }

    /// The groups of these places are asked for again when they are wanted.
    pub(crate) fn forget(&self, places: &[Place]) {
        let mut groups = self.groups();
        for place in places {
            groups.remove(&place.device);
        }
    }

    /// All groups are asked for again when they are wanted.
    pub(crate) fn forget_all(&self) {
        self.groups().clear();
    }

    fn ill(&self) -> MutexGuard<'_, HashMap<SocketAddr, Health<()>>> {
        self.ill.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A data server has failed: whether it is the first time.
    pub(crate) fn has_failed(&self, server: SocketAddr) -> bool {
        let (mut ill, now) = (self.ill(), self.begun.elapsed());
        if ill.len() >= MOST_SERVERS {
            ill.retain(|_, health| health.is_avoided(now));
        }
        ill.entry(server).or_default().failed((), now)
    }

    /// A data server has answered.
    pub(crate) fn forgives(&self, server: &SocketAddr) {
        let (mut ill, now) = (self.ill(), self.begun.elapsed());
        if let Some(health) = ill.get_mut(server) {
            health.recovered(now);
            if !health.is_ill() {
                ill.remove(server);
            }
        }
    }

    /// Whether a data server has failed a moment ago.
    pub(crate) fn avoids(&self, server: &SocketAddr) -> bool {
        let now = self.begun.elapsed();
        let ill = self.ill();
        ill.get(server).is_some_and(|health| health.is_avoided(now))
    }
}
