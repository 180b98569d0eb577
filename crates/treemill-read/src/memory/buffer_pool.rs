//! Buffers that readers leave for later ones when they end: fresh memory costs more than reading into it,
//! because the kernel clears each page. One pool per process, bounded.

use crate::limits::POOL_BYTES;
use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

/// Unused buffers of one type, with arbitrary contents.
#[derive(Debug)]
pub(crate) struct BufferPool<T> {
    rest: Mutex<Rest<T>>,
}

/// Buffers by capacity, so that neither `take` nor `give` visits the others: all readers of the process share
/// this lock.
#[derive(Debug)]
struct Rest<T> {
    buffers: BTreeMap<Capacity, Vec<Vec<T>>>,
    bytes: usize,
}

/// The capacity of buffers, by which they are found. Tests count how often two are compared.
#[derive(Debug, PartialEq, Eq)]
struct Capacity(usize);

impl Ord for Capacity {
    fn cmp(&self, other: &Self) -> Ordering {
        #[cfg(test)]
        tests::COMPARED.with(|compared| compared.set(compared.get().saturating_add(1)));
        self.0.cmp(&other.0)
    }
}

impl PartialOrd for Capacity {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Buffers of stored and of decompressed bytes.
pub(crate) static BYTES: BufferPool<u8> = BufferPool::new();
/// Buffers of the ends of collections' items.
pub(crate) static ENDS: BufferPool<u32> = BufferPool::new();

impl<T> BufferPool<T> {
    const fn new() -> Self {
        BufferPool {
            rest: Mutex::new(Rest {
                buffers: BTreeMap::new(),
                bytes: 0,
            }),
        }
    }

    /// The largest buffer that is here, or a new one.
    pub(crate) fn take(&self) -> Vec<T> {
        let mut rest = self.rest.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(mut largest) = rest.buffers.last_entry() else {
            return Vec::new();
        };
        let buffer = largest.get_mut().pop().unwrap_or_default();
        if largest.get().is_empty() {
            largest.remove();
        }
        rest.bytes = rest.bytes.saturating_sub(bytes(&buffer));
        buffer
    }

    /// Leaves a buffer, if there is room for it.
    pub(crate) fn give(&self, buffer: Vec<T>) {
        let more = bytes(&buffer);
        let mut rest = self.rest.lock().unwrap_or_else(PoisonError::into_inner);
        let all = rest.bytes.saturating_add(more);
        if more > 0 && all <= POOL_BYTES {
            rest.bytes = all;
            rest.buffers
                .entry(Capacity(buffer.capacity()))
                .or_default()
                .push(buffer);
        }
    }
}

fn bytes<T>(buffer: &Vec<T>) -> usize {
    buffer.capacity().saturating_mul(size_of::<T>())
}

#[cfg(test)]
#[allow(clippy::arithmetic_side_effects)]
mod tests {
    use super::*;
    use std::cell::Cell;

    thread_local! {
        /// Capacities that this thread has compared.
        pub(super) static COMPARED: Cell<usize> = const { Cell::new(0) };
    }

    /// 2000 readers' buffers rest: one is found without a look at the others.
    #[test]
    fn a_buffer_is_taken_and_given_without_a_look_at_the_others() {
        let pool: BufferPool<u64> = BufferPool::new();
        for capacity in 1..=2000 {
            pool.give(Vec::with_capacity(capacity));
        }
        let before = COMPARED.with(Cell::get);
        for _ in 0..100 {
            let buffer = pool.take();
            assert_eq!(buffer.capacity(), 2000);
            pool.give(buffer);
        }
        let compared = COMPARED.with(Cell::get) - before;
        // Nodes of a BTreeMap have up to 11 keys: 2000 make at most four levels of them.
        assert!(compared <= 100 * 4 * 11, "{compared} comparisons");
    }

    #[test]
    fn the_largest_buffer_comes_first_and_room_is_bounded() {
        let pool: BufferPool<u64> = BufferPool::new();
        pool.give(Vec::new());
        pool.give(Vec::with_capacity(10));
        pool.give(vec![1; 1000]);
        pool.give(Vec::with_capacity(POOL_BYTES));
        assert_eq!(pool.take(), vec![1; 1000]);
        assert!((10..1000).contains(&pool.take().capacity()));
        assert_eq!(pool.take().capacity(), 0);
        // A buffer that is taken makes room.
        for _ in 0..3 {
            pool.give(Vec::with_capacity(POOL_BYTES / 16));
            pool.give(Vec::with_capacity(POOL_BYTES / 16));
            assert_eq!(pool.take().capacity(), POOL_BYTES / 16);
            assert_eq!(pool.take().capacity(), POOL_BYTES / 16);
        }
    }
}
