//! Functions of floats, as numpy has them.

use super::{map1, map2, special, squares, trig};

/// Functions of one float.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Real1 {
    Sqrt,
    /// The root of the size, with the sign.
    SignedSqrt,
    Cbrt,
    Square,
    Abs,
    Sign,
    Exp,
    Exp2,
    Expm1,
    Log,
    Log2,
    Log10,
    Log1p,
    Sin,
    Cos,
    Tan,
    Asin,
    Acos,
    Atan,
    Sinh,
    Cosh,
    Tanh,
    Asinh,
    Acosh,
    Atanh,
    Erf,
    Erfc,
    Gamma,
    /// The logarithm of the gamma function's absolute value.
    LGamma,
    Floor,
    Ceil,
    Trunc,
    /// Halves to even.
    Round,
    RoundHalfAway,
    Radians,
    Degrees,
}

/// Functions of two floats.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Real2 {
    /// NaN where one of them is.
    Min,
    Max,
    /// The other one where one of them is NaN.
    Fmin,
    Fmax,
    Atan2,
    Hypot,
    /// C's remainder, with the dividend's sign.
    Fmod,
    CopySign,
    /// The angle between two, in [-pi, pi).
    DeltaPhi,
}

/// Questions about one float.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Test {
    IsNan,
    IsInf,
    IsFinite,
    SignBit,
    /// Whether its integral part fits i64.
    FitsInt,
}

impl Real1 {
    pub fn is_quick(self) -> bool {
        use Real1::{Abs, Degrees, Radians, Sign, SignedSqrt, Sqrt, Square};
        matches!(
            self,
            Sqrt | SignedSqrt | Square | Abs | Sign | Radians | Degrees
        )
    }
}

impl Real2 {
    pub fn is_quick(self) -> bool {
        !matches!(self, Self::Atan2 | Self::Hypot | Self::Fmod)
    }
}

pub(crate) fn real1(op: Real1) -> fn(&[f64], &mut [f64]) {
    match op {
        Real1::Sqrt => |a, out| map1(a, out, f64::sqrt),
        Real1::SignedSqrt => |a, out| map1(a, out, squares::signed_root),
        Real1::Cbrt => |a, out| map1(a, out, f64::cbrt),
        Real1::Square => |a, out| map1(a, out, |a| a * a),
        Real1::Abs => |a, out| map1(a, out, f64::abs),
        Real1::Sign => |a, out| map1(a, out, sign),
        Real1::Exp => |a, out| map1(a, out, f64::exp),
        Real1::Exp2 => |a, out| map1(a, out, f64::exp2),
        Real1::Expm1 => |a, out| map1(a, out, f64::exp_m1),
        Real1::Log => |a, out| map1(a, out, f64::ln),
        Real1::Log2 => |a, out| map1(a, out, f64::log2),
        Real1::Log10 => |a, out| map1(a, out, f64::log10),
        Real1::Log1p => |a, out| map1(a, out, f64::ln_1p),
        Real1::Sin => trig::sin,
        Real1::Cos => trig::cos,
        Real1::Tan => |a, out| map1(a, out, f64::tan),
        Real1::Asin => |a, out| map1(a, out, f64::asin),
        Real1::Acos => |a, out| map1(a, out, f64::acos),
        Real1::Atan => |a, out| map1(a, out, f64::atan),
        Real1::Sinh => trig::sinh,
        Real1::Cosh => |a, out| map1(a, out, f64::cosh),
        Real1::Tanh => |a, out| map1(a, out, f64::tanh),
        Real1::Asinh => |a, out| map1(a, out, special::asinh),
        Real1::Acosh => |a, out| map1(a, out, special::acosh),
        Real1::Atanh => |a, out| map1(a, out, special::atanh),
        Real1::Erf => |a, out| map1(a, out, special::erf),
        Real1::Erfc => |a, out| map1(a, out, special::erfc),
        Real1::Gamma => |a, out| map1(a, out, special::gamma),
        Real1::LGamma => |a, out| map1(a, out, special::lgamma),
        Real1::Floor => |a, out| map1(a, out, f64::floor),
        Real1::Ceil => |a, out| map1(a, out, f64::ceil),
        Real1::Trunc => |a, out| map1(a, out, f64::trunc),
        Real1::Round => |a, out| map1(a, out, f64::round_ties_even),
        Real1::RoundHalfAway => |a, out| map1(a, out, f64::round),
        Real1::Radians => |a, out| map1(a, out, |a| a * (std::f64::consts::PI / 180.0)),
        Real1::Degrees => |a, out| map1(a, out, |a| a * (180.0 / std::f64::consts::PI)),
    }
}

pub(crate) fn real2(op: Real2) -> fn(&[f64], &[f64], &mut [f64]) {
    match op {
        Real2::Min => |a, b, out| map2(a, b, out, |a, b| if a <= b || a.is_nan() { a } else { b }),
        Real2::Max => |a, b, out| map2(a, b, out, |a, b| if a >= b || a.is_nan() { a } else { b }),
        Real2::Fmin => |a, b, out| map2(a, b, out, f64::min),
        Real2::Fmax => |a, b, out| map2(a, b, out, f64::max),
        Real2::Atan2 => |a, b, out| map2(a, b, out, f64::atan2),
        Real2::Hypot => |a, b, out| map2(a, b, out, f64::hypot),
        Real2::Fmod => |a, b, out| map2(a, b, out, |a, b| a % b),
        Real2::DeltaPhi => delta_phi,
        Real2::CopySign => |a, b, out| map2(a, b, out, f64::copysign),
    }
}

pub(crate) fn test(op: Test) -> fn(&[f64], &mut [u8]) {
    match op {
        Test::IsNan => |a, out| map1(a, out, |a| u8::from(a.is_nan())),
        Test::IsInf => |a, out| map1(a, out, |a| u8::from(a.is_infinite())),
        Test::IsFinite => |a, out| map1(a, out, |a| u8::from(a.is_finite())),
        Test::SignBit => |a, out| map1(a, out, |a| u8::from(a.is_sign_negative())),
        Test::FitsInt => |a, out| {
            map1(a, out, |a| {
                u8::from(a >= i64::MIN as f64 && a < -(i64::MIN as f64))
            })
        },
    }
}

/// `(a - b + pi) % (2 pi) - pi`, with Python's remainder.
fn delta_phi(a: &[f64], b: &[f64], out: &mut [f64]) {
    use std::f64::consts::{PI, TAU};
    // For angles in [-pi, pi] one turn is enough, and exact. Other angles are rare.
    let mut inside = true;
    for ((to, a), b) in out.iter_mut().zip(a).zip(b) {
        let x = a - b + PI;
        let turned = if x < 0.0 { x + TAU } else { x };
        let turned = if turned >= TAU { turned - TAU } else { turned };
        inside &= (0.0..=TAU).contains(&turned);
        *to = turned - PI;
    }
    if !inside {
        map2(a, b, out, |a, b| {
            super::arithmetic::modulo(a - b + PI, TAU) - PI
        });
    }
}

fn sign(a: f64) -> f64 {
    if a > 0.0 {
        1.0
    } else if a < 0.0 {
        -1.0
    } else {
        // Zeros and NaN are their own sign.
        a
    }
}
