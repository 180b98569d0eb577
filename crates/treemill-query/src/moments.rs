//! Sums of powers, with and without weights, of which means and standard deviations are made. Knows
//! neither expressions nor columns.

use crate::wide::Wide;
use serde::{Deserialize, Serialize};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

/// Sums over values and their weights, about a center that is near the values, so that equal values have no spread.
/// No step divides by a sum of weights, which may be zero on the way. The sums keep what rounding takes, because
/// weights that cancel leave nothing else.
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
pub(crate) struct Moments {
    weights: Wide,
    weights_squared: f64,
    center: f64,
    /// Weighted distances to the center, and their squares.
    first: Wide,
    second: Wide,
}

/// A negative sum of squares that is at most this part of the sum about the center is what rounding leaves: 2^-80.
const ROUNDING: f64 = 1.0 / (1_u128 << 80) as f64;

impl Moments {
    /// Adds a value with a weight.
    #[inline]
    pub fn add(&mut self, x: f64, weight: f64) {
        self.center_near(x);
        let distance = Wide::from(x) + -self.center;
        let weighted = distance * Wide::from(weight);
        self.weights += weight;
        self.weights_squared += weight * weight;
        self.first += weighted;
        self.second += weighted * distance;
    }

    /// Adds a value with the weight 1. Such weights do not cancel: what is rounded is as small as each value.
    #[inline]
    pub fn count(&mut self, x: f64) {
        self.center_near(x);
        let distance = x - self.center;
        self.weights.add_quickly(1.0);
        self.weights_squared += 1.0;
        self.first.add_quickly(distance);
        self.second.add_quickly(distance * distance);
    }

    /// Adds values with the weight 1.
    pub fn count_all(&mut self, values: &[f64]) {
        let n = values.len() as f64;
        if !self.has_center() {
            self.center_near(values.iter().sum::<f64>() / n);
        }
        let (mut first, mut second) = (0.0, 0.0);
        for x in values {
            let distance = x - self.center;
            first += distance;
            second += distance * distance;
        }
        self.weights += n;
        self.weights_squared += n;
        self.first += first;
        self.second += second;
    }

    /// Values of weight 0 leave no trace, nor does their center.
    #[inline]
    fn has_center(&self) -> bool {
        self.weights_squared != 0.0 || self.weights != Wide::default()
    }

    #[inline]
    fn center_near(&mut self, x: f64) {
        if !self.has_center() {
            self.center = if x.is_finite() { x } else { 0.0 };
        }
    }

    pub fn merge(&mut self, other: &Self) {
        if !self.has_center() {
            self.center = other.center;
        }
        let shift = Wide::from(other.center) + -self.center;
        let first = other.first + shift * other.weights;
        self.second += other.second + shift * (other.first + first);
        self.first += first;
        self.weights += other.weights;
        self.weights_squared += other.weights_squared;
    }

    /// The sum of weights. Without weights: how many values there are.
    pub fn weights(&self) -> f64 {
        self.weights.value()
    }

    pub fn weights_squared(&self) -> f64 {
        self.weights_squared
    }

    /// The weighted mean: 0 if nothing has a weight, and NaN if the weights cancel.
    pub fn mean(&self) -> f64 {
        let about_zero = self.first + self.weights * Wide::from(self.center);
        self.if_weighted(about_zero / self.weights)
    }

    /// Weighted squares of the distances to the mean. Negative weights can make their sum negative.
    pub fn deltas(&self) -> f64 {
        let about_mean = self.if_weighted(self.second - self.first * self.first / self.weights);
        let rounding = self.second.value().abs() * ROUNDING;
        if (-rounding..0.0).contains(&about_mean) {
            return 0.0;
        }
        about_mean
    }

    /// The weighted sum of the values, which is there where weights cancel, too.
    pub fn sum(&self) -> f64 {
        (self.first + self.weights * Wide::from(self.center)).value()
    }

    /// The weighted sum of the values' squares.
    pub fn sum_of_squares(&self) -> f64 {
        let center = Wide::from(self.center);
        let twice = self.first + self.first + self.weights * center;
        (self.second + center * twice).value()
    }

    fn if_weighted(&self, result: Wide) -> f64 {
        match (self.has_center(), self.weights.value() == 0.0) {
            (false, _) => 0.0,
            (true, true) => f64::NAN,
            (true, false) => result.value(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moments(values: &[(f64, f64)]) -> Moments {
        let mut sums = Moments::default();
        for (x, weight) in values {
            sums.add(*x, *weight);
        }
        sums
    }

    #[test]
    fn weights_cancel_on_the_way() {
        let sums = moments(&[(10.0, 1.0), (20.0, -1.0), (60.0, 1.0)]);
        assert_eq!(
            (sums.weights(), sums.mean(), sums.deltas()),
            (1.0, 50.0, 800.0)
        );
    }

    #[test]
    fn weights_that_cancel_leave_no_mean() {
        let sums = moments(&[(10.0, 1.0), (20.0, -1.0)]);
        assert!(sums.mean().is_nan() && sums.deltas().is_nan());
        assert_eq!((sums.sum(), sums.sum_of_squares()), (-10.0, -300.0));
        for none in [moments(&[]), moments(&[(5.0, 0.0)])] {
            assert_eq!(
                (none.weights(), none.mean(), none.deltas()),
                (0.0, 0.0, 0.0)
            );
        }
    }

    #[test]
    fn negative_weights_may_leave_negative_squares() {
        let sums = moments(&[(10.0, -1.0), (0.0, 3.0), (0.0, 3.0)]);
        assert_eq!((sums.mean(), sums.deltas()), (-2.0, -120.0));
    }

    #[test]
    fn far_from_zero_nothing_cancels() {
        for start in [1e9, -1e12] {
            let values: Vec<f64> = (0..5000).map(|i| start + f64::from(i % 7)).collect();
            let (mut each, mut all) = (Moments::default(), Moments::default());
            values.iter().for_each(|x| each.count(*x));
            values.chunks(512).for_each(|chunk| all.count_all(chunk));
            for sums in [each, all] {
                assert!((sums.mean() - start - 2.999).abs() < 2e-4);
                assert!((sums.deltas() / 20_004.995 - 1.0).abs() < 1e-9);
            }
        }
    }

    #[test]
    fn equal_values_have_no_spread() {
        let (mut sums, mut others) = (moments(&[(0.1, 0.3); 7]), Moments::default());
        sums.merge(&moments(&[(0.1, -0.7)]));
        others.count_all(&[0.1; 1000]);
        others.count_all(&[0.1; 999]);
        for (sums, mean) in [(sums, 0.1), (others, 0.1)] {
            assert_eq!((sums.mean(), sums.deltas()), (mean, 0.0));
        }
    }

    #[test]
    fn what_has_no_weight_moves_no_center() {
        let sums = moments(&[(f64::MAX, 0.0), (1.0, 1.0), (3.0, 1.0)]);
        assert_eq!((sums.mean(), sums.deltas()), (2.0, 2.0));
    }
}
