//! `== != < <= > >=`, exact also between integers and floats.

use super::map2;
use std::cmp::Ordering;

/// A comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Compare {
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
}

impl Compare {
    /// The comparison with its sides exchanged.
    pub fn swapped(self) -> Self {
        match self {
            Self::Eq | Self::Ne => self,
            Self::Lt => Self::Gt,
            Self::Le => Self::Ge,
            Self::Gt => Self::Lt,
            Self::Ge => Self::Le,
        }
    }

    /// Whether the comparison holds, given the order of the sides; `None`: one of them is NaN.
    #[inline(always)]
    pub(crate) fn holds(self, order: Option<Ordering>) -> bool {
        match self {
            Self::Eq => order == Some(Ordering::Equal),
            Self::Ne => order != Some(Ordering::Equal),
            Self::Lt => order == Some(Ordering::Less),
            Self::Le => matches!(order, Some(Ordering::Less | Ordering::Equal)),
            Self::Gt => order == Some(Ordering::Greater),
            Self::Ge => matches!(order, Some(Ordering::Greater | Ordering::Equal)),
        }
    }
}

type Binary<A, B> = fn(&[A], &[B], &mut [u8]);

/// One simple loop for each comparison, so that each is vectorised.
macro_rules! compare {
    ($op:expr, $convert:expr) => {
        match $op {
            Compare::Eq => |a, b, out| map2(a, b, out, |a, b| u8::from($convert(a) == $convert(b))),
            Compare::Ne => |a, b, out| map2(a, b, out, |a, b| u8::from($convert(a) != $convert(b))),
            Compare::Lt => |a, b, out| map2(a, b, out, |a, b| u8::from($convert(a) < $convert(b))),
            Compare::Le => |a, b, out| map2(a, b, out, |a, b| u8::from($convert(a) <= $convert(b))),
            Compare::Gt => |a, b, out| map2(a, b, out, |a, b| u8::from($convert(a) > $convert(b))),
            Compare::Ge => |a, b, out| map2(a, b, out, |a, b| u8::from($convert(a) >= $convert(b))),
        }
    };
}

/// One loop for each comparison by the order of the sides.
macro_rules! by_order {
    ($op:expr, $order:expr) => {
        match $op {
            Compare::Eq => |a, b, out| ordered(a, b, out, Compare::Eq, $order),
            Compare::Ne => |a, b, out| ordered(a, b, out, Compare::Ne, $order),
            Compare::Lt => |a, b, out| ordered(a, b, out, Compare::Lt, $order),
            Compare::Le => |a, b, out| ordered(a, b, out, Compare::Le, $order),
            Compare::Gt => |a, b, out| ordered(a, b, out, Compare::Gt, $order),
            Compare::Ge => |a, b, out| ordered(a, b, out, Compare::Ge, $order),
        }
    };
}

#[inline(always)]
fn ordered<A: Copy, B: Copy>(
    a: &[A],
    b: &[B],
    out: &mut [u8],
    op: Compare,
    order: impl Fn(A, B) -> Option<Ordering>,
) {
    map2(a, b, out, |a, b| u8::from(op.holds(order(a, b))));
}

pub(crate) fn real(op: Compare) -> Binary<f64, f64> {
    compare!(op, |x: f64| x)
}

pub(crate) fn int(op: Compare) -> Binary<i64, i64> {
    compare!(op, |x: i64| x)
}

pub(crate) fn uint(op: Compare) -> Binary<i64, i64> {
    compare!(op, |x: i64| x as u64)
}

pub(crate) fn boolean(op: Compare) -> Binary<u8, u8> {
    compare!(op, |x: u8| x)
}

pub(crate) fn int_uint(op: Compare) -> Binary<i64, i64> {
    by_order!(op, |a: i64, b: i64| Some(if a < 0 {
        Ordering::Less
    } else {
        (a as u64).cmp(&(b as u64))
    }))
}

pub(crate) fn int_real(op: Compare) -> Binary<i64, f64> {
    by_order!(op, |a: i64, b: f64| int_with_real(i128::from(a), b))
}

pub(crate) fn uint_real(op: Compare) -> Binary<i64, f64> {
    by_order!(op, |a: i64, b: f64| int_with_real(i128::from(a as u64), b))
}

/// `a` has at most 64 bits, so it is far inside the range where `as i128` is exact or saturates.
fn int_with_real(a: i128, b: f64) -> Option<Ordering> {
    if b.is_nan() {
        return None;
    }
    let floor = b.floor();
    Some(match a.cmp(&(floor as i128)) {
        Ordering::Equal if b > floor => Ordering::Less,
        order => order,
    })
}

/// Compares f32 values with a constant as if both were f64, without widening them: the constant
/// becomes a bound among the f32 values. Equality with no f32 is never true.
pub(crate) fn narrow(op: Compare, values: &[f32], bound: f64, out: &mut [u8]) {
    let near = bound as f32;
    let exact = f64::from(near) == bound;
    // The neighbours of a constant that lies between two f32 values.
    let (below, above) = if f64::from(near) <= bound {
        (near, near.next_up())
    } else {
        (near.next_down(), near)
    };
    match op {
        _ if bound.is_nan() => out.fill(u8::from(op == Compare::Ne)),
        Compare::Eq if !exact => out.fill(0),
        Compare::Ne if !exact => out.fill(1),
        Compare::Eq => with(values, near, out, |x, c| x == c),
        Compare::Ne => with(values, near, out, |x, c| x != c),
        Compare::Lt if exact => with(values, near, out, |x, c| x < c),
        Compare::Le if exact => with(values, near, out, |x, c| x <= c),
        Compare::Gt if exact => with(values, near, out, |x, c| x > c),
        Compare::Ge if exact => with(values, near, out, |x, c| x >= c),
        Compare::Lt | Compare::Le => with(values, below, out, |x, c| x <= c),
        Compare::Gt | Compare::Ge => with(values, above, out, |x, c| x >= c),
    }
}

#[inline(always)]
fn with(values: &[f32], bound: f32, out: &mut [u8], f: impl Fn(f32, f32) -> bool) {
    for (to, value) in out.iter_mut().zip(values) {
        *to = u8::from(f(*value, bound));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [Compare; 6] = [
        Compare::Eq,
        Compare::Ne,
        Compare::Lt,
        Compare::Le,
        Compare::Gt,
        Compare::Ge,
    ];

    #[test]
    fn narrow_is_the_comparison_of_widened_values() {
        let bounds = [
            0.0,
            -0.0,
            40.0,
            0.1,
            2.4,
            1e-50,
            -1e-50,
            1e300,
            -1e300,
            3.4028235677973366e38,
            f64::INFINITY,
            f64::NEG_INFINITY,
            f64::NAN,
        ];
        let mut values = vec![
            f32::NAN,
            f32::INFINITY,
            f32::NEG_INFINITY,
            0.0,
            -0.0,
            f32::MAX,
        ];
        for bound in bounds {
            let near = bound as f32;
            values.extend([near, near.next_up(), near.next_down(), -near]);
        }
        let wide: Vec<f64> = values.iter().map(|x| f64::from(*x)).collect();
        for op in ALL {
            for bound in bounds {
                let (mut fast, mut slow) = (vec![9; values.len()], vec![9; values.len()]);
                narrow(op, &values, bound, &mut fast);
                real(op)(&wide, &vec![bound; wide.len()], &mut slow);
                assert_eq!(fast, slow, "{op:?} {bound:e}");
            }
        }
    }

    #[test]
    fn integers_and_floats_compare_exactly() {
        let big = (1_i64 << 53) + 1; // as f64 it would be 2^53
        let cases = [
            (big, 9007199254740992.0, Ordering::Greater),
            (big - 1, 9007199254740992.0, Ordering::Equal),
            (3, 3.5, Ordering::Less),
            (-3, -3.5, Ordering::Greater),
            (i64::MAX, (1_u64 << 63) as f64, Ordering::Less),
            (i64::MIN, f64::NEG_INFINITY, Ordering::Greater),
        ];
        for (a, b, order) in cases {
            assert_eq!(int_with_real(i128::from(a), b), Some(order), "{a} {b}");
        }
        let mut out = [9];
        for op in ALL {
            int_real(op)(&[1], &[f64::NAN], &mut out);
            assert_eq!(out[0] == 1, op == Compare::Ne);
        }
        int_uint(Compare::Lt)(&[-1], &[-1], &mut out);
        assert_eq!(out, [1]);
    }
}
