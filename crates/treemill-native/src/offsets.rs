//! Lists' offsets for Arrow. Arrow checks that offsets ascend one after another and stops at the first
//! that does not, which takes as long as decoding them; here the same is checked many at a time. It
//! takes `unsafe` to tell Arrow so. Safe to use with any offsets. Knows nothing of files.

use arrow_buffer::{OffsetBuffer, ScalarBuffer};

/// Offsets that are checked without looking at the result in between.
const BLOCK: usize = 1 << 12;

/// These offsets as Arrow's; `None` if they are none: empty, negative or not ascending.
///
/// ```
/// use treemill_native::offsets::ascending;
///
/// assert!(ascending(vec![0, 2, 2, 3].into()).is_some());
/// assert!(ascending(vec![0, 2, 1].into()).is_none());
/// ```
#[must_use]
pub fn ascending(offsets: ScalarBuffer<i32>) -> Option<OffsetBuffer<i32>> {
    let is_right = offsets.first().is_some_and(|first| *first >= 0) && is_sorted(&offsets);
    // SAFETY: the offsets are not empty, the first is not negative, and they ascend.
    is_right.then(|| unsafe { OffsetBuffer::new_unchecked(offsets) })
}

/// Decides what `[i32]::is_sorted` does, in a loop that becomes vector instructions.
fn is_sorted(offsets: &[i32]) -> bool {
    let later = offsets.get(1..).unwrap_or_default();
    let blocks = offsets.chunks(BLOCK).zip(later.chunks(BLOCK));
    blocks.into_iter().all(|(offsets, later)| {
        let pairs = offsets.iter().zip(later);
        pairs.fold(true, |all, (before, after)| all & (before <= after))
    })
}

#[cfg(test)]
#[allow(clippy::indexing_slicing, clippy::arithmetic_side_effects)]
mod tests {
    use super::*;

    fn is_accepted(offsets: Vec<i32>) -> bool {
        let found = ascending(ScalarBuffer::from(offsets.clone()));
        found.is_some_and(|found| *found == offsets[..])
    }

    #[test]
    fn offsets_are_accepted_as_they_are() {
        assert!(is_accepted(vec![0]));
        assert!(is_accepted(vec![7, 7, i32::MAX]));
        for len in [2, BLOCK - 1, BLOCK, BLOCK + 1, BLOCK + 2, 3 * BLOCK] {
            assert!(is_accepted((0..len as i32).collect()));
        }
    }

    #[test]
    fn one_step_down_is_found_wherever_it_is() {
        for at in 1..2 * BLOCK + 3 {
            let mut offsets: Vec<i32> = (1..=(2 * BLOCK + 3) as i32).collect();
            offsets[at] = offsets[at - 1] - 1;
            assert!(!is_accepted(offsets), "{at}");
        }
    }

    #[test]
    fn what_is_empty_or_negative_is_none() {
        assert!(!is_accepted(vec![]));
        assert!(!is_accepted(vec![-1, 0]));
    }
}
