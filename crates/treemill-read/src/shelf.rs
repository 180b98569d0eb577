//! Buffers that readers leave behind when they end, for those that come after: to take fresh memory
//! costs more than to read into it (the kernel clears each page). Of the process, and bounded.

use std::sync::{Mutex, PoisonError};

/// Bytes that stay here at most.
const MOST: usize = 32 << 20;

/// Buffers at rest, of one type. What they hold is left over: whoever takes one writes over it.
#[derive(Debug)]
pub(crate) struct Shelf<T> {
    buffers: Mutex<Vec<Vec<T>>>,
}

/// For stored and for decompressed bytes.
pub(crate) static BYTES: Shelf<u8> = Shelf::new();
/// For ends of collections' items.
pub(crate) static ENDS: Shelf<u32> = Shelf::new();

impl<T> Shelf<T> {
    const fn new() -> Self {
        Shelf {
            buffers: Mutex::new(Vec::new()),
        }
    }

    /// The largest buffer that is here, or a new one.
    pub(crate) fn take(&self) -> Vec<T> {
        let mut buffers = self.buffers.lock().unwrap_or_else(PoisonError::into_inner);
        let largest = (0..buffers.len()).max_by_key(|&i| buffers.get(i).map(Vec::capacity));
        largest.map_or_else(Vec::new, |i| buffers.swap_remove(i))
    }

    /// Leaves a buffer, if there is room for it.
    pub(crate) fn give(&self, buffer: Vec<T>) {
        let bytes = |buffer: &Vec<T>| buffer.capacity().saturating_mul(size_of::<T>());
        let mut buffers = self.buffers.lock().unwrap_or_else(PoisonError::into_inner);
        let here: usize = buffers.iter().map(bytes).sum();
        if bytes(&buffer) > 0 && here.saturating_add(bytes(&buffer)) <= MOST {
            buffers.push(buffer);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_buffer_comes_first_and_room_is_bounded() {
        let shelf: Shelf<u64> = Shelf::new();
        shelf.give(Vec::new());
        shelf.give(Vec::with_capacity(10));
        shelf.give(vec![1; 1000]);
        shelf.give(Vec::with_capacity(MOST));
        assert_eq!(shelf.take(), vec![1; 1000]);
        assert!((10..1000).contains(&shelf.take().capacity()));
        assert_eq!(shelf.take().capacity(), 0);
    }
}
