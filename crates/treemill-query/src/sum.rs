//! A sum of numbers: exact for integers, compensated for floats. Knows no columns.

use crate::outcome::Number;
use serde::{Deserialize, Serialize};

/// Exact for integers, compensated for floats.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub(crate) struct Sum {
    int: i128,
    real: f64,
    /// What rounding took from `real` (Neumaier's summation).
    rest: f64,
    /// Whether floats were added.
    floats: bool,
    /// Values added.
    n: u64,
}

impl Sum {
    pub fn add_int(&mut self, sum: i128, n: u64) {
        self.int = self.int.wrapping_add(sum);
        self.n = self.n.wrapping_add(n);
    }

    pub fn add_real(&mut self, sum: f64, n: u64) {
        self.floats = true;
        self.n = self.n.wrapping_add(n);
        let total = self.real + sum;
        if total.is_finite() {
            self.rest += if self.real.abs() >= sum.abs() {
                (self.real - total) + sum
            } else {
                (sum - total) + self.real
            };
        }
        self.real = total;
    }

    pub fn merge(&mut self, other: &Self) {
        self.add_int(other.int, 0);
        if other.floats {
            self.add_real(other.real, 0);
            self.rest += other.rest;
        }
        self.n = self.n.wrapping_add(other.n);
    }

    fn real(&self) -> f64 {
        let sum = if self.real.is_finite() {
            self.real + self.rest
        } else {
            self.real
        };
        if self.int == 0 {
            sum
        } else {
            sum + self.int as f64
        }
    }

    pub fn value(&self) -> Number {
        if self.floats {
            Number::Float(self.real())
        } else {
            Number::Int(self.int)
        }
    }

    pub fn mean(&self) -> Option<f64> {
        (self.n > 0).then(|| self.real() / self.n as f64)
    }
}
