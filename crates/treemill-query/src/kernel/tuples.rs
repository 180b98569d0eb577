//! Positions of the items of combinations, and of repeated and sorted lists.
//! Offsets have one element more than there are lists, and start at 0.

/// Offsets of selected lists, where lists that are not present are empty. Returns the number of items. If that is more
/// than an i32 holds, the offsets must not be used.
pub(crate) fn repeated_offsets(
    offsets: &[i32],
    selection: &[u32],
    present: Option<&[u8]>,
    out: &mut [i32],
) -> u64 {
    let mut sum = 0_u64;
    out[0] = 0;
    for (i, (to, position)) in out[1..].iter_mut().zip(selection).enumerate() {
        if present.is_none_or(|present| present[i] != 0) {
            let list = *position as usize;
            sum += (offsets[list + 1] - offsets[list]) as u64;
        }
        *to = sum as i32;
    }
    sum
}

/// Offsets of lists whose lengths are `counts`; a list is empty where its length is negative or not present. Returns the
/// number of items, with the same limit.
pub(crate) fn counted_offsets(counts: &[i64], present: Option<&[u8]>, out: &mut [i32]) -> u64 {
    let mut sum = 0_u64;
    out[0] = 0;
    for (i, (to, count)) in out[1..].iter_mut().zip(counts).enumerate() {
        if present.is_none_or(|present| present[i] != 0) {
            sum = sum.saturating_add(u64::try_from(*count).unwrap_or(0));
        }
        *to = sum as i32;
    }
    sum
}

/// Offsets of the combinations of `size` items of each list. Returns their number, with the same limit.
pub(crate) fn combination_offsets(offsets: &[i32], size: u8, out: &mut [i32]) -> u64 {
    let mut sum = 0_u64;
    out[0] = 0;
    for (to, ends) in out[1..].iter_mut().zip(offsets.windows(2)) {
        sum = sum.saturating_add(choose((ends[1] - ends[0]) as u64, size));
        *to = sum as i32;
    }
    sum
}

/// Number of combinations.
pub(super) fn choose(n: u64, size: u8) -> u64 {
    // Lists of usual lengths: 64 bits hold each product, and no division is slow.
    if n < 1 << 16 {
        let (b, c, d) = (
            n.saturating_sub(1),
            n.saturating_sub(2),
            n.saturating_sub(3),
        );
        return match size {
            2 => n * b / 2,
            3 => n * b / 2 * c / 3,
            4 => n * b / 2 * c / 3 * d / 4,
            _ => 0,
        };
    }
    let mut product = 1_u128;
    for k in 0..u64::from(size) {
        // Exact at every step, and far inside of 128 bits for lists of fewer than 2^31 items.
        product = product * u128::from(n.saturating_sub(k)) / u128::from(k + 1);
    }
    u64::try_from(product).unwrap_or(u64::MAX)
}

/// Positions of the items of all combinations, one buffer for each item of a combination, in the order of Python's
/// itertools.
pub(crate) fn combinations(offsets: &[i32], out: &mut [Vec<u32>]) {
    let mut at = 0;
    for ends in offsets.windows(2) {
        let (start, stop) = (ends[0] as u32, ends[1] as u32);
        match out {
            [a, b] => at = pairs(start, stop, at, a, b),
            [a, b, c] => {
                for i in start..stop {
                    let from = at;
                    at = pairs(i + 1, stop, at, b, c);
                    a[from..at].fill(i);
                }
            }
            [a, b, c, d] => {
                for i in start..stop {
                    let outer = at;
                    for j in i + 1..stop {
                        let from = at;
                        at = pairs(j + 1, stop, at, c, d);
                        b[from..at].fill(j);
                    }
                    a[outer..at].fill(i);
                }
            }
            _ => (),
        }
    }
}

/// Writes all pairs of positions in `start .. stop` from `at` on, and returns where they end.
#[inline(always)]
fn pairs(start: u32, stop: u32, at: usize, a: &mut [u32], b: &mut [u32]) -> usize {
    let mut at = at;
    for i in start..stop {
        let n = (stop - i - 1) as usize;
        a[at..at + n].fill(i);
        for (k, to) in b[at..at + n].iter_mut().enumerate() {
            *to = i + 1 + k as u32;
        }
        at += n;
    }
    at
}

/// Sorts the positions of each list's items, stably, by rank. Items of rank 0 are sorted by `before`; other items of
/// equal rank keep their order.
pub(crate) fn order(
    offsets: &[i32],
    out: &mut [u32],
    before: impl Fn(usize, usize) -> bool,
    rank: impl Fn(usize) -> u8,
) {
    use std::cmp::Ordering;
    for (i, to) in out.iter_mut().enumerate() {
        *to = i as u32;
    }
    for ends in offsets.windows(2) {
        let list = &mut out[ends[0] as usize..ends[1] as usize];
        if list.len() < 2 {
            continue;
        }
        list.sort_by(|a, b| {
            let (a, b) = (*a as usize, *b as usize);
            match (rank(a), rank(b)) {
                (0, 0) if before(a, b) => Ordering::Less,
                (0, 0) if before(b, a) => Ordering::Greater,
                (a, b) => a.cmp(&b),
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_say_what_the_lists_of_positions_say() {
        use crate::kernel::pieces::{Pieces, ROOM, WIDTH};
        // Lengths below and above the width of a piece.
        let offsets = [0, 4, 4, 5, 7, 21, 21, 27];
        let items: Vec<f64> = (0..27 + WIDTH).map(|i| (i * i) as f64 + 0.25).collect();
        for size in 2..=4_u8 {
            let mut new = [0; 8];
            let total = combination_offsets(&offsets, size, &mut new) as usize;
            let mut all = vec![vec![99; total]; usize::from(size)];
            combinations(&offsets, &mut all);
            let count = Pieces::count(&offsets, size);
            let buffer = || vec![77; count + ROOM + 1];
            let fixed = (1..size).map(|_| buffer()).collect();
            let pieces = Pieces::new(&offsets, buffer(), fixed, buffer());
            assert_eq!(pieces.moving.len(), count);
            assert_eq!(pieces.combinations(), total);
            for most in [WIDTH, 3 * WIDTH, 1000 * WIDTH] {
                let (mut at, mut first) = (0, 0);
                while at < total {
                    let (count, last) = pieces.chunk(first, most);
                    assert!(count > 0 && count <= most);
                    let mut out = vec![-1.0; count + WIDTH];
                    for (which, selection) in all.iter().enumerate() {
                        pieces.items(first..last, which as u8, &items, &mut out);
                        for (i, x) in out[..count].iter().enumerate() {
                            assert_eq!(
                                *x,
                                items[selection[at + i] as usize],
                                "{size} {which} {at}"
                            );
                        }
                    }
                    pieces.sums(first..last, &items, &mut out);
                    for (i, x) in out[..count].iter().enumerate() {
                        let terms = all
                            .iter()
                            .map(|selection| items[selection[at + i] as usize]);
                        assert_eq!(*x, terms.fold(0.0, |sum, x| sum + x));
                    }
                    (at, first) = (at + count, last);
                }
            }
        }
    }

    #[test]
    fn combinations_are_in_the_order_of_itertools() {
        let offsets = [0, 4, 4, 5, 7];
        for size in 2..=4_u8 {
            let mut new = [0; 5];
            let total = combination_offsets(&offsets, size, &mut new);
            let mut out = vec![vec![99; total as usize]; usize::from(size)];
            combinations(&offsets, &mut out);
            let mut expected: Vec<Vec<u32>> = vec![Vec::new(); usize::from(size)];
            for ends in offsets.windows(2) {
                // Ascending numbers, written out by counting through all tuples.
                let n = (ends[1] - ends[0]) as u32;
                for code in 0..n.pow(u32::from(size)) {
                    let digit = |k: u32| code / n.pow(k) % n;
                    let digits: Vec<u32> = (0..u32::from(size)).rev().map(digit).collect();
                    if digits.is_sorted_by(|a, b| a < b) {
                        for (list, digit) in expected.iter_mut().zip(digits) {
                            list.push(ends[0] as u32 + digit);
                        }
                    }
                }
            }
            assert_eq!(out, expected, "of {size}");
            assert_eq!(new[4] as u64, total);
        }
        assert_eq!(choose(100_000, 2), 4_999_950_000);
        assert_eq!(choose(1 << 30, 4), u64::MAX);
    }

    #[test]
    fn lists_are_repeated_and_sorted() {
        let data = [3.0, 1.0, f64::NAN, 2.0, 1.0];
        let mut sorted = [0; 5];
        let rank = |i: usize| {
            if i == 0 {
                2
            } else {
                u8::from(data[i].is_nan())
            }
        };
        order(&[0, 5], &mut sorted, |a, b| data[a] < data[b], rank);
        assert_eq!(sorted, [1, 4, 3, 2, 0]);
        let mut repeated = [9; 4];
        let total = repeated_offsets(&[0, 2, 5], &[1, 0, 1], Some(&[1, 0, 1]), &mut repeated);
        assert_eq!((total, repeated), (6, [0, 3, 3, 6]));
    }
}
