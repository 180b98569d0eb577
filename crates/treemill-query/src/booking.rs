//! Bookings: checked and compiled once, then filled batch by batch.

use crate::binned::{Binned, number, whole};
use crate::bins::{Bins, is_large};
use crate::cells::{self, Cells};
use crate::compile::{Compiler, EVENT, LevelId, NodeId, Type};
use crate::error::{ProcessError, QueryError};
use crate::eval::{Batch, SelectionId};
use crate::fill;
use crate::moments::Moments;
use crate::partial::{Accumulator, foreign};
use crate::row_columns::{RowColumn, add_rows};
use crate::rows::Rows;
use crate::sketch::Sketch;
use crate::spec::{Expression, Wanted};
use crate::sum::Sum;
use crate::unique::Unique;
use crate::value::Value;
use std::cmp::Ordering;

/// What a booking computes, from which nodes.
pub(crate) enum CompiledBooking {
    Hist {
        binned: Binned,
        weight: Option<NodeId>,
        squares: bool,
    },
    Profile {
        binned: Binned,
        sample: NodeId,
        weight: Option<NodeId>,
    },
    Count,
    Weights(NodeId),
    Sum(NodeId, Type),
    Mean(NodeId, Type),
    Min(NodeId, Type),
    Max(NodeId, Type),
    Extent(NodeId, Type),
    Moments(NodeId, Option<NodeId>),
    Unique {
        value: NodeId,
        ty: Type,
        limit: u64,
    },
    Quantiles {
        value: NodeId,
        probabilities: Vec<f64>,
        bounded: bool,
    },
    Rows(Vec<RowColumn>),
}

impl CompiledBooking {
    /// Error: what is wrong with it.
    pub fn compile(
        wanted: &Wanted,
        compiler: &mut Compiler,
        scope: Option<usize>,
    ) -> Result<Self, QueryError> {
        Ok(match wanted {
            Wanted::Hist {
                axes,
                weight,
                squares,
            } => {
                let others: Vec<&Expression> = weight.iter().collect();
                let (binned, mut others) = Binned::compile(axes, &others, compiler, scope)?;
                Self::Hist {
                    binned,
                    weight: others.pop(),
                    squares: *squares,
                }
            }
            Wanted::Profile {
                axes,
                sample,
                weight,
            } => {
                let others: Vec<&Expression> = std::iter::once(sample).chain(weight).collect();
                let (binned, others) = Binned::compile(axes, &others, compiler, scope)?;
                let mut others = others.into_iter();
                let sample = others.next().ok_or_else(|| whole(sample, "no sample"))?;
                Self::Profile {
                    binned,
                    sample,
                    weight: others.next(),
                }
            }
            Wanted::Count => Self::Count,
            Wanted::Weights { expr } => {
                let (node, _) = number(expr, compiler, scope)?;
                if compiler.names.nodes.graph.node(node).level != EVENT {
                    return Err(whole(expr, "entries are weighted by one number per event"));
                }
                Self::Weights(node)
            }
            Wanted::Sum { expr } => {
                number(expr, compiler, scope).map(|(node, ty)| Self::Sum(node, ty))?
            }
            Wanted::Mean { expr } => {
                number(expr, compiler, scope).map(|(node, ty)| Self::Mean(node, ty))?
            }
            Wanted::Min { expr } => {
                number(expr, compiler, scope).map(|(node, ty)| Self::Min(node, ty))?
            }
            Wanted::Max { expr } => {
                number(expr, compiler, scope).map(|(node, ty)| Self::Max(node, ty))?
            }
            Wanted::Extent { expr } => {
                number(expr, compiler, scope).map(|(node, ty)| Self::Extent(node, ty))?
            }
            Wanted::Moments { expr, weight } => {
                let mut nodes = vec![number(expr, compiler, scope)?.0];
                if let Some(weight) = weight {
                    nodes.push(number(weight, compiler, scope)?.0);
                    nodes = compiler
                        .names
                        .nodes
                        .together(&nodes, (0, 0))
                        .map_err(|error| {
                            whole(weight, &format!("the weight does not match: {error}"))
                        })?;
                }
                Self::Moments(nodes[0], nodes.get(1).copied())
            }
            Wanted::Unique {
                expr,
                limit,
                beside,
            } => {
                let mut value = compiler.expression(expr, scope)?;
                for other in beside {
                    let with = compiler.expression(other, scope)?;
                    value = compiler
                        .where_present(value, with)
                        .map_err(|error| whole(other, &error.message))?;
                }
                let (ty, limit) = (compiler.names.nodes.graph.node(value).ty, *limit);
                Self::Unique { value, ty, limit }
            }
            Wanted::Quantiles {
                expr,
                probabilities,
                bounded,
            } => {
                if probabilities.iter().any(|q| !(0.0..=1.0).contains(q)) {
                    return Err(whole(expr, "a quantile's probability is from 0 to 1"));
                }
                let (value, _) = number(expr, compiler, scope)?;
                let probabilities = probabilities.clone();
                Self::Quantiles {
                    value,
                    probabilities,
                    bounded: *bounded,
                }
            }
            Wanted::Rows { columns } => {
                let made = columns.iter();
                let made = made.map(|column| RowColumn::compile(column, compiler, scope));
                Self::Rows(made.collect::<Result<_, _>>()?)
            }
        })
    }

    /// The nodes whose values it wants.
    pub fn nodes(&self) -> Vec<NodeId> {
        match self {
            Self::Hist { binned, weight, .. } => {
                binned.values.iter().chain(weight).copied().collect()
            }
            Self::Profile {
                binned,
                sample,
                weight,
            } => {
                let values = binned.values.iter().chain([sample]).chain(weight);
                values.copied().collect()
            }
            Self::Count => Vec::new(),
            Self::Sum(node, _)
            | Self::Mean(node, _)
            | Self::Min(node, _)
            | Self::Max(node, _)
            | Self::Extent(node, _)
            | Self::Weights(node)
            | Self::Unique { value: node, .. }
            | Self::Quantiles { value: node, .. } => vec![*node],
            Self::Moments(node, weight) => [*node].into_iter().chain(*weight).collect(),
            Self::Rows(columns) => columns.iter().map(|column| column.node).collect(),
        }
    }

    /// The levels whose lists it wants.
    pub fn levels(&self) -> Vec<LevelId> {
        match self {
            Self::Rows(columns) => columns.iter().flat_map(|c| c.levels.clone()).collect(),
            _ => Vec::new(),
        }
    }

    /// The axes of a histogram or profile.
    pub fn binned(&mut self) -> Option<&mut Binned> {
        match self {
            Self::Hist { binned, .. } | Self::Profile { binned, .. } => Some(binned),
            _ => None,
        }
    }

    /// Bytes of its bins: all that may be large before anything is filled.
    pub fn bytes(&self) -> u64 {
        let of = |binned: &Binned, cell: usize| binned.cells().saturating_mul(cell as u64);
        match self {
            Self::Hist {
                binned,
                weight: Some(_),
                squares: true,
            } => of(binned, size_of::<[f64; 2]>()),
            Self::Hist { binned, .. } => of(binned, size_of::<u64>()),
            Self::Profile { binned, .. } => of(binned, size_of::<Moments>()),
            _ => 0,
        }
    }

    /// Nothing accumulated. `all`: the bytes of all bookings' bins.
    pub fn accumulator(&self, all: u64) -> Accumulator {
        let sum = |ty: &Type| {
            let mut sum = Sum::default();
            if *ty == Type::Float {
                sum.add_real(0.0, 0);
            }
            sum
        };
        let large = is_large(self.bytes(), all);
        match self {
            Self::Hist {
                binned,
                weight,
                squares,
            } => match (weight, squares) {
                (None, _) => Accumulator::Counts(Bins::new(binned.shape(), large)),
                (Some(_), false) => Accumulator::Sums(Bins::new(binned.shape(), large), 0),
                (Some(_), true) => Accumulator::Weights(Bins::new(binned.shape(), large), 0),
            },
            Self::Profile { binned, .. } => {
                Accumulator::Profile(Bins::new(binned.shape(), large), 0)
            }
            Self::Count => Accumulator::Count(0),
            Self::Weights(_) => Accumulator::Weighted([0.0; 2]),
            Self::Sum(_, ty) => Accumulator::Sum(sum(ty)),
            Self::Mean(_, ty) => Accumulator::Mean(sum(ty)),
            Self::Min(..) => Accumulator::Min(None),
            Self::Max(..) => Accumulator::Max(None),
            Self::Extent(..) => Accumulator::Extent(None),
            Self::Moments(..) => Accumulator::Moments(0, Moments::default()),
            Self::Unique { limit, .. } => Accumulator::Unique(Unique::new(*limit)),
            Self::Quantiles { probabilities, .. } => Accumulator::Quantiles {
                probabilities: probabilities.clone(),
                sketch: Sketch::default(),
            },
            Self::Rows(columns) => {
                Accumulator::Rows(Rows::new(columns.iter().map(RowColumn::empty).collect()))
            }
        }
    }

    /// Adds the events of a selection.
    pub fn fill(
        &self,
        batch: &mut Batch,
        selection: SelectionId,
        shared: &mut Cells,
        to: &mut Accumulator,
    ) -> Result<(), ProcessError> {
        let events = batch.selections[selection].events;
        if let (Self::Rows(columns), Accumulator::Rows(rows)) = (self, &mut *to) {
            return add_rows(columns, batch, selection, rows);
        }
        let mut values = Vec::new();
        for node in self.nodes() {
            values.push(batch.value(selection, node)?);
        }
        // Constants count once for every position of the others, or for every event.
        let n = values
            .iter()
            .filter(|value| !value.is_scalar())
            .map(Value::len)
            .next()
            .unwrap_or(events);
        if values
            .iter()
            .any(|value| !value.is_scalar() && value.len() != n)
        {
            return Err(QueryError::data("values of different lengths met").into());
        }
        let all: Vec<&Value> = values.iter().collect();
        match (self, to) {
            (Self::Hist { binned, .. }, Accumulator::Counts(bins)) if binned.fits(bins.shape()) => {
                cells::count(binned, &all, n, shared, bins);
            }
            (Self::Hist { binned, .. }, Accumulator::Sums(bins, fills))
                if binned.fits(bins.shape()) =>
            {
                if let Some((weight, values)) = all.split_last() {
                    let filled = cells::weigh(binned, values, weight, n, shared, bins);
                    *fills = fills.wrapping_add(filled);
                }
            }
            (Self::Hist { binned, .. }, Accumulator::Weights(bins, fills))
                if binned.fits(bins.shape()) =>
            {
                if let Some((weight, values)) = all.split_last() {
                    let filled = cells::weigh(binned, values, weight, n, shared, bins);
                    *fills = fills.wrapping_add(filled);
                }
            }
            (Self::Profile { binned, weight, .. }, Accumulator::Profile(bins, fills))
                if binned.fits(bins.shape()) =>
            {
                let (values, rest) = all.split_at(binned.values.len());
                let weight = weight.and(rest.get(1).copied());
                let filled = cells::profile(binned, values, rest[0], weight, n, shared, bins);
                *fills = fills.wrapping_add(filled);
            }
            (Self::Count, Accumulator::Count(count)) => *count += events as u64,
            (Self::Weights(_), Accumulator::Weighted(sums)) => fill::weights(all[0], n, sums),
            (Self::Sum(_, ty), Accumulator::Sum(sum))
            | (Self::Mean(_, ty), Accumulator::Mean(sum)) => fill::add(all[0], *ty, n, sum),
            (Self::Min(_, ty), Accumulator::Min(found)) => {
                fill::best(all[0], *ty, n, Ordering::Less, found);
            }
            (Self::Max(_, ty), Accumulator::Max(found)) => {
                fill::best(all[0], *ty, n, Ordering::Greater, found);
            }
            (Self::Extent(_, ty), Accumulator::Extent(found)) => {
                fill::extent(all[0], *ty, n, f64::is_finite, found);
            }
            (Self::Moments(..), Accumulator::Moments(count, moments)) => {
                let added = fill::moments(all[0], all.get(1).copied(), n, moments);
                *count = count.wrapping_add(added);
            }
            (Self::Unique { ty, .. }, Accumulator::Unique(unique)) => {
                fill::unique(all[0], *ty, n, unique)?;
            }
            (Self::Quantiles { bounded, .. }, Accumulator::Quantiles { sketch, .. }) => {
                fill::quantiles(all[0], n, *bounded, sketch)?;
            }
            _ => return Err(foreign().into()),
        }
        Ok(())
    }
}
