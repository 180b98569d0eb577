//! Partial results: one accumulator per booking. Merging is associative, and exact
//! for counts and integers. Knows neither expressions nor columns.
//!
//! The form of a partial depends on the specification alone, not on the columns' types, so that
//! partials over files whose types differ merge.

use crate::bins::Bins;
use crate::error::{QueryError, QueryErrorKind};
use crate::filled::{FilledBins, Kind};
use crate::limits::{LIST_BYTES_LEAST, LIST_BYTES_MOST, LIST_SHARE};
use crate::moments::Moments;
use crate::outcome::{Number, Outcome};
use crate::rows::{NamedArray, Rows};
use crate::sketch::Sketch;
use crate::sum::Sum;
use crate::unique::Unique;
use postcard::ser_flavors::Size;
use postcard::serialize_with_flavor;
use serde::{Deserialize, Serialize};
use std::cmp::Ordering;

/// Accumulators of a query's bookings.
///
/// ```
/// use treemill_query::spec::Spec;
/// use treemill_query::{Outcome, Partial, Query, Schema};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let spec: Spec = serde_json::from_str(
///     r#"{"version": 1, "steps": [], "bookings": [{"at": null, "result": {"kind": "count"}}]}"#,
/// )?;
/// let query = Query::compile(&spec, &Schema::default())?;
/// // Partials travel as bytes, and merge in any order.
/// let sent = query.partial().to_bytes()?;
/// let mut all = query.partial();
/// all.merge(&Partial::from_bytes(&sent)?)?;
/// assert_eq!(all.results(), [Outcome::Count(0)]);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Partial {
    pub(crate) accumulators: Vec<Accumulator>,
}

/// What one booking has accumulated.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) enum Accumulator {
    Counts(Bins<u64>),
    /// Sums of weights, and how many values are in the bins: sums of weights do not say.
    Sums(Bins<f64>, u64),
    /// Sums of weights and of their squares.
    Weights(Bins<[f64; 2]>, u64),
    Profile(Bins<Moments>, u64),
    Count(u64),
    Weighted([f64; 2]),
    Sum(Sum),
    Mean(Sum),
    /// The number of values, and their sums.
    Moments(u64, Moments),
    Unique(Unique),
    Quantiles {
        probabilities: Vec<f64>,
        sketch: Sketch,
    },
    Rows(Rows),
    Min(Option<Number>),
    Max(Option<Number>),
    Extent(Option<(Number, Number, u64)>),
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
            (Self::Counts(a), Self::Counts(b)) => a.merge(b),
            (Self::Sums(a, n), Self::Sums(b, more)) => {
                a.merge(b);
                *n = n.wrapping_add(*more);
            }
            (Self::Weights(a, n), Self::Weights(b, more)) => {
                a.merge(b);
                *n = n.wrapping_add(*more);
            }
            (Self::Profile(a, n), Self::Profile(b, more)) => {
                a.merge(b);
                *n = n.wrapping_add(*more);
            }
            (Self::Count(a), Self::Count(b)) => *a = a.wrapping_add(*b),
            (Self::Weighted(a), Self::Weighted(b)) => *a = [a[0] + b[0], a[1] + b[1]],
            (Self::Moments(n, a), Self::Moments(more, b)) => {
                *n = n.wrapping_add(*more);
                a.merge(b);
            }
            (Self::Unique(a), Self::Unique(b)) => a.merge(b)?,
            (Self::Quantiles { sketch, .. }, Self::Quantiles { sketch: other, .. }) => {
                sketch.merge(other)?;
            }
            (Self::Rows(a), Self::Rows(b)) if a.is_empty() && b.is_empty() => (),
            (Self::Rows(_), Self::Rows(_)) => return Err(held()),
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

    /// The bins of a histogram or profile as they are now.
    fn bins(&self) -> Option<FilledBins> {
        let (kind, fills) = match self {
            Self::Counts(bins) => {
                let (bins, mut fills) = (bins.now(), 0_u64);
                bins.read(0..bins.cells(), |part| {
                    fills = part.iter().fold(fills, |sum, x| sum.wrapping_add(*x));
                });
                (Kind::Counts(bins), fills)
            }
            Self::Sums(bins, fills) => (Kind::Sums(bins.now()), *fills),
            Self::Weights(bins, fills) => (Kind::Weights(bins.now()), *fills),
            Self::Profile(bins, fills) => (Kind::Profile(bins.now()), *fills),
            _ => return None,
        };
        Some(FilledBins { kind, fills })
    }

    fn outcome(&self) -> Outcome {
        match self {
            Self::Counts(..) | Self::Sums(..) | Self::Weights(..) | Self::Profile(..) => {
                let bins = self.bins().map(|bins| bins.outcome());
                bins.unwrap_or(Outcome::Count(0))
            }
            Self::Count(n) => Outcome::Count(*n),
            Self::Weighted(sums) => Outcome::Weights(*sums),
            Self::Moments(n, moments) => Outcome::Moments {
                n: *n,
                weights: moments.weights(),
                weights_squared: moments.weights_squared(),
                mean: (*n > 0).then(|| moments.mean()),
                deltas: moments.deltas(),
            },
            Self::Unique(unique) => Outcome::Unique(unique.values()),
            Self::Quantiles {
                probabilities,
                sketch,
            } => {
                let found = probabilities.iter().map(|q| sketch.quantile(*q));
                Outcome::Quantiles(found.collect())
            }
            Self::Rows(rows) => Outcome::Rows(rows.none().unwrap_or_default()),
            Self::Sum(sum) => Outcome::Sum(sum.value()),
            Self::Mean(sum) => Outcome::Mean(sum.mean()),
            Self::Min(found) => Outcome::Min(*found),
            Self::Max(found) => Outcome::Max(*found),
            Self::Extent(found) => Outcome::Extent(*found),
        }
    }

    /// Whether the cells are as many as the shape says.
    fn is_sound(&self) -> bool {
        match self {
            Self::Counts(bins) => bins.is_sound(),
            Self::Sums(bins, _) => bins.is_sound(),
            Self::Weights(bins, _) => bins.is_sound(),
            Self::Profile(bins, _) => bins.is_sound(),
            Self::Rows(rows) => rows.is_empty(),
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

pub(crate) fn foreign() -> QueryError {
    QueryError::of(
        QueryErrorKind::Partial,
        "this partial result belongs to another query",
    )
}

impl Partial {
    /// Adds another partial of the same query. Error: it is of another query.
    pub fn merge(&mut self, other: &Partial) -> Result<(), QueryError> {
        let _span = tracing::debug_span!("commit", bookings = other.accumulators.len()).entered();
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

    /// The bytes that carry it between processes of the same version of this format. Error: rows were not
    /// taken out.
    pub fn to_bytes(&self) -> Result<Vec<u8>, QueryError> {
        let mut bytes = vec![0; self.bytes_size()?];
        self.write_bytes(&mut bytes)?;
        Ok(bytes)
    }

    /// How many bytes `write_bytes` writes.
    pub fn bytes_size(&self) -> Result<usize, QueryError> {
        if self.row_bytes() > 0 {
            return Err(held());
        }
        serialize_with_flavor(&(VERSION, self), Size::default()).map_err(unwritten)
    }

    /// Writes what `to_bytes` gives to where there is room for it.
    pub fn write_bytes(&self, to: &mut [u8]) -> Result<(), QueryError> {
        if self.row_bytes() > 0 {
            return Err(held());
        }
        postcard::to_slice(&(VERSION, self), to).map_err(unwritten)?;
        Ok(())
    }

    /// Error: not what `to_bytes` wrote.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, QueryError> {
        let broken = |error: postcard::Error| {
            let message = format!("this is not a partial result: {error}");
            QueryError::of(QueryErrorKind::Partial, message).from_source(error)
        };
        let (version, rest) = postcard::take_from_bytes::<u32>(bytes).map_err(broken)?;
        if version != VERSION {
            let message = format!(
                "the partial result has version {version}, and this treemill reads version {VERSION}"
            );
            return Err(QueryError::of(QueryErrorKind::Partial, message));
        }
        let partial: Self = postcard::from_bytes(rest).map_err(broken)?;
        if !partial.accumulators.iter().all(Accumulator::is_sound) {
            return Err(QueryError::of(
                QueryErrorKind::Partial,
                "this is not a partial result: its cells are cut short",
            ));
        }
        Ok(partial)
    }

    /// A partial of each booking alone, in their order.
    pub fn parts(&self) -> Vec<Self> {
        let alone = |each: &Accumulator| Self {
            accumulators: vec![each.clone()],
        };
        self.accumulators.iter().map(alone).collect()
    }

    /// The partial of all bookings of these partials, one partial after another.
    ///
    /// ```
    /// # use treemill_query::Partial;
    /// let none = Partial::joined(&[]);
    /// assert!(none.results().is_empty() && none.parts().is_empty());
    /// ```
    pub fn joined(parts: &[&Self]) -> Self {
        let all = parts.iter().flat_map(|each| &each.accumulators);
        Self {
            accumulators: all.cloned().collect(),
        }
    }

    /// One per booking, in their order.
    pub fn results(&self) -> Vec<Outcome> {
        self.accumulators.iter().map(Accumulator::outcome).collect()
    }

    /// The bins of a histogram or profile as they are now, without a copy of large ones; `None`: the booking is of
    /// another kind.
    pub fn bins(&self, booking: usize) -> Option<FilledBins> {
        self.accumulators.get(booking).and_then(Accumulator::bins)
    }

    /// One result per booking, `None` for histograms and profiles: `bins` gives these.
    pub fn other_results(&self) -> Vec<Option<Outcome>> {
        let outcome = |each: &Accumulator| match each {
            Accumulator::Counts(..)
            | Accumulator::Sums(..)
            | Accumulator::Weights(..)
            | Accumulator::Profile(..) => None,
            other => Some(other.outcome()),
        };
        self.accumulators.iter().map(outcome).collect()
    }

    /// Whether lists of what was filled into large histograms have taken their room: then the partial is to be merged
    /// into another one before more is filled.
    pub fn is_full(&self) -> bool {
        let (mut listed, mut large) = (0, 0);
        for each in &self.accumulators {
            let (bytes, all) = match each {
                Accumulator::Counts(bins) => (bins.listed_bytes(), bins.large_bytes()),
                Accumulator::Sums(bins, _) => (bins.listed_bytes(), bins.large_bytes()),
                Accumulator::Weights(bins, _) => (bins.listed_bytes(), bins.large_bytes()),
                Accumulator::Profile(bins, _) => (bins.listed_bytes(), bins.large_bytes()),
                _ => continue,
            };
            listed += bytes;
            large += all;
        }
        listed > 0 && listed >= (large / LIST_SHARE).clamp(LIST_BYTES_LEAST, LIST_BYTES_MOST)
    }

    /// Memory that rows take which were not taken out, about.
    pub fn row_bytes(&self) -> usize {
        let rows = |each: &Accumulator| match each {
            Accumulator::Rows(rows) if rows.rows > 0 => rows.bytes(),
            _ => 0,
        };
        self.accumulators.iter().map(rows).sum()
    }

    /// The rows of all bookings that want rows, by the booking's number. They are gone from here
    /// then: before a partial is merged or sent, the caller, which knows their order, takes them.
    pub fn take_rows(&mut self) -> Result<Vec<(usize, Vec<NamedArray>)>, QueryError> {
        let numbered = self.accumulators.iter_mut().enumerate();
        let taken = numbered.filter_map(|(number, each)| match each {
            Accumulator::Rows(rows) if rows.rows > 0 => {
                Some(rows.take().map(|columns| (number, columns)))
            }
            _ => None,
        });
        taken.collect()
    }

    /// Whether bookings want rows.
    pub fn wants_rows(&self) -> bool {
        let mut all = self.accumulators.iter();
        all.any(|each| matches!(each, Accumulator::Rows(_)))
    }

    /// Whether the rows of both, partials of one query, are of the same types.
    pub fn has_row_types_of(&self, other: &Self) -> bool {
        let mut pairs = self.accumulators.iter().zip(&other.accumulators);
        pairs.all(|pair| match pair {
            (Accumulator::Rows(ours), Accumulator::Rows(others)) => ours.has_types_of(others),
            _ => true,
        })
    }

    /// Names and types of the columns of all bookings that want rows, by the booking's number: those
    /// that the file has for which the partial was made.
    pub fn row_types(&self) -> Result<Vec<(usize, Vec<NamedArray>)>, QueryError> {
        let numbered = self.accumulators.iter().enumerate();
        let typed = numbered.filter_map(|(number, each)| match each {
            Accumulator::Rows(rows) => Some(rows.none().map(|columns| (number, columns))),
            _ => None,
        });
        typed.collect()
    }
}

/// Version of the form in which partials travel. Cells travel in the machine's order of bytes, and a machine
/// of the other order reads another version.
const VERSION: u32 = if cfg!(target_endian = "big") {
    0x1_0005
} else {
    5
};

fn unwritten(error: postcard::Error) -> QueryError {
    QueryError::of(QueryErrorKind::Partial, error.to_string()).from_source(error)
}

fn held() -> QueryError {
    QueryError::of(
        QueryErrorKind::Partial,
        "rows must be taken out of a partial result before it is handed on",
    )
}

impl Accumulator {
    /// Whether both are of the same kind and shape.
    pub fn is_like(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Counts(a), Self::Counts(b)) => a.is_like(b),
            (Self::Sums(a, _), Self::Sums(b, _)) => a.is_like(b),
            (Self::Weights(a, _), Self::Weights(b, _)) => a.is_like(b),
            (Self::Profile(a, _), Self::Profile(b, _)) => a.is_like(b),
            (Self::Unique(a), Self::Unique(b)) => a.limit() == b.limit(),
            (
                Self::Quantiles {
                    probabilities: a, ..
                },
                Self::Quantiles {
                    probabilities: b, ..
                },
            ) => a == b,
            (Self::Rows(a), Self::Rows(b)) => a.is_like(b),
            (a, b) => std::mem::discriminant(a) == std::mem::discriminant(b),
        }
    }
}
