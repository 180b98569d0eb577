//! Memory of a column's arrays, reused for its next batch once no other owner holds them: fresh memory for
//! every batch costs more than decoding into it, because the kernel clears each page.

use super::results::RESULTS;
use arrow_buffer::{ArrowNativeType, Buffer};
use std::collections::VecDeque;

/// Handles on the buffers of the last arrays, in the order in which their columns ask again.
#[derive(Debug, Default)]
pub struct Spares {
    held: VecDeque<Buffer>,
    foreseen: usize,
}

impl Spares {
    /// An empty vector with room for `capacity` values (0: their number is not known). It takes the memory of the next
    /// buffer held if the buffer's array is gone, else that of an earlier result, else new memory.
    pub(crate) fn vec<T: ArrowNativeType>(&mut self, capacity: usize) -> Vec<T> {
        match self.held.pop_front().map(Buffer::into_vec) {
            Some(Ok(mut values)) => {
                values.clear();
                values.reserve(capacity);
                values
            }
            _ if capacity == 0 => {
                RESULTS.vec(self.foreseen.checked_div(size_of::<T>()).unwrap_or(0))
            }
            _ => RESULTS.vec(capacity),
        }
    }

    /// Says how many bytes the next values may take if their number is not known.
    pub(crate) fn foresee(&mut self, bytes: usize) {
        self.foreseen = bytes;
    }

    /// Remembers a buffer that goes into an array.
    pub(crate) fn hold(&mut self, buffer: &Buffer) {
        self.held.push_back(buffer.clone());
    }

    /// Leaves all memory to readers that come later.
    pub fn clear(&mut self) {
        self.held.drain(..).for_each(|buffer| RESULTS.hold(buffer));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_used_again_when_nothing_holds_it() {
        let mut spares = Spares::default();
        let first: Vec<f32> = vec![1.0; 1000];
        let at = first.as_ptr();
        let buffer = Buffer::from_vec(first);
        spares.hold(&buffer);
        drop(buffer);
        let again: Vec<f32> = spares.vec(10);
        assert_eq!(
            (again.as_ptr(), again.len(), again.capacity()),
            (at, 0, 1000)
        );
    }

    #[test]
    fn memory_that_something_holds_is_left_alone() {
        let mut spares = Spares::default();
        let buffer = Buffer::from_vec(vec![1_i32; 1000]);
        spares.hold(&buffer);
        let other: Vec<i32> = spares.vec(1000);
        assert_ne!(other.as_ptr().cast(), buffer.as_ptr());
        assert_eq!(buffer.typed_data::<i32>(), [1; 1000]);
        spares.hold(&buffer);
        drop(buffer);
        assert!(
            spares.vec::<i64>(0).is_empty(),
            "another type takes new memory"
        );
    }
}
