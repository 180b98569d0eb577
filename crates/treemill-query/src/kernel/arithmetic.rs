//! `+ - * / // % **` and bit operations, on f64, i64 (wrapping) and u64. Division and remainder
//! round towards minus infinity, as Python's and numpy's do.

use super::{map1, map2};

/// Operators of numbers. `Div` is of floats only; integers divided by zero give 0 here, the
/// compiler makes those missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Arithmetic {
    Add,
    Sub,
    Mul,
    Div,
    FloorDiv,
    Mod,
    Pow,
}

/// Operators of bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Bits {
    And,
    Or,
    Xor,
    ShiftLeft,
    /// The shift of an i64, which keeps the sign.
    ShiftRight,
}

type Binary<T> = fn(&[T], &[T], &mut [T]);

pub(crate) fn real(op: Arithmetic) -> Binary<f64> {
    match op {
        Arithmetic::Add => |a, b, out| map2(a, b, out, |a, b| a + b),
        Arithmetic::Sub => |a, b, out| map2(a, b, out, |a, b| a - b),
        Arithmetic::Mul => |a, b, out| map2(a, b, out, |a, b| a * b),
        Arithmetic::Div => |a, b, out| map2(a, b, out, |a, b| a / b),
        Arithmetic::FloorDiv => |a, b, out| map2(a, b, out, floor_div),
        Arithmetic::Mod => |a, b, out| map2(a, b, out, modulo),
        Arithmetic::Pow => |a, b, out| map2(a, b, out, f64::powf),
    }
}

pub(crate) fn int(op: Arithmetic) -> Binary<i64> {
    match op {
        Arithmetic::Add => |a, b, out| map2(a, b, out, i64::wrapping_add),
        Arithmetic::Sub => |a, b, out| map2(a, b, out, i64::wrapping_sub),
        Arithmetic::Mul => |a, b, out| map2(a, b, out, i64::wrapping_mul),
        Arithmetic::Div | Arithmetic::FloorDiv => |a, b, out| map2(a, b, out, floor_div_int),
        Arithmetic::Mod => |a, b, out| map2(a, b, out, modulo_int),
        Arithmetic::Pow => |a, b, out| map2(a, b, out, |a, b| a.wrapping_pow(exponent(b))),
    }
}

/// The operation on the bits of u64; sums, differences and products of them are those of i64.
pub(crate) fn uint(op: Arithmetic) -> Binary<i64> {
    match op {
        Arithmetic::Add | Arithmetic::Sub | Arithmetic::Mul | Arithmetic::Pow => int(op),
        Arithmetic::Div | Arithmetic::FloorDiv => |a, b, out| {
            map2(a, b, out, |a, b| {
                (a as u64).checked_div(b as u64).unwrap_or(0) as i64
            });
        },
        Arithmetic::Mod => |a, b, out| {
            map2(a, b, out, |a, b| {
                (a as u64).checked_rem(b as u64).unwrap_or(0) as i64
            });
        },
    }
}

pub(crate) fn bits(op: Bits) -> Binary<i64> {
    match op {
        Bits::And => |a, b, out| map2(a, b, out, |a, b| a & b),
        Bits::Or => |a, b, out| map2(a, b, out, |a, b| a | b),
        Bits::Xor => |a, b, out| map2(a, b, out, |a, b| a ^ b),
        // Shifts by 64 and more, or by negative numbers, shift everything out, as in numpy.
        Bits::ShiftLeft => {
            |a, b, out| map2(a, b, out, |a, b| a.checked_shl(places(b)).unwrap_or(0))
        }
        Bits::ShiftRight => |a, b, out| map2(a, b, out, |a, b| a >> places(b).min(63)),
    }
}

pub(crate) fn shift_right_uint(a: &[i64], b: &[i64], out: &mut [i64]) {
    map2(a, b, out, |a, b| {
        (a as u64).checked_shr(places(b)).unwrap_or(0) as i64
    });
}

fn places(b: i64) -> u32 {
    u32::try_from(b).unwrap_or(u32::MAX)
}

fn exponent(b: i64) -> u32 {
    u32::try_from(b).unwrap_or(0)
}

pub(crate) fn negate(a: &[f64], out: &mut [f64]) {
    map1(a, out, |a| -a);
}

pub(crate) fn negate_int(a: &[i64], out: &mut [i64]) {
    map1(a, out, i64::wrapping_neg);
}

pub(crate) fn invert(a: &[i64], out: &mut [i64]) {
    map1(a, out, |a| !a);
}

pub(crate) fn abs_int(a: &[i64], out: &mut [i64]) {
    map1(a, out, i64::wrapping_abs);
}

pub(crate) fn sign_int(a: &[i64], out: &mut [i64]) {
    map1(a, out, i64::signum);
}

pub(crate) fn min_int(a: &[i64], b: &[i64], out: &mut [i64]) {
    map2(a, b, out, i64::min);
}

pub(crate) fn max_int(a: &[i64], b: &[i64], out: &mut [i64]) {
    map2(a, b, out, i64::max);
}

pub(crate) fn min_uint(a: &[i64], b: &[i64], out: &mut [i64]) {
    map2(a, b, out, |a, b| (a as u64).min(b as u64) as i64);
}

pub(crate) fn max_uint(a: &[i64], b: &[i64], out: &mut [i64]) {
    map2(a, b, out, |a, b| (a as u64).max(b as u64) as i64);
}

pub(crate) fn uint_to_real(a: &[i64], out: &mut [f64]) {
    map1(a, out, |a| a as u64 as f64);
}

/// numpy's floor_divide (npy_divmod): exact where the quotient is near an integer.
fn floor_div(a: f64, b: f64) -> f64 {
    if b == 0.0 {
        return a / b;
    }
    let rest = a % b;
    let mut quotient = (a - rest) / b;
    if rest != 0.0 && (b < 0.0) != (rest < 0.0) {
        quotient -= 1.0;
    }
    // NaN goes this way too, and stays NaN.
    if quotient == 0.0 {
        return 0.0_f64.copysign(a / b);
    }
    let floor = quotient.floor();
    if quotient - floor > 0.5 {
        floor + 1.0
    } else {
        floor
    }
}

/// The remainder that has the divisor's sign.
pub(crate) fn modulo(a: f64, b: f64) -> f64 {
    let rest = a % b;
    if rest == 0.0 {
        rest.abs().copysign(b)
    } else if (b < 0.0) != (rest < 0.0) {
        rest + b
    } else {
        rest
    }
}

fn floor_div_int(a: i64, b: i64) -> i64 {
    if b == 0 {
        return 0;
    }
    let quotient = a.wrapping_div(b);
    let inexact = a.wrapping_rem(b) != 0;
    quotient - i64::from(inexact && ((a < 0) != (b < 0)))
}

fn modulo_int(a: i64, b: i64) -> i64 {
    if b == 0 {
        return 0;
    }
    let rest = a.wrapping_rem(b);
    if rest != 0 && ((rest < 0) != (b < 0)) {
        rest.wrapping_add(b)
    } else {
        rest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floor_division_has_pythons_signs() {
        // (a, b, a // b, a % b) as Python prints them.
        let cases = [
            (7.0, 2.0, 3.0, 1.0),
            (-7.0, 2.0, -4.0, 1.0),
            (7.0, -2.0, -4.0, -1.0),
            (-7.0, -2.0, 3.0, -1.0),
            (1.0, 0.1, 9.0, 0.09999999999999995),
            (-0.5, 3.0, -1.0, 2.5),
            (5.5, 0.5, 11.0, 0.0),
        ];
        for (a, b, quotient, rest) in cases {
            assert_eq!(floor_div(a, b), quotient, "{a} // {b}");
            assert_eq!(modulo(a, b), rest, "{a} % {b}");
        }
        assert_eq!(floor_div(1.0, 0.0), f64::INFINITY);
        assert!(modulo(1.0, 0.0).is_nan());
        assert!(modulo(-0.0, -1.0).is_sign_negative());
        let ints = [
            (7, 2, 3, 1),
            (-7, 2, -4, 1),
            (7, -2, -4, -1),
            (-7, -2, 3, -1),
            (6, -2, -3, 0),
        ];
        for (a, b, quotient, rest) in ints {
            assert_eq!(floor_div_int(a, b), quotient, "{a} // {b}");
            assert_eq!(modulo_int(a, b), rest, "{a} % {b}");
        }
        assert_eq!(floor_div_int(i64::MIN, -1), i64::MIN);
        assert_eq!(modulo_int(i64::MIN, -1), 0);
    }

    #[test]
    fn shifts_out_of_range_shift_everything_out() {
        let mut out = [0; 4];
        bits(Bits::ShiftLeft)(&[1, 1, 1, 1], &[3, 63, 64, -1], &mut out);
        assert_eq!(out, [8, i64::MIN, 0, 0]);
        bits(Bits::ShiftRight)(&[-8, 8, -8, 8], &[1, 1, 99, -1], &mut out);
        assert_eq!(out, [-4, 4, -1, 0]);
        shift_right_uint(&[-1, -1, 5, 5], &[63, 64, 1, -5], &mut out);
        assert_eq!(out, [1, 0, 2, 0]);
    }
}
