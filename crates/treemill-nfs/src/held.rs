//! What a server has given for a file that is open: its handle and its state, which may have to be got again. Knows no
//! connection.

use crate::placement::{Layout, Placement};
use crate::wire::attributes::Attributes;
use crate::wire::compound::StateId;
use bytes::Bytes;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A file that is open.
pub(crate) struct Held {
    /// The names on the way to it.
    pub(crate) names: Vec<String>,
    /// The file as it was when it was opened first.
    pub(crate) known: Attributes,
    given: Mutex<Given>,
    /// Where its bytes lie, for all readers that have it open.
    pub(crate) placement: Arc<Placement>,
}

#[derive(Clone)]
struct Given {
    handle: Bytes,
    state: Option<StateId>,
    /// How often it was given.
    turn: u64,
}

impl Held {
    pub(crate) fn new(
        names: Vec<String>,
        known: Attributes,
        state: StateId,
        placement: Arc<Placement>,
    ) -> Self {
        let given = Given {
            handle: placement.handle.clone(),
            state: Some(state),
            turn: 0,
        };
        Held {
            names,
            known,
            given: Mutex::new(given),
            placement,
        }
    }

    fn given(&self) -> MutexGuard<'_, Given> {
        self.given.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The handle, the state if there is one, and the turn in which they were given.
    pub(crate) fn now(&self) -> (Bytes, Option<StateId>, u64) {
        let given = self.given();
        (given.handle.clone(), given.state, given.turn)
    }

    /// It was opened again.
    pub(crate) fn renew(&self, handle: Bytes, state: StateId) {
        let mut given = self.given();
        given.handle = handle;
        given.state = Some(state);
        given.turn = given.turn.wrapping_add(1);
    }

    /// The server has forgotten its state.
    pub(crate) fn lose(&self) {
        self.given().state = None;
        self.placement.set(Layout::Unknown);
    }

    /// The server has forgotten its state, unless the file was opened again since that turn.
    pub(crate) fn lose_since(&self, turn: u64) {
        let mut given = self.given();
        if given.turn == turn {
            given.state = None;
        }
    }

    /// Whether attributes that came later are those of the same bytes.
    pub(crate) fn is_same(&self, now: &Attributes) -> bool {
        let known = &self.known;
        let same_file = now.file_id.is_none_or(|id| known.file_id == Some(id));
        // The change is another one after a change of rights, too.
        let same_bytes = now.change == known.change || now.modified == known.modified;
        same_file && same_bytes && now.size == known.size
    }
}
