//! Positions of the items of combinations and permutations of any number of items, in the order of Python's itertools.
//! Offsets have one element more than there are lists, and start at 0.

/// Offsets of the arrangements of `size` items of each list. Returns their number. If that is more than an i32 holds,
/// the offsets must not be used.
pub(crate) fn offsets(lists: &[i32], size: u8, ordered: bool, out: &mut [i32]) -> u64 {
    let mut sum = 0_u64;
    out[0] = 0;
    for (to, ends) in out[1..].iter_mut().zip(lists.windows(2)) {
        sum = sum.saturating_add(count((ends[1] - ends[0]) as u64, size, ordered));
        *to = sum as i32;
    }
    sum
}

/// Number of arrangements of `size` of `n` items; `u64::MAX` if it is larger.
fn count(n: u64, size: u8, ordered: bool) -> u64 {
    let mut product = 1_u128;
    for k in 0..u64::from(size) {
        let Some(larger) = product.checked_mul(u128::from(n.saturating_sub(k))) else {
            return u64::MAX;
        };
        // Exact at every step.
        product = if ordered {
            larger
        } else {
            larger / u128::from(k + 1)
        };
    }
    u64::try_from(product).unwrap_or(u64::MAX)
}

/// Positions of the items of all arrangements, one buffer for each item of an arrangement.
pub(crate) fn arrange(lists: &[i32], ordered: bool, out: &mut [Vec<u32>]) {
    let mut places = vec![0; out.len()];
    let mut at = 0;
    for ends in lists.windows(2) {
        let (start, n) = (ends[0] as u32, (ends[1] - ends[0]) as u32);
        let mut is_there = complete(&mut places, 0, 0, n, ordered);
        while is_there {
            for (to, place) in out.iter_mut().zip(&places) {
                to[at] = start + place;
            }
            at += 1;
            is_there = next(&mut places, n, ordered);
        }
    }
}

/// Goes on to the next arrangement, if there is one.
fn next(places: &mut [u32], n: u32, ordered: bool) -> bool {
    (0..places.len())
        .rev()
        .any(|k| complete(places, k, places[k] + 1, n, ordered))
}

/// Sets the places from number `k` on to the first that there are, if there are any, where place `k` is at least `least`.
fn complete(places: &mut [u32], k: usize, least: u32, n: u32, ordered: bool) -> bool {
    let mut least = least;
    for k in k..places.len() {
        let found = match ordered {
            true => (least..n).find(|place| !places[..k].contains(place)),
            false => Some(least).filter(|place| *place < n),
        };
        let Some(place) = found else {
            return false;
        };
        places[k] = place;
        least = if ordered { 0 } else { place + 1 };
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrangements_are_in_the_order_of_itertools() {
        let lists = [0, 4, 4, 5, 11];
        for (size, ordered) in (1..=8_u8).flat_map(|size| [(size, false), (size, true)]) {
            let mut ends = [0; 5];
            let total = offsets(&lists, size, ordered, &mut ends);
            let mut out = vec![vec![99; total as usize]; usize::from(size)];
            arrange(&lists, ordered, &mut out);
            let mut expected: Vec<Vec<u32>> = vec![Vec::new(); usize::from(size)];
            let mut counts = vec![0];
            for ends in lists.windows(2) {
                // All tuples of numbers in ascending order, by counting.
                let n = (ends[1] - ends[0]) as u32;
                for code in 0..n.pow(u32::from(size)) {
                    let digits: Vec<u32> = (0..u32::from(size))
                        .rev()
                        .map(|k| code / n.pow(k) % n)
                        .collect();
                    let mut different = digits.clone();
                    different.sort_unstable();
                    different.dedup();
                    let fits = match ordered {
                        true => different.len() == digits.len(),
                        false => digits.is_sorted_by(|a, b| a < b),
                    };
                    if fits {
                        for (list, digit) in expected.iter_mut().zip(digits) {
                            list.push(ends[0] as u32 + digit);
                        }
                    }
                }
                counts.push(expected[0].len() as i32);
            }
            assert_eq!(out, expected, "of {size}, {ordered}");
            assert_eq!(ends, counts[..], "of {size}, {ordered}");
        }
        assert_eq!(count(1 << 30, 8, false), u64::MAX);
        assert_eq!(count(1 << 30, 8, true), u64::MAX);
    }
}
