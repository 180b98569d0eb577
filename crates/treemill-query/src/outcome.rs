//! Results of bookings, as they are handed over.

use crate::rows::NamedArray;
use serde::{Deserialize, Serialize};
use std::cmp::Ordering;

/// A number of one of the types that expressions have.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub enum Number {
    Bool(bool),
    Int(i128),
    Float(f64),
}

/// Different values, ascending: numbers or strings.
#[derive(Debug, Clone, PartialEq)]
pub enum Values {
    Numbers(Vec<Number>),
    Strings(Vec<Vec<u8>>),
}

/// The result of one booking.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// Bins in C order (last axis fastest), flow bins included where the axis has them.
    Hist {
        /// Bins per axis, with flow bins.
        shape: Vec<usize>,
        /// Counts or sums of weights.
        values: Vec<f64>,
        /// Sums of squared weights, where there are weights.
        variances: Option<Vec<f64>>,
        /// How many values are in the bins.
        fills: u64,
    },
    /// Bins as a histogram's.
    Profile {
        /// Bins per axis, with flow bins.
        shape: Vec<usize>,
        /// Sums of weights; without weights, counts.
        weights: Vec<f64>,
        /// Sums of squared weights.
        weights_squared: Vec<f64>,
        /// Means of the sample.
        means: Vec<f64>,
        /// Weighted squares of the distances to the mean.
        deltas: Vec<f64>,
        /// Weighted sums of the sample, and of its squares: what is left where weights cancel, and there is no mean.
        sums: Vec<f64>,
        sums_of_squares: Vec<f64>,
        /// How many values are in the bins.
        fills: u64,
    },
    /// Entries.
    Count(u64),
    /// Sums of the entries' weights and of their squares.
    Weights([f64; 2]),
    /// What means and standard deviations are made of.
    Moments {
        /// Values.
        n: u64,
        /// Sum of weights.
        weights: f64,
        /// Sum of squared weights.
        weights_squared: f64,
        /// `None`: no values.
        mean: Option<f64>,
        /// Weighted squares of the distances to the mean.
        deltas: f64,
    },
    /// Different values, ascending.
    Unique(Values),
    /// One per probability; `None`: no values.
    Quantiles(Option<Vec<f64>>),
    /// Names and types of the columns of rows: arrays without entries.
    Rows(Vec<NamedArray>),
    /// `Int` for integers and bools, else `Float`.
    Sum(Number),
    /// `None`: no values.
    Mean(Option<f64>),
    /// `None`: no values.
    Min(Option<Number>),
    /// `None`: no values.
    Max(Option<Number>),
    /// Smallest and largest finite value, and how many finite values there were.
    Extent(Option<(Number, Number, u64)>),
}

impl Number {
    pub(crate) fn as_f64(self) -> f64 {
        match self {
            Self::Bool(x) => f64::from(u8::from(x)),
            Self::Int(x) => x as f64,
            Self::Float(x) => x,
        }
    }

    /// Types by what they can hold: each holds what the ones before it do.
    pub(crate) fn rank(self) -> u8 {
        match self {
            Self::Bool(_) => 0,
            Self::Int(_) => 1,
            Self::Float(_) => 2,
        }
    }

    /// The number as the type of this rank, or as it is if its own is higher.
    pub(crate) fn widened(self, rank: u8) -> Self {
        match (self, rank) {
            (Self::Bool(x), 1) => Self::Int(i128::from(x)),
            (Self::Bool(_) | Self::Int(_), 2) => Self::Float(self.as_f64()),
            _ => self,
        }
    }

    fn order(self, other: Self) -> Ordering {
        match (self, other) {
            (Self::Int(a), Self::Int(b)) => a.cmp(&b),
            (a, b) => a.as_f64().total_cmp(&b.as_f64()),
        }
    }

    /// The one of two that is before the other in the order wanted.
    pub(crate) fn better(self, other: Self, wanted: Ordering) -> Self {
        if other.order(self) == wanted {
            other
        } else {
            self
        }
    }
}
