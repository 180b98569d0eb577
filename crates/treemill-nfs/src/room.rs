//! Memory for the data of one answer: a connection takes it when the data come, and gives it back with them in it, so that they
//! are written once, where they are wanted. Knows no message.

use bytes::BytesMut;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Room that is there, or that a connection has taken. Clones share it.
#[derive(Debug, Clone)]
pub(crate) struct Room(Arc<Mutex<Option<BytesMut>>>);

impl Room {
    /// Room for as many bytes as `empty` has capacity for.
    pub(crate) fn new(empty: BytesMut) -> Self {
        Room(Arc::new(Mutex::new(Some(empty))))
    }

    fn place(&self) -> MutexGuard<'_, Option<BytesMut>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes it, if it is there.
    pub(crate) fn take(&self) -> Option<BytesMut> {
        self.place().take()
    }

    /// Takes it, if it is there and has room for so many bytes.
    pub(crate) fn take_for(&self, bytes: usize) -> Option<BytesMut> {
        self.place()
            .take_if(|room| room.is_empty() && room.capacity() >= bytes)
    }

    /// Gives it back.
    pub(crate) fn put(&self, filled: BytesMut) {
        *self.place() = Some(filled);
    }
}
