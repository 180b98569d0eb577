//! Bins of one input: which one holds a value, and what happens outside of all.

use crate::corrections::variable::Slot;
use crate::error::EvaluationError;
use crate::limits::COUNTED_EDGES;

/// What there is for a value outside of all bins.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Flow {
    /// What the nearest bin has.
    Clamp,
    /// Values outside are an error.
    Error,
    /// What the bin has in which it lies when the range is repeated.
    Wrap,
    /// A content of its own.
    Value,
}

/// Bins from low to high; there is at least one.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Bins {
    /// `n` equal ones.
    Uniform { n: u32, low: f64, high: f64 },
    /// Bins lie between these ascending edges.
    Edges(Box<[f64]>),
}

/// Where a value lies.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Place {
    Bin(usize),
    /// Outside, where that has a content of its own.
    Outside,
}

impl Bins {
    pub fn len(&self) -> usize {
        match self {
            Self::Uniform { n, .. } => *n as usize,
            Self::Edges(edges) => edges.len().saturating_sub(1),
        }
    }

    /// The bin of a value of input number `input`; `name` is the node's, for messages.
    #[inline(always)]
    pub fn place(
        &self,
        slot: &Slot<'_>,
        flow: Flow,
        input: usize,
        name: &str,
    ) -> Result<Place, EvaluationError> {
        let value = slot.number();
        let last = self.len().saturating_sub(1);
        let outside = |is_below: bool| match flow {
            Flow::Clamp => Ok(Place::Bin(if is_below { 0 } else { last })),
            Flow::Value => Ok(Place::Outside),
            _ => Err(out_of_bounds(is_below, name, input, value)),
        };
        match self {
            Self::Uniform { n, low, high } => {
                let is_outside = value < *low || value >= *high;
                if is_outside && flow != Flow::Wrap {
                    return outside(value < *low);
                }
                let mut share = (value - low) / (high - low);
                if flow == Flow::Wrap {
                    share -= share.floor();
                }
                if share.is_nan() {
                    return Err(no_number(name, input, value));
                }
                // Rounding may have made a value just below the last edge equal to it.
                Ok(Place::Bin(((f64::from(*n) * share) as usize).min(last)))
            }
            Self::Edges(edges) => {
                let (Some(low), Some(high)) = (edges.first(), edges.last()) else {
                    return outside(true);
                };
                let value = match flow {
                    Flow::Wrap => {
                        let share = (value - low) / (high - low);
                        low + (share - share.floor()) * (high - low)
                    }
                    _ => value,
                };
                if flow == Flow::Wrap {
                    if value.is_nan() {
                        return Err(no_number(name, input, slot.number()));
                    }
                    let above = not_above(edges, value);
                    return Ok(Place::Bin(above.saturating_sub(1).min(last)));
                }
                // NaN is above all.
                let above = match value.is_nan() {
                    true => edges.len(),
                    false => not_above(edges, value),
                };
                match above {
                    0 => outside(true),
                    _ if above == edges.len() => outside(false),
                    _ => Ok(Place::Bin(above.saturating_sub(1))),
                }
            }
        }
    }
}

/// How many edges are not above the value. Few are counted without a branch, which is faster than to search them.
#[inline(always)]
fn not_above(edges: &[f64], value: f64) -> usize {
    if edges.len() <= COUNTED_EDGES {
        return edges.iter().map(|edge| usize::from(*edge <= value)).sum();
    }
    edges.partition_point(|edge| *edge <= value)
}

#[cold]
fn out_of_bounds(is_below: bool, name: &str, input: usize, value: f64) -> EvaluationError {
    let side = if is_below { "below" } else { "above" };
    EvaluationError::values(format!(
        "Index {side} bounds in {name} for input argument {input} value: {}",
        in_words(value)
    ))
}

#[cold]
fn no_number(name: &str, input: usize, value: f64) -> EvaluationError {
    EvaluationError::values(format!(
        "No bin in {name} for input argument {input} value: {}",
        in_words(value)
    ))
}

/// The value as C++ writes it.
fn in_words(value: f64) -> String {
    if value.is_nan() {
        "nan".to_owned()
    } else {
        format!("{value:.6}")
    }
}
