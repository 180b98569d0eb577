//! A sum of numbers: exact for integers, compensated for floats. Knows no columns.

use crate::outcome::Number;
use crate::wide::Wide;
use serde::{Deserialize, Serialize};

/// Exact for integers, compensated for floats.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub(crate) struct Sum {
    int: i128,
    real: Wide,
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
        self.real += sum;
    }

    pub fn merge(&mut self, other: &Self) {
        self.add_int(other.int, 0);
        if other.floats {
            self.floats = true;
            self.real += other.real;
        }
        self.n = self.n.wrapping_add(other.n);
    }

    fn real(&self) -> f64 {
        let sum = self.real.value();
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
