//! Memory for the data of one answer: a connection takes it when the data come, and gives it back with them in it, so that they
//! are written once, where they are wanted. Knows no message.

use bytes::BytesMut;
use std::ops::Range;
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

    /// Takes it, if it is there and has room for this number of bytes.
    pub(crate) fn take_for(&self, bytes: usize) -> Option<BytesMut> {
        self.place()
            .take_if(|room| room.is_empty() && room.capacity() >= bytes)
    }

    /// Gives it back.
    pub(crate) fn put(&self, filled: BytesMut) {
        *self.place() = Some(filled);
    }
}

/// The front of a room, for a part of what it is for; memory of its own, if the room is too small.
pub(crate) fn cut(room: &mut BytesMut, part: &Range<u64>) -> BytesMut {
    let length = usize::try_from(part.end.saturating_sub(part.start)).unwrap_or(usize::MAX);
    if !room.is_empty() || room.capacity() < length {
        return BytesMut::with_capacity(length);
    }
    let rest = room.split_off(length);
    std::mem::replace(room, rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is put together again of parts of one room was not copied.
    #[test]
    fn parts_of_a_room_lie_one_behind_the_other() {
        let mut room = BytesMut::with_capacity(10);
        let start = room.as_ptr();
        let (mut front, mut back) = (cut(&mut room, &(0..4)), cut(&mut room, &(4..10)));
        front.extend_from_slice(b"abcd");
        back.extend_from_slice(b"efghij");
        front.unsplit(back);
        assert_eq!((&front[..], front.as_ptr()), (&b"abcdefghij"[..], start));
        assert!(cut(&mut room, &(10..12)).capacity() >= 2, "of its own");
    }
}
