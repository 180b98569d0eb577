//! Looking values up in tables of constants, as numpy's `interp` and `digitize` do, and by number.

/// The straight line between the points `xs`, which ascend, with the values `ys`: the first value before
/// them, and the last one after them.
pub(crate) fn interp(x: f64, xs: &[f64], ys: &[f64]) -> f64 {
    if x.is_nan() {
        return x;
    }
    // The first point beyond x.
    let next = xs.partition_point(|known| *known <= x);
    let (Some(before), Some(after)) = (next.checked_sub(1), (next < xs.len()).then_some(next))
    else {
        let end = if next == 0 { ys.first() } else { ys.last() };
        return end.copied().unwrap_or(f64::NAN);
    };
    let (x0, x1, y0, y1) = (xs[before], xs[after], ys[before], ys[after]);
    if x == x0 {
        return y0;
    }
    let slope = (y1 - y0) / (x1 - x0);
    let found = slope * (x - x0) + y0;
    if !found.is_nan() {
        return found;
    }
    // Interpolated from the other end if infinite values gave NaN.
    let found = slope * (x - x1) + y1;
    if found.is_nan() && y0 == y1 {
        y0
    } else {
        found
    }
}

/// The number of the bin between `edges`, which ascend: how many are not above `x`, or with `right`, how
/// many are below it. NaN is above all.
pub(crate) fn digitize(x: f64, edges: &[f64], right: bool) -> i64 {
    let place = match right {
        _ if x.is_nan() => edges.len(),
        true => edges.partition_point(|edge| *edge < x),
        false => edges.partition_point(|edge| *edge <= x),
    };
    place as i64
}

/// Whether `x` lies between two of `edges`, which ascend: from each one with an even number up to, and
/// without, the next one. `last` is the pair between which the value before lay: neighbours often share it.
pub(crate) fn inside(x: i64, edges: &[i64], last: &mut (i64, i64)) -> bool {
    if last.0 <= x && x < last.1 {
        return true;
    }
    let next = edges.partition_point(|edge| *edge <= x);
    let (Some(before), Some(after)) = (
        next.checked_sub(1).and_then(|i| edges.get(i)),
        edges.get(next),
    ) else {
        return false;
    };
    let found = next % 2 == 1;
    if found {
        *last = (*before, *after);
    }
    found
}

/// Item number `index` of a table; there is none before the first.
pub(crate) fn item<T: Copy>(table: &[T], index: i64) -> Option<T> {
    usize::try_from(index)
        .ok()
        .and_then(|i| table.get(i))
        .copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_end_where_the_points_do() {
        let (xs, ys) = ([0.0, 1.0, 4.0], [1.0, 3.0, -3.0]);
        let cases = [
            (-1.0, 1.0),
            (0.0, 1.0),
            (0.5, 2.0),
            (1.0, 3.0),
            (2.0, 1.0),
            (4.0, -3.0),
            (f64::INFINITY, -3.0),
            (f64::NEG_INFINITY, 1.0),
        ];
        for (x, wanted) in cases {
            assert_eq!(interp(x, &xs, &ys), wanted, "{x}");
        }
        assert!(interp(f64::NAN, &xs, &ys).is_nan());
        assert_eq!(interp(3.0, &[2.0], &[5.0]), 5.0);
    }

    #[test]
    fn ranges_are_half_open() {
        let edges = [-5, -2, 3, 7, 7, 9, i64::MAX - 1, i64::MAX];
        let mut last = (0, 0);
        let within: Vec<i64> = (-8..12).filter(|x| inside(*x, &edges, &mut last)).collect();
        assert_eq!(within, [-5, -4, -3, 3, 4, 5, 6, 7, 8]);
        assert!(inside(i64::MAX - 1, &edges, &mut last));
        assert!(!inside(i64::MAX, &edges, &mut last));
        assert!(!inside(i64::MIN, &edges, &mut last));
        assert!(!inside(0, &[], &mut (0, 0)));
    }

    #[test]
    fn bins_are_numpys() {
        let edges = [0.0, 10.0, 20.0];
        let cases = [
            (-1.0, 0, 0),
            (0.0, 1, 0),
            (5.0, 1, 1),
            (10.0, 2, 1),
            (20.0, 3, 2),
            (21.0, 3, 3),
            (f64::NAN, 3, 3),
        ];
        for (x, left, right) in cases {
            assert_eq!(digitize(x, &edges, false), left, "{x}");
            assert_eq!(digitize(x, &edges, true), right, "{x}");
        }
        assert_eq!(item(&[4, 5], 1), Some(5));
        assert_eq!(item(&[4, 5], 2).or(item(&[4, 5], -1)), None);
    }
}
