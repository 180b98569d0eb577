//! A place for one outcome, which one thread fills and another waits for. Knows no protocol.

use crate::error::Error;
use crate::stream::Outcome;
use std::sync::{Arc, Condvar, Mutex, PoisonError};

#[derive(Default)]
struct Slot {
    outcome: Mutex<Option<Result<Outcome, Error>>>,
    bell: Condvar,
}

/// One side of a slot: the connection's thread fills one copy, the caller waits on the other.
#[derive(Clone, Default)]
pub(crate) struct Ticket(Arc<Slot>);

impl Ticket {
    pub(crate) fn fill(&self, outcome: Result<Outcome, Error>) {
        let mut place = self
            .0
            .outcome
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        place.get_or_insert(outcome);
        self.0.bell.notify_all();
    }

    /// Waits for the outcome. It always comes: the connection's thread obeys the deadlines.
    pub(crate) fn wait(self) -> Result<Outcome, Error> {
        let mut place = self
            .0
            .outcome
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        loop {
            if let Some(outcome) = place.take() {
                return outcome;
            }
            place = self
                .0
                .bell
                .wait(place)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }
}
