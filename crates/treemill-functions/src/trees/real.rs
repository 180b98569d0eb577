//! The numbers that a library computes with: 32 bits in XGBoost, 64 in LightGBM.

use std::fmt::Debug;

/// A floating-point number.
pub(crate) trait Real: Copy + PartialOrd + Debug + Send + Sync + 'static {
    const ZERO: Self;
    const NAN: Self;
    /// The number that an argument becomes.
    fn from_argument(value: f64) -> Self;
    fn plus(self, other: Self) -> Self;
    fn times(self, other: Self) -> Self;
    fn is_nan(self) -> bool;
    /// What LightGBM takes for zero.
    fn is_nearly_zero(self) -> bool;
    /// A category's number: towards zero. `None` for what no category can be.
    fn category(self) -> Option<u32>;
}

/// Categories of XGBoost end here: 32-bit numbers hold integers up to this one.
const CATEGORIES: f32 = 16_777_216.0;
/// LightGBM's: integers of 32 bits with a sign.
const INTEGERS: f64 = 2_147_483_648.0;
/// LightGBM's zero ends here.
const NEARLY_ZERO: f64 = 1e-35_f32 as f64;

impl Real for f32 {
    const ZERO: Self = 0.0;
    const NAN: Self = Self::NAN;
    #[allow(clippy::cast_possible_truncation)]
    #[inline]
    fn from_argument(value: f64) -> Self {
        value as Self
    }
    #[inline]
    fn plus(self, other: Self) -> Self {
        self + other
    }
    #[inline]
    fn times(self, other: Self) -> Self {
        self * other
    }
    #[inline]
    fn is_nan(self) -> bool {
        self.is_nan()
    }
    #[inline]
    fn is_nearly_zero(self) -> bool {
        self == 0.0
    }
    fn category(self) -> Option<u32> {
        (0.0..CATEGORIES).contains(&self).then_some(self as u32)
    }
}

impl Real for f64 {
    const ZERO: Self = 0.0;
    const NAN: Self = Self::NAN;
    #[inline]
    fn from_argument(value: f64) -> Self {
        match value.abs() <= NEARLY_ZERO {
            true => 0.0,
            false => value,
        }
    }
    #[inline]
    fn plus(self, other: Self) -> Self {
        self + other
    }
    #[inline]
    fn times(self, other: Self) -> Self {
        self * other
    }
    #[inline]
    fn is_nan(self) -> bool {
        self.is_nan()
    }
    #[inline]
    fn is_nearly_zero(self) -> bool {
        self.abs() <= NEARLY_ZERO
    }
    fn category(self) -> Option<u32> {
        // -0.9 is 0, as in C.
        (self > -1.0 && self < INTEGERS).then_some(self as u32)
    }
}
