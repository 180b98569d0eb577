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
