//! Which cell of an axis a value belongs to: the rules of boost-histogram 1.8 (Boost.Histogram's
//! `axis::regular`, `variable`, `integer`, `category`), operation by operation, so that results are
//! the same to the bit, at edges too. Knows no storage.

mod regular;

use crate::chunk::Widen;
use crate::error::QueryError;
use crate::limits::AXIS_BINS;
use crate::spec;
use std::collections::HashMap;

/// Marks a value that no cell takes.
pub(crate) const DROP: u32 = 1 << 31;

/// An axis that finds cells. Cells are numbered from 0, the underflow cell first where there is one,
/// the overflow cell last.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Axis {
    kind: AxisKind,
    /// Bins, without flow.
    size: u32,
    underflow: bool,
    overflow: bool,
}

#[derive(Debug, Clone, PartialEq)]
enum AxisKind {
    Regular {
        min: f64,
        delta: f64,
        circular: bool,
        transform: Option<spec::Function>,
    },
    Variable {
        edges: Vec<f64>,
        circular: bool,
    },
    Integer {
        min: i64,
        circular: bool,
    },
    IntCategory(HashMap<i64, u32>),
    StrCategory(HashMap<String, u32>),
    Boolean,
}

impl spec::Function {
    /// The function in which bins are equal, by the C library's as boost-histogram's.
    fn forward(self, x: f64) -> f64 {
        match self {
            Self::Log => x.ln(),
            Self::Sqrt => x.sqrt(),
            Self::Pow { power } => x.powf(power),
        }
    }
}

/// What an axis is filled with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Takes {
    Reals,
    Integers,
    Bools,
    Strings,
}

impl Axis {
    /// Error: no such axis can be made.
    pub fn new(axis: &spec::Axis) -> Result<Self, QueryError> {
        let (kind, size, underflow, overflow) = match axis {
            spec::Axis::Regular {
                bins,
                start,
                stop,
                underflow,
                overflow,
                circular,
                transform,
            } => {
                let (min, delta) = match transform {
                    Some(transform) => (transform.min, transform.delta),
                    None => (*start, stop - start),
                };
                if *circular && transform.is_some() {
                    return Err(QueryError::new("a circular axis has no transform"));
                }
                if !min.is_finite() || !delta.is_finite() || delta == 0.0 {
                    return Err(QueryError::new(
                        "a regular axis needs a finite range that is not empty",
                    ));
                }
                let circular = *circular;
                let kind = AxisKind::Regular {
                    min,
                    delta,
                    circular,
                    transform: transform.map(|transform| transform.function),
                };
                (
                    kind,
                    i64::from(*bins),
                    *underflow && !circular,
                    *overflow || circular,
                )
            }
            spec::Axis::Variable {
                edges,
                underflow,
                overflow,
                circular,
            } => {
                if edges.len() < 2 || !edges.windows(2).all(|pair| pair[0] < pair[1]) {
                    return Err(QueryError::new(
                        "a variable axis needs two or more edges, strictly ascending",
                    ));
                }
                let circular = *circular;
                let size = edges.len() as i64 - 1;
                let edges = edges.clone();
                let kind = AxisKind::Variable { edges, circular };
                (kind, size, *underflow && !circular, *overflow || circular)
            }
            spec::Axis::Integer {
                start,
                stop,
                underflow,
                overflow,
                circular,
            } => {
                let size = stop.checked_sub(*start).unwrap_or(i64::MAX);
                let (min, circular) = (*start, *circular);
                let kind = AxisKind::Integer { min, circular };
                // Every integer has a bin on a circle, so that hist has no overflow there.
                (kind, size, *underflow && !circular, *overflow && !circular)
            }
            spec::Axis::IntCategory {
                categories,
                overflow,
            } => {
                let found = numbered(categories.iter().copied())?;
                (
                    AxisKind::IntCategory(found),
                    categories.len() as i64,
                    false,
                    *overflow,
                )
            }
            spec::Axis::StrCategory {
                categories,
                overflow,
            } => {
                let found = numbered(categories.iter().cloned())?;
                (
                    AxisKind::StrCategory(found),
                    categories.len() as i64,
                    false,
                    *overflow,
                )
            }
            spec::Axis::Boolean => (AxisKind::Boolean, 2, false, false),
        };
        // Axes that grow have no bin if no value was found to fill them.
        let may_be_empty = matches!(
            kind,
            AxisKind::IntCategory(_)
                | AxisKind::StrCategory(_)
                | AxisKind::Integer {
                    circular: false,
                    ..
                }
        );
        if size > AXIS_BINS || size < i64::from(!may_be_empty) {
            let message = format!("an axis has 1 to {AXIS_BINS} bins, not {size}");
            return Err(QueryError::new(message));
        }
        Ok(Self {
            kind,
            size: size as u32,
            underflow,
            overflow,
        })
    }

    /// Cells, with flow.
    pub fn cells(&self) -> u32 {
        self.size + u32::from(self.underflow) + u32::from(self.overflow)
    }

    /// Whether there are values that no cell takes.
    pub fn drops(&self) -> bool {
        let flows = match self.kind {
            AxisKind::Regular { circular, .. } | AxisKind::Integer { circular, .. } => {
                (self.underflow || circular) && self.overflow
            }
            // Turned back by rounding, a value may come to lie below the first edge.
            AxisKind::Variable { .. } => self.underflow && self.overflow,
            AxisKind::IntCategory(_) | AxisKind::StrCategory(_) => self.overflow,
            AxisKind::Boolean => true,
        };
        !flows
    }

    pub fn takes(&self) -> Takes {
        match self.kind {
            AxisKind::Regular { .. } | AxisKind::Variable { .. } => Takes::Reals,
            AxisKind::Integer { .. } | AxisKind::IntCategory(_) => Takes::Integers,
            AxisKind::Boolean => Takes::Bools,
            AxisKind::StrCategory(_) => Takes::Strings,
        }
    }

    /// The cell of Boost.Histogram's index, -1 ..= size.
    #[inline(always)]
    fn cell(&self, index: i64) -> u32 {
        if index < 0 {
            self.below()
        } else if index >= i64::from(self.size) {
            self.above()
        } else {
            index as u32 + u32::from(self.underflow)
        }
    }

    fn below(&self) -> u32 {
        if self.underflow { 0 } else { DROP }
    }

    fn above(&self) -> u32 {
        if self.overflow {
            self.size + u32::from(self.underflow)
        } else {
            DROP
        }
    }

    /// Cells of floats.
    pub fn reals<T: Copy + Widen<f64>>(&self, values: &[T], out: &mut [u32]) {
        match &self.kind {
            AxisKind::Regular {
                min,
                delta,
                circular,
                transform,
            } => {
                if *circular {
                    self.circular(*min, *delta, values, out);
                } else if let Some(transform) = transform {
                    let values: Vec<f64> = values
                        .iter()
                        .map(|x| transform.forward(x.widen()))
                        .collect();
                    self.regular(*min, *delta, &values, out);
                } else {
                    self.regular(*min, *delta, values, out);
                }
            }
            AxisKind::Variable { edges, circular } => self.variable(edges, *circular, values, out),
            _ => out.fill(DROP),
        }
    }

    fn circular<T: Copy + Widen<f64>>(&self, min: f64, delta: f64, values: &[T], out: &mut [u32]) {
        let bins = f64::from(self.size);
        for (to, x) in out.iter_mut().zip(values) {
            let z = (x.widen() - min) / delta;
            *to = if z.is_finite() {
                self.cell(((z - z.floor()) * bins) as i64)
            } else {
                self.above()
            };
        }
    }

    fn variable<T: Copy + Widen<f64>>(
        &self,
        edges: &[f64],
        circular: bool,
        values: &[T],
        out: &mut [u32],
    ) {
        let (first, last) = (edges[0], edges[edges.len() - 1]);
        for (to, x) in out.iter_mut().zip(values) {
            let mut x = x.widen();
            if circular {
                x -= ((x - first) / (last - first)).floor() * (last - first);
            }
            *to = if !self.overflow && x == last {
                self.cell(i64::from(self.size) - 1)
            } else if x.is_nan() {
                self.above()
            } else {
                self.cell(edges.partition_point(|edge| *edge <= x) as i64 - 1)
            };
        }
    }

    /// Cells of integers.
    pub fn integers(&self, values: &[i64], out: &mut [u32]) {
        match &self.kind {
            AxisKind::Integer { min, circular } => {
                let size = i64::from(self.size);
                for (to, x) in out.iter_mut().zip(values) {
                    *to = if *circular {
                        let distance = i128::from(*x) - i128::from(*min);
                        self.cell(distance.rem_euclid(i128::from(size)) as i64)
                    } else if *x < *min {
                        self.below()
                    } else {
                        // The number is not negative; one too large for i64 is above all bins.
                        self.cell(x.checked_sub(*min).unwrap_or(size))
                    };
                }
            }
            AxisKind::IntCategory(found) => {
                for (to, x) in out.iter_mut().zip(values) {
                    *to = found.get(x).copied().unwrap_or(self.above());
                }
            }
            _ => out.fill(DROP),
        }
    }

    /// Cells of u64, given by their bits.
    pub fn unsigned(&self, values: &[i64], out: &mut [u32]) {
        self.integers(values, out);
        for (to, bits) in out.iter_mut().zip(values).filter(|(_, bits)| **bits < 0) {
            *to = match &self.kind {
                AxisKind::Integer {
                    min,
                    circular: true,
                } => {
                    let distance = i128::from(*bits as u64) - i128::from(*min);
                    self.cell(distance.rem_euclid(i128::from(self.size)) as i64)
                }
                _ => self.above(),
            };
        }
    }

    /// Cells of bools.
    pub fn bools(&self, values: &[u8], out: &mut [u32]) {
        for (to, x) in out.iter_mut().zip(values) {
            *to = u32::from(*x != 0);
        }
    }

    /// The cell of a string.
    pub fn string(&self, value: &[u8]) -> u32 {
        let AxisKind::StrCategory(found) = &self.kind else {
            return DROP;
        };
        let cell = std::str::from_utf8(value)
            .ok()
            .and_then(|text| found.get(text));
        cell.copied().unwrap_or(self.above())
    }
}

fn numbered<T: std::hash::Hash + Eq>(
    categories: impl ExactSizeIterator<Item = T>,
) -> Result<HashMap<T, u32>, QueryError> {
    let wanted = categories.len();
    let found: HashMap<T, u32> = categories.zip(0_u32..).collect();
    if found.len() != wanted {
        return Err(QueryError::new("the categories of an axis must differ"));
    }
    Ok(found)
}
