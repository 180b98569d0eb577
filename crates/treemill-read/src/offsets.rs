//! Offsets of lists and strings, checked to fit 32 bits.

use crate::faults::{mismatch, too_many};
use crate::memory::Spares;
use arrow_buffer::{OffsetBuffer, ScalarBuffer};
use treemill_format::error::Result;

/// Pushes the end of a list's or string's items after `more` were added.
pub(crate) fn push_offset(offsets: &mut Vec<i32>, more: usize) -> Result<()> {
    let end = i32::try_from(more)
        .ok()
        .and_then(|more| offsets.last().copied().unwrap_or(0).checked_add(more))
        .ok_or_else(too_many)?;
    offsets.push(end);
    Ok(())
}

/// Appends ends of lists, which ascend and count from `first` on; `None` if there are more items than
/// offsets can count.
pub(crate) fn append_ends(offsets: &mut Vec<i32>, first: i32, ends: &[i32]) -> Option<()> {
    let base = offsets.last().copied().unwrap_or(0);
    // The last is the largest.
    let last = ends.last().copied().unwrap_or(first);
    base.checked_add(last.checked_sub(first)?)?;
    let moved = base.wrapping_sub(first);
    offsets.extend(ends.iter().map(|end| end.wrapping_add(moved)));
    Some(())
}

/// Offsets of the lists of several arrays, one after another: a single array's as they are.
///
/// # Errors
/// `Unsupported` if there are more items than a list's offsets can count.
pub fn join_offsets(mut parts: Vec<OffsetBuffer<i32>>) -> Result<OffsetBuffer<i32>> {
    if let [_] = parts.as_slice()
        && let Some(only) = parts.pop()
    {
        return Ok(only);
    }
    let mut joined = vec![0_i32];
    for part in &parts {
        if let Some((&first, ends)) = part.split_first() {
            append_ends(&mut joined, first, ends).ok_or_else(too_many)?;
        }
    }
    treemill_native::offsets::ascending(joined.into()).ok_or_else(mismatch)
}

/// Offsets begin with 0 and ascend: every append has seen to it.
pub(crate) fn offset_buffer(offsets: Vec<i32>) -> Result<OffsetBuffer<i32>> {
    treemill_native::offsets::ascending(ScalarBuffer::from(offsets)).ok_or_else(mismatch)
}

/// Makes what [`offset_buffer`] makes, and remembers the memory.
pub(crate) fn held_offsets(offsets: Vec<i32>, spares: &mut Spares) -> Result<OffsetBuffer<i32>> {
    let offsets = offset_buffer(offsets)?;
    spares.hold(offsets.inner().inner());
    Ok(offsets)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn ends_go_on_where_the_offsets_end() {
        let mut offsets = vec![0, 4];
        append_ends(&mut offsets, 7, &[7, 9, 12]).unwrap();
        append_ends(&mut offsets, 5, &[]).unwrap();
        assert_eq!(offsets, [0, 4, 4, 6, 9]);
        assert_eq!(append_ends(&mut offsets, 1, &[2, i32::MAX]), None);
        assert_eq!(offsets, [0, 4, 4, 6, 9], "all or none");
        append_ends(&mut offsets, 10, &[i32::MAX]).unwrap();
        assert_eq!(offsets.last(), Some(&(i32::MAX - 1)));
    }

    #[test]
    fn arrays_offsets_follow_one_another() {
        let part = |ends: &[i32]| OffsetBuffer::new(ends.to_vec().into());
        let joined = |parts: Vec<_>| join_offsets(parts).unwrap().to_vec();
        assert_eq!(joined(vec![]), [0]);
        assert_eq!(joined(vec![part(&[3, 5])]), [3, 5]);
        assert_eq!(
            joined(vec![part(&[0, 2]), part(&[0]), part(&[0, 1, 4])]),
            [0, 2, 3, 6]
        );
        let most = part(&[0, i32::MAX]);
        assert!(join_offsets(vec![most.clone(), part(&[0, 0])]).is_ok());
        assert!(join_offsets(vec![most, part(&[0, 1])]).is_err());
    }
}
