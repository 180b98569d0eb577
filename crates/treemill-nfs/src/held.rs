//! What a server has given for a file that is open: its handle and its state, which may have to be got again. Knows no
//! connection.

use crate::laid::Laid;
use crate::wire::attributes::Attributes;
use crate::wire::compound::StateId;
use bytes::Bytes;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A file that is open.
pub(crate) struct Held {
    /// The names on the way to it.
    pub(crate) names: Vec<String>,
    /// The file as it was when it was opened first.
    pub(crate) known: Attributes,
    given: Mutex<Given>,
    layout: Mutex<Layout>,
    /// How many layouts were asked for.
    layouts: AtomicU32,
    /// Whether small ranges are read from the metadata server, because the data servers are not connected to yet.
    is_beginning: AtomicBool,
}

/// What is known of where the file's bytes lie.
#[derive(Clone)]
pub(crate) enum Layout {
    /// It was not asked for.
    Unknown,
    /// All are read from the server itself.
    None,
    /// At data servers.
    There(Arc<Laid>),
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
        handle: Bytes,
        state: StateId,
    ) -> Self {
        let given = Given {
            handle,
            state: Some(state),
            turn: 0,
        };
        Held {
            names,
            known,
            given: Mutex::new(given),
            layout: Mutex::new(Layout::Unknown),
            layouts: AtomicU32::new(0),
            is_beginning: AtomicBool::new(false),
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
        self.set_layout(Layout::Unknown);
    }

    /// What is known of the layout.
    pub(crate) fn layout(&self) -> Layout {
        self.layout
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// Something else is known of the layout: what was known before.
    pub(crate) fn set_layout(&self, layout: Layout) -> Layout {
        let mut held = self.layout.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::replace(&mut held, layout)
    }

    /// The data servers are connected to from now on, or they are (`false`).
    pub(crate) fn set_beginning(&self, is_beginning: bool) {
        self.is_beginning.store(is_beginning, Ordering::Relaxed);
    }

    /// Whether the data servers are being connected to.
    pub(crate) fn is_beginning(&self) -> bool {
        self.is_beginning.load(Ordering::Relaxed)
    }

    /// A layout is asked for: how many these are now.
    pub(crate) fn count_layout(&self) -> u32 {
        self.layouts
            .fetch_add(1, Ordering::Relaxed)
            .saturating_add(1)
    }

    /// The next read asks for another layout: whether this one was the one that is known.
    pub(crate) fn replace(&self, old: &Arc<Laid>) -> bool {
        let mut held = self.layout.lock().unwrap_or_else(PoisonError::into_inner);
        let is_known = matches!(&*held, Layout::There(laid) if Arc::ptr_eq(laid, old));
        if is_known {
            *held = Layout::Unknown;
        }
        is_known
    }

    /// The same, if it was not opened again since that turn.
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
