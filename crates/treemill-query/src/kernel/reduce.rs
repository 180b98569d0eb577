//! Lists reduced to one value each. Offsets have one element more than there are lists.
//!
//! Sums keep the order of the items, list by list.

/// Calls `f(list, start, stop)` for every list.
#[inline(always)]
fn each_list(offsets: &[i32], mut f: impl FnMut(usize, usize, usize)) {
    let mut start = offsets.first().map_or(0, |first| *first as usize);
    for (list, stop) in offsets.iter().skip(1).enumerate() {
        let stop = *stop as usize;
        f(list, start, stop);
        start = stop;
    }
}

/// Ones in every byte.
const ONES: u64 = 0x0101_0101_0101_0101;

/// The first so many bytes of a word.
const FIRST: [u64; 9] = {
    let mut first = [u64::MAX; 9];
    let mut bytes = 0;
    while bytes < 8 {
        first[bytes] = (1 << (8 * bytes)) - 1;
        bytes += 1;
    }
    first
};

/// Number of ones in each list. Lists are mostly short: eight bytes at once, of which those behind the
/// list's end are left out, take no loop whose end would be mispredicted.
pub(crate) fn counts(mask: &[u8], offsets: &[i32], out: &mut [i64]) {
    let mut start = offsets.first().map_or(0, |first| *first as usize);
    for (to, stop) in out.iter_mut().zip(offsets.iter().skip(1)) {
        let stop = *stop as usize;
        let word = mask.get(start..).and_then(|rest| rest.first_chunk());
        *to = match (word, FIRST.get(stop.wrapping_sub(start))) {
            (Some(word), Some(first)) => {
                i64::from((u64::from_le_bytes(*word) & ONES & first).count_ones())
            }
            _ => ones(&mask[start..stop]),
        };
        start = stop;
    }
}

/// Apart, so that what it needs of registers does not slow down the loop over short lists.
#[inline(never)]
fn ones(mask: &[u8]) -> i64 {
    let (words, rest) = mask.as_chunks();
    let in_words = words
        .iter()
        .map(|word| (u64::from_le_bytes(*word) & ONES).count_ones());
    let in_rest = rest.iter().map(|keep| u32::from(keep & 1));
    in_words.chain(in_rest).map(i64::from).sum()
}

/// Length of each list.
pub(crate) fn lengths(offsets: &[i32], out: &mut [i64]) {
    for (to, ends) in out.iter_mut().zip(offsets.windows(2)) {
        *to = i64::from(ends[1] - ends[0]);
    }
}

/// Sum of each list, starting at 0.
pub(crate) fn sums(data: &[f64], offsets: &[i32], out: &mut [f64]) {
    each_list(offsets, |list, start, stop| {
        out[list] = data[start..stop].iter().fold(0.0, |sum, x| sum + x);
    });
}

/// Sum of each list; wraps.
pub(crate) fn sums_int(data: &[i64], offsets: &[i32], out: &mut [i64]) {
    each_list(offsets, |list, start, stop| {
        out[list] = data[start..stop]
            .iter()
            .fold(0_i64, |sum, x| sum.wrapping_add(*x));
    });
}

/// Position in its list of the value that is before all others, of equal ones the first; `None` for an
/// empty list. NaN comes last. `before(a, b)`: a comes before b; `last`: what no value comes after.
pub(crate) fn best<T: Copy>(
    data: &[T],
    offsets: &[i32],
    last: T,
    before: impl Fn(T, T) -> bool,
    is_nan: impl Fn(T) -> bool,
    mut found: impl FnMut(usize, Option<usize>),
) {
    each_list(offsets, |list, start, stop| {
        let (mut place, mut value) = (None, last);
        for (i, x) in data[start..stop].iter().enumerate() {
            if before(*x, value) {
                (place, value) = (Some(i), *x);
            }
        }
        // All are the last there can be, or NaN.
        if place.is_none() && start < stop {
            let some = data[start..stop].iter().position(|x| !is_nan(*x));
            place = Some(some.unwrap_or(0));
        }
        found(list, place.map(|place| start + place));
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_is_the_first_of_the_best_and_nan_comes_last() {
        // Many values that repeat, the last there can be, and NaN; lists of every length up to 13.
        let data: Vec<f64> = (0..400_u32)
            .map(|i| match i * i % 11 {
                0 => f64::NAN,
                1 => f64::INFINITY,
                x => f64::from(x % 5),
            })
            .collect();
        for longest in 1..=13 {
            let mut offsets = vec![0_i32];
            while let Some(&end) = offsets.last().filter(|end| **end < 400) {
                let len = offsets.len() as i32 % (longest + 1);
                offsets.push((end + len).min(400));
            }
            best(
                &data,
                &offsets,
                f64::INFINITY,
                |a, b| a < b,
                f64::is_nan,
                |list, place| {
                    let (start, stop) = (offsets[list] as usize, offsets[list + 1] as usize);
                    let order = |i: &usize| (data[*i].is_nan(), data[*i].to_bits());
                    assert_eq!(place, (start..stop).min_by_key(order), "{start} {stop}");
                },
            );
        }
    }

    #[test]
    fn counts_are_those_of_loops() {
        // Lists of every length up to 20, at every distance from a word's and the mask's end.
        let mask: Vec<u8> = (0..231_u32).map(|i| (i * i % 7 % 2) as u8).collect();
        for longest in 1..=20 {
            let mut offsets = vec![0_i32];
            while let Some(&last) = offsets.last().filter(|last| **last < 231) {
                let len = offsets.len() as i32 % (longest + 1);
                offsets.push((last + len).min(231));
            }
            let mut out = vec![-1; offsets.len() - 1];
            counts(&mask, &offsets, &mut out);
            for (ends, count) in offsets.windows(2).zip(out) {
                let list = &mask[ends[0] as usize..ends[1] as usize];
                assert_eq!(count, list.iter().map(|x| i64::from(*x)).sum::<i64>());
            }
        }
    }
}
