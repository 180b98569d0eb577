//! Numbers with about twice the digits of a double, for sums whose terms cancel. Knows nothing of values and weights.

use serde::{Deserialize, Serialize};
use std::ops::{Add, AddAssign, Div, Mul, Sub};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

/// `high + low`: what rounding takes from `high` is known exactly, and goes into `low`.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Default,
    Serialize,
    Deserialize,
    FromBytes,
    IntoBytes,
    Immutable,
    KnownLayout,
)]
#[repr(C)]
pub(crate) struct Wide {
    high: f64,
    low: f64,
}

impl Wide {
    /// The nearest double. What is infinite or no number has no rest.
    #[inline]
    pub fn value(self) -> f64 {
        let both = self.high + self.low;
        if both.is_finite() { both } else { self.high }
    }

    /// Dekker's sum, in half of the time: exact if `x` is not larger than the sum, else as a sum of doubles.
    #[inline]
    pub fn add_quickly(&mut self, x: f64) {
        let high = self.high + x;
        self.low += x - (high - self.high);
        self.high = high;
    }
}

impl From<f64> for Wide {
    #[inline]
    fn from(high: f64) -> Self {
        Self { high, low: 0.0 }
    }
}

impl Add<f64> for Wide {
    type Output = Self;

    /// Knuth's sum, which is exact but for `low`.
    #[inline]
    fn add(self, x: f64) -> Self {
        let high = self.high + x;
        let part = high - self.high;
        let rest = (self.high - (high - part)) + (x - part);
        let low = self.low + rest;
        Self { high, low }
    }
}

impl Add for Wide {
    type Output = Self;

    #[inline]
    fn add(self, other: Self) -> Self {
        let Self { high, low } = self + other.high;
        let low = low + other.low;
        Self { high, low }
    }
}

impl Sub for Wide {
    type Output = Self;

    #[inline]
    fn sub(self, other: Self) -> Self {
        let (high, low) = (-other.high, -other.low);
        self + Self { high, low }
    }
}

impl Mul for Wide {
    type Output = Self;

    #[inline]
    fn mul(self, other: Self) -> Self {
        let high = self.high * other.high;
        let rest = self.high.mul_add(other.high, -high);
        let low = rest + self.high.mul_add(other.low, self.low * other.high);
        Self { high, low }
    }
}

impl Div for Wide {
    type Output = Self;

    fn div(self, other: Self) -> Self {
        let divisor = other.value();
        let high = self.value() / divisor;
        let rest = self - Self::from(high) * other;
        let low = rest.value() / divisor;
        Self { high, low }
    }
}

impl AddAssign<f64> for Wide {
    #[inline]
    fn add_assign(&mut self, x: f64) {
        *self = *self + x;
    }
}

impl AddAssign for Wide {
    #[inline]
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_rounding_takes_is_kept() {
        let mut sum = Wide::default();
        for x in [1e16, 1.0, 1e30, -1e30, -1e16] {
            sum += x;
        }
        assert_eq!(sum.value(), 1.0);
        let mut quick = Wide::from(1e16);
        (0..1000).for_each(|_| quick.add_quickly(0.125));
        assert_eq!((quick + -1e16).value(), 125.0);
        let third = Wide::from(1.0) / Wide::from(3.0);
        assert_eq!((third * Wide::from(3.0) - Wide::from(1.0)).value(), 0.0);
        let square = Wide::from(1.0 + f64::EPSILON) * Wide::from(1.0 + f64::EPSILON);
        let rest = square - Wide::from(1.0 + 2.0 * f64::EPSILON);
        assert_eq!(rest.value(), f64::EPSILON * f64::EPSILON);
    }

    #[test]
    fn what_is_infinite_stays_so() {
        for x in [f64::INFINITY, f64::NEG_INFINITY] {
            let mut sum = Wide::from(1.0);
            sum += x;
            sum += 2.0;
            assert_eq!(sum.value(), x);
            assert_eq!((sum * Wide::from(2.0)).value(), x);
            sum += -x;
            assert!(sum.value().is_nan());
        }
        assert_eq!((Wide::from(f64::MAX) + f64::MAX).value(), f64::INFINITY);
    }
}
