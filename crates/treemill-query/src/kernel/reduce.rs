//! Lists reduced to one value each. Offsets have one element more than there are lists.
//!
//! Counts and integer sums go over running sums, which know no list borders and so mispredict no
//! branches; sums of floats keep the order of the items, list by list.

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

/// Number of ones in each list, by running sums (see `gather::running`).
pub(crate) fn counts(sums: &[i32], offsets: &[i32], out: &mut [i64]) {
    for (to, ends) in out.iter_mut().zip(offsets.windows(2)) {
        *to = i64::from(sums[ends[1] as usize] - sums[ends[0] as usize]);
    }
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
