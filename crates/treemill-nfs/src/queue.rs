//! Requests wait for a free slot of their session, one behind the other. Which slots are free, `slots.rs` says. Knows no
//! connection.

use crate::slots::{Change, Slots};
use crate::wire::session::Slot;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The requests that wait for a slot.
pub(crate) struct Queue {
    slots: Arc<Mutex<Slots>>,
    room: Arc<Semaphore>,
}

/// A slot that is in use until this is dropped.
pub(crate) struct Taken {
    pub(crate) slot: Slot,
    slots: Arc<Mutex<Slots>>,
    /// Whether the server has not taken the request: the slot's next one has its number.
    is_refused: AtomicBool,
    /// Given back after the slot is free.
    permit: Option<OwnedSemaphorePermit>,
}

fn locked(slots: &Mutex<Slots>) -> MutexGuard<'_, Slots> {
    slots.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Queue {
    /// The queue of a session with `slots` slots.
    pub(crate) fn new(slots: usize) -> Self {
        Queue {
            slots: Arc::new(Mutex::new(Slots::new(slots))),
            room: Arc::new(Semaphore::new(slots)),
        }
    }

    /// A free slot, which is waited for.
    pub(crate) async fn slot(&self) -> Option<Taken> {
        let permit = Arc::clone(&self.room).acquire_owned().await.ok()?;
        Some(Taken {
            slot: locked(&self.slots).take()?, // there are as many permits as slots
            slots: Arc::clone(&self.slots),
            is_refused: AtomicBool::new(false),
            permit: Some(permit),
        })
    }

    /// The server wants no slot above this one to be used.
    pub(crate) fn limit(&self, highest: u32) {
        let mut slots = locked(&self.slots);
        match slots.target(highest) {
            Change::More(more) => self.room.add_permits(more),
            Change::Less(less) => {
                let free = self.room.forget_permits(less);
                slots.less(free);
            }
        }
    }
}

impl Taken {
    /// The server has not taken the request, or it is sent again (`false`).
    pub(crate) fn set_refused(&self, is_refused: bool) {
        self.is_refused.store(is_refused, Ordering::Relaxed);
    }
}

impl Drop for Taken {
    fn drop(&mut self) {
        let mut slots = locked(&self.slots);
        match *self.is_refused.get_mut() {
            true => slots.refused(self.slot.number),
            false => slots.answered(self.slot.number),
        }
        if slots.is_over_target()
            && let Some(permit) = self.permit.take()
        {
            permit.forget();
        }
    }
}
