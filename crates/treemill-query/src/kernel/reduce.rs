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

/// Length of each list.
pub(crate) fn lengths(offsets: &[i32], out: &mut [i64]) {
    for (to, ends) in out.iter_mut().zip(offsets.windows(2)) {
        *to = i64::from(ends[1] - ends[0]);
    }
}

/// The sum of each item and those before it in its list. Items that are not present add nothing.
pub(crate) fn running<T: Copy>(
    data: &[T],
    present: Option<&[u8]>,
    offsets: &[i32],
    zero: T,
    add: impl Fn(T, T) -> T,
    out: &mut [T],
) {
    each_list(offsets, |_, start, stop| {
        let mut sum = zero;
        for i in start..stop {
            if present.is_none_or(|present| present[i] != 0) {
                sum = add(sum, data[i]);
            }
            out[i] = sum;
        }
    });
}

/// Items that are summed at a time.
const WIDTH: usize = 4;

/// Masks that keep the first items and set the others to 0, by the number of items that are kept.
const FIRST: [[u64; WIDTH]; WIDTH + 1] = {
    let mut first = [[0; WIDTH]; WIDTH + 1];
    let mut count = 0;
    while count <= WIDTH {
        let mut item = 0;
        while item < count {
            first[count][item] = u64::MAX;
            item += 1;
        }
        count += 1;
    }
    first
};

/// Sum of each list. Short lists are summed by a fixed number of items, where those after the list's end count as 0:
/// this changes no sum that starts at 0, and a loop would mispredict its end.
pub(crate) fn sums(data: &[f64], offsets: &[i32], out: &mut [f64]) {
    let Some((first, stops)) = offsets.split_first() else {
        return;
    };
    // Through u32, which cannot be near the largest usize: then one comparison tells whether items are there.
    let mut start = *first as u32 as usize;
    for (to, stop) in out.iter_mut().zip(stops) {
        let stop = *stop as u32 as usize;
        let (mut at, mut sum) = (start, 0.0);
        while at < stop {
            let Some(items) = data.get(at..at + WIDTH) else {
                // At the data's end.
                sum = data[at..stop].iter().fold(sum, |sum, x| sum + x);
                break;
            };
            for (x, keep) in items.iter().zip(&FIRST[(stop - at).min(WIDTH)]) {
                sum += f64::from_bits(x.to_bits() & keep);
            }
            at += WIDTH;
        }
        *to = sum;
        start = stop;
    }
}

/// Sum of each list; wraps.
pub(crate) fn sums_int(data: &[i64], offsets: &[i32], out: &mut [i64]) {
    each_list(offsets, |list, start, stop| {
        out[list] = data[start..stop]
            .iter()
            .fold(0_i64, |sum, x| sum.wrapping_add(*x));
    });
}

/// Product of each list, starting at `one`.
pub(crate) fn products<T: Copy>(
    data: &[T],
    offsets: &[i32],
    one: T,
    times: impl Fn(T, T) -> T,
    out: &mut [T],
) {
    each_list(offsets, |list, start, stop| {
        out[list] = data[start..stop]
            .iter()
            .fold(one, |product, x| times(product, *x));
    });
}

/// Position in its list of the value that comes before all others, the first of equal ones. It is `None` for an empty
/// list. NaN comes last. `before(a, b)`: a comes before b. `last`: the value that no other comes after.
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
    fn sums_are_those_of_loops_to_the_bit() {
        // Values after a list's end must not be looked at: they may be NaN.
        let data: Vec<f64> = (0..231_u32)
            .map(|i| match i * i % 23 {
                0 => f64::NAN,
                1 => f64::INFINITY,
                2 => -0.0,
                x => f64::from(x) / 3.0 - 4.0,
            })
            .collect();
        for longest in 1..=20 {
            let mut offsets = vec![0_i32];
            while let Some(&last) = offsets.last().filter(|last| **last < 231) {
                let len = offsets.len() as i32 % (longest + 1);
                offsets.push((last + len).min(231));
            }
            let mut out = vec![-1.0; offsets.len() - 1];
            sums(&data, &offsets, &mut out);
            for (ends, found) in offsets.windows(2).zip(out) {
                let list = &data[ends[0] as usize..ends[1] as usize];
                let sum = list.iter().fold(0.0, |sum, x| sum + x);
                assert!(found.to_bits() == sum.to_bits() || found.is_nan() && sum.is_nan());
            }
        }
    }
}
