//! Buffers that records are read into, used again when their bytes are needed no more: new memory is cleared, page by page,
//! which takes as long as the read itself. Small ones are made anew: the allocator has them at hand, and thousands at rest would
//! take long to look through. Threads share them. Knows no files.

use crate::Bytes;
use crate::limits::{AT_REST, REST_BYTES};
use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

/// Buffers at rest, the oldest first, with their number of bytes in all.
struct Rest {
    buffers: VecDeque<Vec<u8>>,
    bytes: usize,
}

static REST: Mutex<Rest> = Mutex::new(Rest {
    buffers: VecDeque::new(),
    bytes: 0,
});

fn with<T>(work: impl FnOnce(&mut Rest) -> T) -> T {
    work(&mut REST.lock().unwrap_or_else(PoisonError::into_inner))
}

impl Rest {
    /// Takes the smallest buffer for that many bytes. A buffer that is more than twice as large stays, because the bytes may be
    /// held for long.
    fn fitting(&mut self, length: usize) -> Option<Vec<u8>> {
        let range = length..=length.saturating_mul(2);
        let sizes = self.buffers.iter().map(Vec::len).enumerate();
        let fitting = sizes.filter(|(_, size)| range.contains(size));
        let (place, size) = fitting.min_by_key(|(_, size)| *size)?;
        self.bytes = self.bytes.saturating_sub(size);
        self.buffers.remove(place)
    }

    /// Keeps a buffer in place of the oldest ones.
    fn keep(&mut self, buffer: Vec<u8>) {
        self.bytes = self.bytes.saturating_add(buffer.len());
        self.buffers.push_back(buffer);
        while self.bytes > REST_BYTES
            && let Some(oldest) = self.buffers.pop_front()
        {
            self.bytes = self.bytes.saturating_sub(oldest.len());
        }
    }
}

/// Memory for some bytes, which are any until they are written. It rests when it is dropped.
pub(crate) struct Buffer {
    all: Vec<u8>,
    length: usize,
}

impl Buffer {
    pub(crate) fn new(length: usize) -> Self {
        let room = room(length);
        let known = AT_REST
            .contains(&room)
            .then(|| with(|rest| rest.fitting(length)));
        Buffer {
            all: known.flatten().unwrap_or_else(|| vec![0; room]),
            length,
        }
    }

    pub(crate) fn as_mut(&mut self) -> &mut [u8] {
        self.all.get_mut(..self.length).unwrap_or_default()
    }

    /// What was written, shared. The buffer rests when nothing shares it any more.
    pub(crate) fn into_bytes(self) -> Bytes {
        Bytes::from_owner(self)
    }
}

impl AsRef<[u8]> for Buffer {
    fn as_ref(&self) -> &[u8] {
        self.all.get(..self.length).unwrap_or_default()
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        let buffer = std::mem::take(&mut self.all);
        if AT_REST.contains(&buffer.len()) {
            with(|rest| rest.keep(buffer));
        }
    }
}

/// Bytes of a new buffer, in steps of an eighth: the next record is seldom exactly as long.
fn room(length: usize) -> usize {
    match length.checked_next_power_of_two().map(|power| power >> 4) {
        None | Some(0) => length,
        Some(step) => length.next_multiple_of(step),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rest() -> Rest {
        Rest {
            buffers: VecDeque::new(),
            bytes: 0,
        }
    }

    fn sizes(rest: &Rest) -> Vec<usize> {
        rest.buffers.iter().map(Vec::len).collect()
    }

    #[test]
    fn the_smallest_that_fits_is_taken_and_none_that_is_much_larger() {
        let mut rest = rest();
        for size in [300, 100, 200] {
            rest.keep(vec![0; size]);
        }
        assert_eq!(rest.fitting(150).map(|buffer| buffer.len()), Some(200));
        assert_eq!(rest.fitting(150).map(|buffer| buffer.len()), Some(300));
        assert_eq!(rest.fitting(49), None);
        assert_eq!(rest.fitting(101), None);
        assert_eq!((sizes(&rest), rest.bytes), (vec![100], 100));
    }

    #[test]
    fn the_oldest_go_when_there_are_too_many_bytes() {
        let mut rest = rest();
        for size in [REST_BYTES / 2, REST_BYTES / 2 - 1, 2] {
            rest.keep(vec![0; size]);
        }
        assert_eq!(sizes(&rest), [REST_BYTES / 2 - 1, 2]);
        assert_eq!(rest.bytes, REST_BYTES / 2 + 1);
    }

    #[test]
    fn a_new_buffer_has_room_for_a_little_more() {
        let rooms = [0, 7, 1000, 1024, 1025].map(room);
        assert_eq!(rooms, [0, 7, 1024, 1024, 1152]);
        assert!((1..100_000).all(|n| (n..=n + n / 8).contains(&room(n))));
    }

    #[test]
    fn bytes_that_are_shared_are_not_written_over() {
        const LENGTH: usize = 100_000;
        let written = |value: u8| {
            let mut buffer = Buffer::new(LENGTH);
            buffer.as_mut().fill(value);
            buffer.into_bytes()
        };
        let first = written(1);
        let part = first.slice(10..20);
        drop(first);
        let others: Vec<Bytes> = (2..5).map(written).collect();
        assert_eq!(part, [1; 10][..]);
        for (value, bytes) in (2..5).zip(&others) {
            assert_eq!(*bytes, [value; LENGTH][..]);
        }
    }
}
