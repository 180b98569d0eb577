//! Splits a range into parts. Pure.

use std::ops::Range;

/// Parts of `range` in order, nearly equal and of `most` bytes at most; none of an empty range. A `most` of zero
/// counts as one.
///
/// ```
/// assert_eq!(treemill_transfer::parts(10..21, 5), [10..14, 14..18, 18..21]);
/// ```
#[must_use]
pub fn parts(range: Range<u64>, most: u64) -> Vec<Range<u64>> {
    let length = range.end.saturating_sub(range.start);
    let each = length.div_ceil(length.div_ceil(most.max(1)).max(1)).max(1);
    let mut parts = Vec::new();
    let mut start = range.start;
    while start < range.end {
        let end = start.saturating_add(each).min(range.end);
        parts.push(start..end);
        start = end;
    }
    parts
}

#[cfg(test)]
#[allow(clippy::arithmetic_side_effects, clippy::indexing_slicing)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn parts_cover_the_range_once(start in 0..u64::MAX / 2, length in 0..100_000_u64, most in 1..30_000_u64) {
            let range = start..start + length;
            let parts = parts(range.clone(), most);
            prop_assert_eq!(parts.len() as u64, length.div_ceil(most));
            prop_assert!(parts.iter().all(|p| p.end > p.start && p.end - p.start <= most));
            prop_assert!(parts.windows(2).all(|two| two[0].end == two[1].start));
            if let (Some(first), Some(last)) = (parts.first(), parts.last()) {
                prop_assert_eq!(first.start..last.end, range);
            }
        }
    }
}
