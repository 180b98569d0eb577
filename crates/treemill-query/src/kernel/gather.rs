//! Gathers through selection vectors: offsets, data, slices. Offsets have one element more than there are
//! lists, and start at 0.

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
    // Without a branch: whether there is such an item cannot be predicted.
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
    fn lists_are_taken_whole() {
        let offsets = [0, 2, 2, 5];
        let picks = [2, 1, 0];
        let mut out = [0; 4];
        picked_offsets(&offsets, &picks, &mut out);
        assert_eq!(out, [0, 3, 3, 5]);
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
