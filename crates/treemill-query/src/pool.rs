//! Buffers that are used again from batch to batch, by type.

use crate::limits::{POOL_BUFFERS, POOL_BYTES, POOL_ELEMENTS};
use crate::value::{Buf, Data, Value, View};
use arrow_buffer::ArrowNativeType;
use std::sync::Arc;

/// Buffers at rest. They hold values of earlier uses: the caller that takes one writes all of it.
#[derive(Default)]
pub(crate) struct Pool {
    f64s: Vec<Vec<f64>>,
    i64s: Vec<Vec<i64>>,
    u64s: Vec<Vec<u64>>,
    i32s: Vec<Vec<i32>>,
    u32s: Vec<Vec<u32>>,
    f32s: Vec<Vec<f32>>,
    u8s: Vec<Vec<u8>>,
    /// Bytes at rest.
    bytes: usize,
}

/// Types that are pooled.
pub(crate) trait Pooled: ArrowNativeType + Default {
    /// A value that none mistakes for a result: debug builds fill buffers with it before they are written to.
    const POISON: Self;
    fn of_type(pool: &mut Pool) -> &mut Vec<Vec<Self>>;
}

macro_rules! pooled {
    ($($type:ty => $buffers:ident, $poison:expr;)*) => {
        $(impl Pooled for $type {
            const POISON: Self = $poison;
            fn of_type(pool: &mut Pool) -> &mut Vec<Vec<Self>> { &mut pool.$buffers }
        })*
    };
}
pooled!(
    f64 => f64s, f64::NAN;
    i64 => i64s, i64::MIN + 0x5a5a;
    u64 => u64s, u64::MAX - 0x5a5a;
    i32 => i32s, i32::MIN + 0x5a5a;
    u32 => u32s, u32::MAX - 0x5a5a;
    f32 => f32s, f32::NAN;
    u8 => u8s, 0xa5;
);

impl Pool {
    /// A buffer of `n` elements of any values: the smallest that is large enough, of equal ones the
    /// last that was given back, which is likeliest to be in the cache. A buffer that had to grow
    /// would be copied, and its new pages touched once for nothing.
    pub fn take<T: Pooled>(&mut self, n: usize) -> Vec<T> {
        let mut buffer = self.left_over(n);
        // What is not written would else be what an earlier batch has left, or zeros: plausible numbers.
        if cfg!(debug_assertions) {
            buffer.fill(T::POISON);
        }
        buffer
    }

    fn left_over<T: Pooled>(&mut self, n: usize) -> Vec<T> {
        let buffers = T::of_type(self);
        let fitting = buffers.iter().enumerate().rev();
        let fitting = fitting.filter(|(_, buffer)| buffer.capacity() >= n);
        let Some((place, _)) = fitting.min_by_key(|(_, buffer)| buffer.capacity()) else {
            let mut buffer = vec![T::default(); room(n)];
            buffer.truncate(n);
            return buffer;
        };
        let mut buffer = buffers.remove(place);
        self.bytes -= bytes(&buffer);
        if buffer.len() >= n {
            buffer.truncate(n);
        } else {
            buffer.resize(n, T::default());
        }
        buffer
    }

    /// Keeps the buffer, if this was its last owner.
    pub fn give<T: Pooled>(&mut self, buffer: Buf<T>) {
        if let Buf::Own(shared) = buffer
            && let Ok(vec) = Arc::try_unwrap(shared)
        {
            self.give_vec(vec);
        }
    }

    pub fn give_vec<T: Pooled>(&mut self, vec: Vec<T>) {
        let size = bytes(&vec);
        if vec.capacity() > POOL_ELEMENTS || size == 0 || self.bytes + size > POOL_BYTES {
            return;
        }
        let buffers = T::of_type(self);
        if buffers.len() >= POOL_BUFFERS {
            // Small ones are made anew in less time than large ones.
            let sizes = buffers.iter().map(Vec::capacity).enumerate();
            let Some((place, least)) = sizes.min_by_key(|(_, size)| *size) else {
                return;
            };
            if least >= vec.capacity() {
                return;
            }
            let least = buffers.remove(place);
            buffers.push(vec);
            self.bytes = self.bytes + size - bytes(&least);
            return;
        }
        buffers.push(vec);
        self.bytes += size;
    }

    /// The first `count` elements of a buffer. If these are few they are copied, so that the buffer rests with all of
    /// its elements: what is missing of a buffer must be written when it is taken again.
    pub fn first<T: Pooled>(&mut self, mut vec: Vec<T>, count: usize) -> Vec<T> {
        if count >= vec.len() / 2 {
            vec.truncate(count);
            return vec;
        }
        let mut first = self.take(count);
        first.copy_from_slice(&vec[..count]);
        self.give_vec(vec);
        first
    }

    /// Bytes at rest.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    pub fn give_value(&mut self, value: Value) {
        if let View::Selected(selection_vector) = value.view {
            self.give(selection_vector);
        }
        if let Some(valid) = value.valid {
            self.give(valid);
        }
        match value.data {
            Data::Bool(buffer) | Data::U8(buffer) => self.give(buffer),
            Data::I32(buffer) => self.give(buffer),
            Data::I64(buffer) => self.give(buffer),
            Data::U32(buffer) => self.give(buffer),
            Data::U64(buffer) => self.give(buffer),
            Data::F32(buffer) => self.give(buffer),
            Data::F64(buffer) => self.give(buffer),
            Data::I8(_) | Data::I16(_) | Data::U16(_) | Data::Str(_) => (),
        }
    }
}

/// Elements that a new buffer for `n` has room for, in steps of an eighth: the next batch seldom has as many, and a
/// buffer that is a little too small for it would be made anew, page by page.
fn room(n: usize) -> usize {
    let step = n.next_power_of_two() >> 4;
    match step {
        0 => n,
        step => n.next_multiple_of(step),
    }
}

fn bytes<T>(buffer: &Vec<T>) -> usize {
    buffer.capacity() * size_of::<T>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_smallest_that_is_large_enough_is_taken() {
        let mut pool = Pool::default();
        for size in [10, 1000, 100] {
            pool.give_vec(vec![1.5_f64; size]);
        }
        let taken: Vec<f64> = pool.take(50);
        assert_eq!((taken.len(), taken.capacity()), (50, 100));
        let none: Vec<f64> = pool.take(5000);
        assert_eq!(none.len(), 5000);
        let large: Vec<f64> = pool.take(11);
        assert_eq!(large.capacity(), 1000);
        pool.give_vec(taken);
        assert_eq!(pool.take::<f64>(100).len(), 100);
    }

    #[test]
    fn a_new_buffer_is_large_enough_for_a_little_more() {
        let mut pool = Pool::default();
        for (n, more) in [(100_000, 104_000), (65_537, 73_728), (1 << 20, 1 << 20)] {
            let first: Vec<u32> = pool.take(n);
            let place = first.as_ptr();
            pool.give_vec(first);
            let second: Vec<u32> = pool.take(more);
            assert_eq!((second.len(), second.as_ptr()), (more, place), "{n}");
        }
        assert!((0..100_000).all(|n| (n..=n + n / 8).contains(&room(n))));
    }

    #[test]
    fn a_buffer_of_which_little_is_wanted_stays_whole() {
        let mut pool = Pool::default();
        for (count, left) in [(0, 1), (3, 1), (5, 0), (10, 0)] {
            let first = pool.first((0..10).collect::<Vec<u32>>(), count);
            assert_eq!(first, (0..count as u32).collect::<Vec<_>>());
            assert_eq!(pool.u32s.len(), left, "{count}");
            assert!(pool.u32s.drain(..).all(|buffer| buffer.len() == 10));
            pool.bytes = 0;
        }
    }

    #[test]
    #[cfg(debug_assertions)]
    fn what_is_not_written_is_seen() {
        let mut pool = Pool::default();
        pool.give_vec(vec![1.5_f64; 10]);
        assert!(pool.take::<f64>(10).iter().all(|x| x.is_nan()));
        assert!(
            pool.take::<f64>(10).iter().all(|x| x.is_nan()),
            "new memory, too"
        );
        assert_eq!(pool.take::<u8>(2), [0xa5; 2]);
    }

    #[test]
    fn large_ones_are_kept_before_small_ones() {
        let mut pool = Pool::default();
        for _ in 0..POOL_BUFFERS {
            pool.give_vec(vec![0_u8; 8]);
        }
        pool.give_vec(vec![0_u8; 800]);
        pool.give_vec(vec![0_u8; 4]);
        assert_eq!(pool.u8s.len(), POOL_BUFFERS);
        assert_eq!(pool.take::<u8>(9).capacity(), 800);
        assert_eq!(pool.take::<u8>(9).len(), 9);
    }

    #[test]
    fn all_types_together_are_bounded() {
        let mut pool = Pool::default();
        for _ in 0..POOL_BUFFERS {
            pool.give_vec::<f64>(Vec::with_capacity(POOL_ELEMENTS));
            pool.give_vec::<i64>(Vec::with_capacity(POOL_ELEMENTS));
            pool.give_vec::<u8>(Vec::with_capacity(POOL_ELEMENTS));
        }
        let rest = |pool: &Pool| {
            let f64s: usize = pool.f64s.iter().map(bytes).sum();
            let i64s: usize = pool.i64s.iter().map(bytes).sum();
            f64s + i64s + pool.u8s.iter().map(bytes).sum::<usize>()
        };
        assert!((POOL_BYTES / 2..=POOL_BYTES).contains(&pool.bytes()));
        assert_eq!(rest(&pool), pool.bytes());
        drop(pool.take::<f64>(POOL_ELEMENTS));
        assert_eq!(rest(&pool), pool.bytes());
    }
}
