//! Memory of large results, reused once their arrays are gone: the kernel clears every page of fresh memory
//! when it is first written to, which takes longer than decoding into it. One pool per process, bounded; small
//! results are left to the allocator.

use crate::limits::{MOST_RESULTS, RESULT_BYTES, RESULT_SLACK, RESULTS_BYTES};
use arrow_buffer::{ArrowNativeType, Buffer, ScalarBuffer};
use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

/// Handles on the latest large results, the oldest first. Other owners may still hold them.
#[derive(Debug)]
pub(crate) struct Results {
    held: Mutex<VecDeque<Buffer>>,
}

/// The pool of the process.
pub(crate) static RESULTS: Results = Results::new();

impl Results {
    const fn new() -> Self {
        Results {
            held: Mutex::new(VecDeque::new()),
        }
    }

    /// An empty vector with room for `capacity` values. It takes the memory of a result of such a size that is gone,
    /// else new memory.
    pub(crate) fn vec<T: ArrowNativeType>(&self, capacity: usize) -> Vec<T> {
        let bytes = capacity.saturating_mul(size_of::<T>());
        let found = (bytes >= RESULT_BYTES).then(|| self.take(bytes)).flatten();
        let mut values = found.unwrap_or_default();
        values.clear();
        values.reserve_exact(capacity);
        values
    }

    fn take<T: ArrowNativeType>(&self, bytes: usize) -> Option<Vec<T>> {
        let fits = bytes..=bytes.saturating_mul(RESULT_SLACK);
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        // One rotation, after which the handles that stay are in their order again.
        let mut found = None;
        for _ in 0..held.len() {
            let buffer = held.pop_front()?;
            if found.is_some() || buffer.strong_count() > 1 || !fits.contains(&buffer.capacity()) {
                held.push_back(buffer);
                continue;
            }
            match buffer.into_vec() {
                Ok(values) => found = Some(values),
                // Its alignment differs, or its memory is not Rust's.
                Err(buffer) => held.push_back(buffer),
            }
        }
        found
    }

    /// Remembers the buffer of a result, if it is large.
    pub(crate) fn hold(&self, buffer: Buffer) {
        if !(RESULT_BYTES..=RESULTS_BYTES).contains(&buffer.capacity()) {
            return;
        }
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        held.push_back(buffer);
        let mut bytes: usize = held.iter().map(Buffer::capacity).sum();
        while bytes > RESULTS_BYTES || held.len() > MOST_RESULTS {
            bytes = bytes.saturating_sub(held.pop_front().map_or(bytes, |b| b.capacity()));
        }
    }
}

/// Offsets with 64 bits, beginning with 0, from those of an array or a part of one. Reuses the memory of a
/// result that is gone, if there is one.
#[must_use]
pub fn wide_offsets(offsets: &[i32]) -> ScalarBuffer<i64> {
    let first = i64::from(offsets.first().copied().unwrap_or(0));
    let mut wide = RESULTS.vec::<i64>(offsets.len());
    wide.extend(offsets.iter().map(|&at| i64::from(at).wrapping_sub(first)));
    let wide = ScalarBuffer::from(wide);
    RESULTS.hold(wide.inner().clone());
    wide
}

#[cfg(test)]
mod tests {
    use super::*;

    const MANY: usize = 2 * RESULT_BYTES;

    #[test]
    fn memory_of_results_that_are_gone_is_used_again() {
        let results = Results::new();
        let first = vec![1.0_f32; MANY];
        let at = first.as_ptr();
        let buffer = Buffer::from_vec(first);
        results.hold(buffer.clone());
        let other = results.vec::<f32>(MANY);
        assert_ne!(other.as_ptr(), at, "another owner holds it");
        drop(buffer);
        let other = results.vec::<f64>(MANY / 2);
        assert_ne!(other.as_ptr().cast(), at, "another type");
        let other = results.vec::<f32>(RESULT_BYTES / 4);
        assert_ne!(other.as_ptr(), at, "much too large");
        let again = results.vec::<i32>(MANY);
        assert_eq!((again.as_ptr().cast(), again.len()), (at, 0));
    }

    #[test]
    fn wide_offsets_begin_with_0() {
        assert_eq!(
            &*wide_offsets(&[3, 3, 10, i32::MAX]),
            [0, 0, 7, 0x7fff_fffc]
        );
        assert_eq!(&*wide_offsets(&[]), [0_i64; 0]);
    }

    #[test]
    fn small_results_are_left_alone_and_room_is_bounded() {
        let results = Results::new();
        let held = |results: &Results| results.held.lock().map_or(0, |held| held.len());
        results.hold(Buffer::from_vec(vec![0_u8; RESULT_BYTES / 2]));
        results.hold(Buffer::from_vec(Vec::<u8>::with_capacity(
            RESULTS_BYTES.saturating_add(1),
        )));
        assert_eq!(held(&results), 0);
        results.hold(Buffer::from_vec(Vec::<u8>::with_capacity(RESULT_BYTES)));
        results.hold(Buffer::from_vec(Vec::<u8>::with_capacity(RESULT_BYTES)));
        assert_eq!(held(&results), 2);
        let rest = RESULTS_BYTES.saturating_sub(RESULT_BYTES);
        results.hold(Buffer::from_vec(Vec::<u8>::with_capacity(rest)));
        assert_eq!(held(&results), 2);
    }
}
