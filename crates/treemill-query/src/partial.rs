//! What has been accumulated so far: one accumulator per booking. Merging is associative, and exact
//! for counts and integers. Knows neither expressions nor columns.
//!
//! The form of a partial depends on the specification alone, not on the columns' types, so that
//! partials over files whose types differ merge.

use crate::error::QueryError;
use serde::{Deserialize, Serialize};
use std::cmp::Ordering;

/// A number of one of the types that expressions have.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
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
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Partial {
    pub(crate) accumulators: Vec<Accumulator>,
}

/// What one booking has accumulated.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) enum Accumulator {
    /// Cells in C order and one more, for what belongs to none.
    Counts {
        shape: Vec<u32>,
        cells: Vec<u64>,
    },
    /// The same with sums of weights and of their squares.
    Weights {
        shape: Vec<u32>,
        cells: Vec<[f64; 2]>,
    },
    Count(u64),
    Sum(Sum),
    Mean(Sum),
    Min(Option<Number>),
    Max(Option<Number>),
    Extent(Option<(Number, Number, u64)>),
}

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

    fn merge(&mut self, other: &Self) {
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

    fn value(&self) -> Number {
        if self.floats {
            Number::Float(self.real())
        } else {
            Number::Int(self.int)
        }
    }

    fn mean(&self) -> Option<f64> {
        (self.n > 0).then(|| self.real() / self.n as f64)
    }
}

impl Number {
    fn as_f64(self) -> f64 {
        match self {
            Self::Bool(x) => f64::from(u8::from(x)),
            Self::Int(x) => x as f64,
            Self::Float(x) => x,
        }
    }

    /// Types by what they can hold: each holds what the ones before it do.
    fn rank(self) -> u8 {
        match self {
            Self::Bool(_) => 0,
            Self::Int(_) => 1,
            Self::Float(_) => 2,
        }
    }

    /// As the type of this rank, or as it is where it has a higher one.
    fn widened(self, rank: u8) -> Self {
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
    pub fn better(self, other: Self, wanted: Ordering) -> Self {
        if other.order(self) == wanted {
            other
        } else {
            self
        }
    }
}

/// The better of two that may not be there.
fn better(a: Option<Number>, b: Option<Number>, wanted: Ordering) -> Option<Number> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.better(b, wanted)),
        (a, b) => a.or(b),
    }
}

impl Accumulator {
    fn merge(&mut self, other: &Self) -> Result<(), QueryError> {
        match (self, other) {
            (
                Self::Counts { shape, cells },
                Self::Counts {
                    shape: other_shape,
                    cells: other_cells,
                },
            ) if shape == other_shape && cells.len() == other_cells.len() => {
                for (to, from) in cells.iter_mut().zip(other_cells) {
                    *to = to.wrapping_add(*from);
                }
            }
            (
                Self::Weights { shape, cells },
                Self::Weights {
                    shape: other_shape,
                    cells: other_cells,
                },
            ) if shape == other_shape && cells.len() == other_cells.len() => {
                for (to, from) in cells.iter_mut().zip(other_cells) {
                    to[0] += from[0];
                    to[1] += from[1];
                }
            }
            (Self::Count(a), Self::Count(b)) => *a = a.wrapping_add(*b),
            (Self::Sum(a), Self::Sum(b)) | (Self::Mean(a), Self::Mean(b)) => a.merge(b),
            (Self::Min(a), Self::Min(b)) => *a = better(*a, *b, Ordering::Less),
            (Self::Max(a), Self::Max(b)) => *a = better(*a, *b, Ordering::Greater),
            (Self::Extent(a), Self::Extent(b)) => {
                if let Some(found) = *b {
                    add_extent(a, found);
                }
            }
            _ => return Err(foreign()),
        }
        Ok(())
    }

    fn outcome(&self) -> Outcome {
        match self {
            Self::Counts { shape, cells } => Outcome::Hist {
                shape: sizes(shape),
                values: kept(cells).iter().map(|x| *x as f64).collect(),
                variances: None,
            },
            Self::Weights { shape, cells } => Outcome::Hist {
                shape: sizes(shape),
                values: kept(cells).iter().map(|x| x[0]).collect(),
                variances: Some(kept(cells).iter().map(|x| x[1]).collect()),
            },
            Self::Count(n) => Outcome::Count(*n),
            Self::Sum(sum) => Outcome::Sum(sum.value()),
            Self::Mean(sum) => Outcome::Mean(sum.mean()),
            Self::Min(found) => Outcome::Min(*found),
            Self::Max(found) => Outcome::Max(*found),
            Self::Extent(found) => Outcome::Extent(*found),
        }
    }

    /// Whether the cells are as many as the shape says.
    fn is_sound(&self) -> bool {
        let expected = |shape: &[u32]| {
            let cells = shape
                .iter()
                .try_fold(1_usize, |product, n| product.checked_mul(*n as usize));
            cells.and_then(|cells| cells.checked_add(1))
        };
        match self {
            Self::Counts { shape, cells } => expected(shape) == Some(cells.len()),
            Self::Weights { shape, cells } => expected(shape) == Some(cells.len()),
            _ => true,
        }
    }
}

pub(crate) fn add_extent(
    to: &mut Option<(Number, Number, u64)>,
    (low, high, n): (Number, Number, u64),
) {
    *to = Some(match *to {
        None => (low, high, n),
        Some((old_low, old_high, old_n)) => {
            // A column may hold integers in one file and floats in the next, and an axis for all
            // of them is one of floats, whichever of the ends comes from which.
            let rank = [old_low, old_high, low, high].map(Number::rank);
            let rank = rank.into_iter().max().unwrap_or_default();
            (
                old_low.better(low, Ordering::Less).widened(rank),
                old_high.better(high, Ordering::Greater).widened(rank),
                old_n.wrapping_add(n),
            )
        }
    });
}

/// All cells but the last, which holds what belongs to none.
fn kept<T>(cells: &[T]) -> &[T] {
    cells.split_last().map_or(&[], |(_, kept)| kept)
}

fn sizes(shape: &[u32]) -> Vec<usize> {
    shape.iter().map(|n| *n as usize).collect()
}

pub(crate) fn foreign() -> QueryError {
    QueryError::new("this partial result belongs to another query")
}

impl Partial {
    /// Adds another partial of the same query. Error: it is of another query.
    pub fn merge(&mut self, other: &Partial) -> Result<(), QueryError> {
        if self.accumulators.len() != other.accumulators.len() {
            return Err(foreign());
        }
        // All or nothing.
        for (to, from) in self.accumulators.iter().zip(&other.accumulators) {
            if !to.is_like(from) {
                return Err(foreign());
            }
        }
        for (to, from) in self.accumulators.iter_mut().zip(&other.accumulators) {
            to.merge(from)?;
        }
        Ok(())
    }

    /// For transport between processes of the same version.
    pub fn to_bytes(&self) -> Result<Vec<u8>, QueryError> {
        postcard::to_stdvec(self).map_err(|error| QueryError::new(error.to_string()))
    }

    /// Error: not what `to_bytes` wrote.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, QueryError> {
        let partial: Self = postcard::from_bytes(bytes)
            .map_err(|error| QueryError::new(format!("not a partial result: {error}")))?;
        if !partial.accumulators.iter().all(Accumulator::is_sound) {
            return Err(QueryError::new("not a partial result: its cells are cut"));
        }
        Ok(partial)
    }

    /// One per booking, in their order.
    pub fn results(&self) -> Vec<Outcome> {
        self.accumulators.iter().map(Accumulator::outcome).collect()
    }
}

impl Accumulator {
    /// Whether both are of the same kind and shape.
    pub fn is_like(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Counts { shape: a, cells: x }, Self::Counts { shape: b, cells: y }) => {
                a == b && x.len() == y.len()
            }
            (Self::Weights { shape: a, cells: x }, Self::Weights { shape: b, cells: y }) => {
                a == b && x.len() == y.len()
            }
            (a, b) => std::mem::discriminant(a) == std::mem::discriminant(b),
        }
    }
}
