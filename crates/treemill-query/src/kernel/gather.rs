//! Lists of positions: made from masks, offsets and slices; and data taken by them. Offsets have
//! one element more than there are lists, and start at 0.

/// Positions at which the mask is 1, up to `picks.len()` = mask's length; gives their number.
/// No branch depends on the data.
pub(crate) fn positions(mask: &[u8], picks: &mut [u32]) -> usize {
    let n = mask.len().min(picks.len());
    let picks = &mut picks[..n];
    let mut count = 0;
    for (i, keep) in mask[..n].iter().enumerate() {
        // count <= i < n
        picks[count] = i as u32;
        count += usize::from(*keep & 1);
    }
    count
}

/// Offsets of the items that a mask keeps: `sums` is room for one element more than the mask has.
pub(crate) fn kept_offsets(mask: &[u8], offsets: &[i32], sums: &mut [i32], out: &mut [i32]) {
    running(mask, sums);
    for (to, offset) in out.iter_mut().zip(offsets) {
        *to = sums[*offset as usize];
    }
}

/// `sums[i]` = number of ones before position i.
pub(crate) fn running(mask: &[u8], sums: &mut [i32]) {
    let mut sum = 0;
    for (to, keep) in sums.iter_mut().zip(mask) {
        *to = sum;
        sum += i32::from(*keep & 1);
    }
    if let Some(last) = sums.get_mut(mask.len()) {
        *last = sum;
    }
}

/// The lists at `picks`: their offsets.
pub(crate) fn picked_offsets(offsets: &[i32], picks: &[u32], out: &mut [i32]) {
    let mut sum = 0;
    out[0] = 0;
    for (to, pick) in out[1..].iter_mut().zip(picks) {
        let i = *pick as usize;
        sum += offsets[i + 1] - offsets[i];
        *to = sum;
    }
}

/// The lists at `picks`: positions of their items. `new` are the offsets that `picked_offsets`
/// says, `out` is as long as they say.
///
/// All items of a list are as far from their old positions; where a list starts, that distance
/// changes. Summing up the changes mispredicts no branch, which loops over short lists do.
pub(crate) fn picked_items(offsets: &[i32], picks: &[u32], new: &[i32], out: &mut [u32]) {
    out.fill(0);
    let mut before = 0_i32;
    for (pick, start) in picks.iter().zip(new) {
        let distance = offsets[*pick as usize].wrapping_sub(*start);
        // Lists at the very end that are empty have no item to note it at.
        if let Some(to) = out.get_mut(*start as usize) {
            *to = to.wrapping_add(distance.wrapping_sub(before) as u32);
            before = distance;
        }
    }
    let mut distance = 0_u32;
    for (i, to) in out.iter_mut().enumerate() {
        distance = distance.wrapping_add(*to);
        *to = distance.wrapping_add(i as u32);
    }
}

/// For every item the position of its list. (How: see `picked_items`.)
pub(crate) fn parents(offsets: &[i32], out: &mut [u32]) {
    out.fill(0);
    for start in offsets.iter().skip(1) {
        if let Some(to) = out.get_mut(*start as usize) {
            *to += 1;
        }
    }
    let mut list = 0;
    for to in out {
        list += *to;
        *to = list;
    }
}

/// Positions of one item of each list, by its number in it, and whether there is such an item; if not,
/// some position. `turn`: to be added to negative numbers is the list's length.
pub(crate) fn places(
    numbers: &[i64],
    offsets: &[i32],
    turn: bool,
    picks: &mut [u32],
    valid: &mut [u8],
) {
    let ends = offsets.windows(2);
    let lists = numbers.iter().zip(ends).zip(picks.iter_mut().zip(valid));
    // Without a branch: whether there is such an item cannot be foretold.
    for ((number, ends), (pick, valid)) in lists {
        let (start, len) = (i64::from(ends[0]), i64::from(ends[1] - ends[0]));
        let back = if turn && *number < 0 { len } else { 0 };
        let place = number.wrapping_add(back);
        // u64 beyond i64 looks negative here, and is out of range as it should be.
        let inside = place >= 0 && place < len;
        *valid = u8::from(inside);
        *pick = start.wrapping_add(place) as u32 * u32::from(inside);
    }
}

/// `data[picks[i]]`
pub(crate) fn take<T: Copy>(data: &[T], picks: &[u32], out: &mut [T]) {
    for (to, pick) in out.iter_mut().zip(picks) {
        *to = data[*pick as usize];
    }
}

/// Python's `slice(lower, upper, step)` on a list of `len`: first position, step, number of items.
pub(crate) fn slice(len: i64, lower: Option<i64>, upper: Option<i64>, step: i64) -> (i64, i64) {
    let clamp = |bound: i64| {
        let from_start = if bound < 0 {
            bound.saturating_add(len)
        } else {
            bound
        };
        if step < 0 {
            from_start.clamp(-1, len - 1)
        } else {
            from_start.clamp(0, len)
        }
    };
    let (first, last) = if step < 0 { (len - 1, -1) } else { (0, len) };
    let start = lower.map_or(first, clamp);
    let stop = upper.map_or(last, clamp);
    let distance = if step < 0 { start - stop } else { stop - start };
    // step may be i64::MIN
    let count = if distance <= 0 {
        0
    } else {
        let size = step.unsigned_abs();
        ((distance as u64 - 1) / size + 1) as i64
    };
    (start, count)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn masks_become_positions_and_offsets() {
        let mask = [1, 0, 1, 1, 0, 0];
        let mut picks = [0; 6];
        assert_eq!(positions(&mask, &mut picks), 3);
        assert_eq!(picks[..3], [0, 2, 3]);
        let (mut sums, mut out) = ([0; 7], [0; 4]);
        kept_offsets(&mask, &[0, 1, 1, 6], &mut sums, &mut out);
        assert_eq!(out, [0, 1, 1, 3]);
    }

    #[test]
    fn lists_are_taken_whole() {
        let offsets = [0, 2, 2, 5];
        let picks = [2, 1, 0];
        let mut out = [0; 4];
        picked_offsets(&offsets, &picks, &mut out);
        assert_eq!(out, [0, 3, 3, 5]);
        let mut items = [0; 5];
        picked_items(&offsets, &picks, &out, &mut items);
        assert_eq!(items, [2, 3, 4, 0, 1]);
        let mut above = [9; 5];
        parents(&offsets, &mut above);
        assert_eq!(above, [0, 0, 2, 2, 2]);
    }

    #[test]
    fn slices_are_pythons() {
        // (len, lower, upper, step) -> (first, count), as range(*slice(…).indices(len)) says.
        let cases = [
            ((5, None, Some(2), 1), (0, 2)),
            ((5, Some(-2), None, 1), (3, 2)),
            ((1, Some(-2), None, 1), (0, 1)),
            ((5, None, None, -1), (4, 5)),
            ((5, Some(1), Some(-1), 2), (1, 2)),
            ((0, None, None, 1), (0, 0)),
            ((0, None, None, -1), (-1, 0)),
            ((5, Some(9), None, 1), (5, 0)),
            ((5, None, None, i64::MIN), (4, 1)),
            ((5, Some(i64::MIN), Some(i64::MAX), 1), (0, 5)),
        ];
        for ((len, lower, upper, step), expected) in cases {
            assert_eq!(
                slice(len, lower, upper, step),
                expected,
                "{len} {lower:?}:{upper:?}:{step}"
            );
        }
    }
}
