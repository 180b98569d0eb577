//! Gathers through selection vectors: offsets, data, slices. Offsets have one element more than there are
//! lists, and start at 0.

/// Offsets of the lists that a selection vector selects.
pub(crate) fn selected_offsets(offsets: &[i32], selection: &[u32], out: &mut [i32]) {
    let mut sum = 0;
    out[0] = 0;
    for (to, position) in out[1..].iter_mut().zip(selection) {
        let i = *position as usize;
        sum += offsets[i + 1] - offsets[i];
        *to = sum;
    }
}

/// Positions of one item of each list, by its number in the list, and whether there is such an item. If there is
/// none, the position means nothing. With `turn`, negative numbers count from the list's end.
pub(crate) fn places(
    numbers: &[i64],
    offsets: &[i32],
    turn: bool,
    selection: &mut [u32],
    valid: &mut [u8],
) {
    let ends = offsets.windows(2);
    let lists = numbers
        .iter()
        .zip(ends)
        .zip(selection.iter_mut().zip(valid));
    // No branch depends on whether there is such an item: it would be mispredicted.
    for ((number, ends), (position, valid)) in lists {
        let (start, len) = (i64::from(ends[0]), i64::from(ends[1] - ends[0]));
        let back = if turn && *number < 0 { len } else { 0 };
        let place = number.wrapping_add(back);
        // u64 beyond i64 looks negative here, and is out of range as it should be.
        let inside = place >= 0 && place < len;
        *valid = u8::from(inside);
        *position = start.wrapping_add(place) as u32 * u32::from(inside);
    }
}

/// `data[selection[i]]`
pub(crate) fn take<T: Copy>(data: &[T], selection: &[u32], out: &mut [T]) {
    for (to, position) in out.iter_mut().zip(selection) {
        *to = data[*position as usize];
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
        let selection = [2, 1, 0];
        let mut out = [0; 4];
        selected_offsets(&offsets, &selection, &mut out);
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
