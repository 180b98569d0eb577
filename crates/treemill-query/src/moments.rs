//! Sums of powers, with and without weights, of which means and standard deviations are made. Knows
//! neither expressions nor columns.

use serde::{Deserialize, Serialize};

/// A profile's cell: boost-histogram's accumulators `mean` and `weighted_mean`, which update in
/// the same steps (Welford's); without weights every weight is 1.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub(crate) struct Mean {
    pub weights: f64,
    pub weights_squared: f64,
    pub mean: f64,
    /// Weighted squares of the distances to the mean.
    pub deltas: f64,
}

impl Mean {
    #[inline]
    pub fn add(&mut self, x: f64, weight: f64) {
        self.weights += weight;
        self.weights_squared += weight * weight;
        let delta = x - self.mean;
        // Weights that cancel leave no mean to move.
        if self.weights != 0.0 {
            self.mean += weight * delta / self.weights;
        }
        self.deltas += weight * delta * (x - self.mean);
    }

    pub fn merge(&mut self, other: &Self) {
        if other.weights == 0.0 && other.weights_squared == 0.0 {
            return;
        }
        let (ours, theirs) = (self.weights, other.weights);
        let old = self.mean;
        self.weights += theirs;
        self.weights_squared += other.weights_squared;
        if self.weights != 0.0 {
            self.mean = (ours * old + theirs * other.mean) / self.weights;
        }
        let (a, b) = (self.mean - old, self.mean - other.mean);
        self.deltas += other.deltas + ours * a * a + theirs * b * b;
    }
}

/// Sums of one variable about a center that is near its values, so that little cancels. No step
/// divides by a sum of weights, which may be zero on the way.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub(crate) struct Moments {
    /// Values.
    pub n: u64,
    pub weights: f64,
    pub weights_squared: f64,
    center: f64,
    /// Weighted distances to the center, and their squares.
    first: f64,
    second: f64,
}

impl Moments {
    /// Adds values, each with its weight, or with 1.
    pub fn add(&mut self, values: &[f64], weights: Option<&[f64]>) {
        if values.is_empty() {
            return;
        }
        let n = values.len() as f64;
        let center = if self.n == 0 {
            let mean = values.iter().sum::<f64>() / n;
            if mean.is_finite() { mean } else { 0.0 }
        } else {
            self.center
        };
        let mut chunk = Self {
            n: values.len() as u64,
            center,
            ..Self::default()
        };
        match weights {
            None => {
                chunk.weights = n;
                chunk.weights_squared = n;
                for x in values {
                    let d = x - center;
                    chunk.first += d;
                    chunk.second += d * d;
                }
            }
            Some(weights) => {
                for (x, w) in values.iter().zip(weights) {
                    let d = x - center;
                    chunk.weights += w;
                    chunk.weights_squared += w * w;
                    chunk.first += w * d;
                    chunk.second += w * d * d;
                }
            }
        }
        self.merge(&chunk);
    }

    pub fn merge(&mut self, other: &Self) {
        if other.n == 0 {
            return;
        }
        if self.n == 0 {
            *self = *other;
            return;
        }
        let d = other.center - self.center;
        self.n = self.n.wrapping_add(other.n);
        self.weights += other.weights;
        self.weights_squared += other.weights_squared;
        self.second += other.second + 2.0 * d * other.first + d * d * other.weights;
        self.first += other.first + d * other.weights;
    }

    /// The weighted mean; `None` without values.
    pub fn mean(&self) -> Option<f64> {
        (self.n > 0).then(|| self.center + self.first / self.weights)
    }

    /// Weighted squares of the distances to the mean.
    pub fn deltas(&self) -> f64 {
        let about_mean = self.second - self.first * self.first / self.weights;
        // What rounding leaves of equal values is no negative square. NaN stays, and so do
        // negative weights.
        if about_mean < 0.0 && self.weights * self.weights >= self.weights_squared {
            return about_mean.max(0.0);
        }
        about_mean
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn weighted(values: &[(f64, f64)]) -> (f64, f64) {
        let sum: f64 = values.iter().map(|(_, w)| w).sum();
        let mean = values.iter().map(|(x, w)| x * w).sum::<f64>() / sum;
        let deltas = values.iter().map(|(x, w)| w * (x - mean) * (x - mean));
        (mean, deltas.sum())
    }

    #[test]
    fn far_from_zero_nothing_cancels() {
        let values: Vec<f64> = (0..5000).map(|i| 1e9 + f64::from(i % 7)).collect();
        let mut moments = Moments::default();
        for chunk in values.chunks(512) {
            moments.add(chunk, None);
        }
        let pairs: Vec<(f64, f64)> = values.iter().map(|x| (x - 1e9, 1.0)).collect();
        let (mean, deltas) = weighted(&pairs);
        assert!((moments.mean().unwrap_or(0.0) - 1e9 - mean).abs() < 1e-6);
        assert!((moments.deltas() / deltas - 1.0).abs() < 1e-9);
    }

    #[test]
    fn parts_in_any_order_are_the_whole() {
        let values: Vec<(f64, f64)> = (0..1000)
            .map(|i| (f64::from(i * 37 % 101), f64::from(i % 5) - 0.5))
            .collect();
        let (xs, ws): (Vec<f64>, Vec<f64>) = values.iter().copied().unzip();
        let mut cell = [Mean::default(), Mean::default()];
        let mut moments = [Moments::default(), Moments::default()];
        for (i, (x, w)) in values.iter().enumerate() {
            cell[i % 2].add(*x, *w);
        }
        moments[0].add(&xs[..300], Some(&ws[..300]));
        moments[1].add(&xs[300..], Some(&ws[300..]));
        let (mean, deltas) = weighted(&values);
        let (one, other) = (cell[0], cell[1]);
        for (mut a, b) in [(one, other), (other, one)] {
            a.merge(&b);
            assert!((a.mean - mean).abs() < 1e-9 && (a.deltas / deltas - 1.0).abs() < 1e-9);
        }
        let (one, other) = (moments[0], moments[1]);
        for (mut a, b) in [(one, other), (other, one)] {
            a.merge(&b);
            assert!((a.mean().unwrap_or(0.0) - mean).abs() < 1e-9);
            assert!((a.deltas() / deltas - 1.0).abs() < 1e-9);
        }
    }
}
