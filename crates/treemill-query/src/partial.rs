//! What has been accumulated so far: one accumulator per booking. Merging is associative, exact for
//! counts and integers. Knows neither expressions nor columns.

use crate::error::QueryError;

/// A number of one of the types that expressions have.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Number {
    Bool(bool),
    Int(i128),
    Float(f64),
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
    },
    /// Entries.
    Count(u64),
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

/// Accumulators of a query's bookings.
#[derive(Debug, Clone, PartialEq)]
pub struct Partial {}

impl Partial {
    /// Adds another partial of the same query. Error: it is of another query.
    pub fn merge(&mut self, other: &Partial) -> Result<(), QueryError> {
        let _ = other;
        Ok(())
    }

    /// For transport between processes of the same version.
    pub fn to_bytes(&self) -> Result<Vec<u8>, QueryError> {
        Ok(Vec::new())
    }

    /// Error: not what `to_bytes` wrote.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, QueryError> {
        let _ = bytes;
        Ok(Self {})
    }

    /// One per booking, in their order.
    pub fn results(&self) -> Vec<Outcome> {
        Vec::new()
    }
}
