//! Bookings: checked and compiled once, then filled batch by batch.

use crate::axis::{Axis, Takes};
use crate::compile::{Compiler, NodeId, Type};
use crate::error::{ProcessError, QueryError};
use crate::eval::{Batch, SelectionId};
use crate::fill;
use crate::partial::{Accumulator, Sum, foreign};
use crate::spec::{Expression, Wanted};
use crate::value::Value;
use std::cmp::Ordering;

/// Cells that one histogram may have.
const MOST_CELLS: u64 = 1 << 27;
/// Axes that one histogram may have; as boost-histogram's.
const MOST_AXES: usize = 32;

/// What a booking computes, from which nodes.
pub(crate) enum Kind {
    Hist {
        axes: Vec<Axis>,
        values: Vec<NodeId>,
        weight: Option<NodeId>,
    },
    Count,
    Sum(NodeId, Type),
    Mean(NodeId, Type),
    Min(NodeId, Type),
    Max(NodeId, Type),
    Extent(NodeId, Type),
}

impl Kind {
    /// Error: what is wrong with it.
    pub fn compile(
        wanted: &Wanted,
        compiler: &mut Compiler,
        scope: Option<usize>,
    ) -> Result<Self, QueryError> {
        Ok(match wanted {
            Wanted::Hist { axes, weight } => {
                if axes.is_empty() || axes.len() > MOST_AXES {
                    let message = format!("a histogram has 1 to {MOST_AXES} axes");
                    return Err(QueryError::new(message));
                }
                let mut made = Vec::with_capacity(axes.len());
                let mut nodes = Vec::with_capacity(axes.len() + 1);
                for fill in axes {
                    let axis = Axis::new(&fill.axis)?;
                    let node = compiler.expression(&fill.expr, scope)?;
                    suits(&axis, compiler.graph.node(node).ty, &fill.expr)?;
                    made.push(axis);
                    nodes.push(node);
                }
                limit(&made)?;
                if let Some(weight) = weight {
                    nodes.push(number(weight, compiler, scope)?.0);
                }
                let last = weight.as_ref().or(axes.last().map(|fill| &fill.expr));
                let mut nodes = compiler.together(&nodes, (0, 0)).map_err(|error| {
                    let message = format!("a histogram's values do not match: {error}");
                    last.map_or_else(|| QueryError::new(&message), |expr| whole(expr, &message))
                })?;
                let weight = weight.as_ref().and_then(|_| nodes.pop());
                Self::Hist {
                    axes: made,
                    values: nodes,
                    weight,
                }
            }
            Wanted::Count => Self::Count,
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
        })
    }

    /// The nodes whose values it wants.
    pub fn nodes(&self) -> Vec<NodeId> {
        match self {
            Self::Hist { values, weight, .. } => values.iter().chain(weight).copied().collect(),
            Self::Count => Vec::new(),
            Self::Sum(node, _)
            | Self::Mean(node, _)
            | Self::Min(node, _)
            | Self::Max(node, _)
            | Self::Extent(node, _) => vec![*node],
        }
    }

    /// Cells that it keeps.
    pub fn cells(&self) -> u64 {
        match self {
            Self::Hist { axes, .. } => axes.iter().map(|axis| u64::from(axis.cells())).product(),
            _ => 1,
        }
    }

    /// Nothing accumulated.
    pub fn accumulator(&self) -> Accumulator {
        let sum = |ty: &Type| {
            let mut sum = Sum::default();
            if *ty == Type::Float {
                sum.add_real(0.0, 0);
            }
            sum
        };
        match self {
            Self::Hist { axes, weight, .. } => {
                let shape: Vec<u32> = axes.iter().map(Axis::cells).collect();
                // One more, for what belongs to no cell.
                let cells = self.cells() as usize + 1;
                if weight.is_some() {
                    let cells = vec![[0.0; 2]; cells];
                    Accumulator::Weights { shape, cells }
                } else {
                    let cells = vec![0; cells];
                    Accumulator::Counts { shape, cells }
                }
            }
            Self::Count => Accumulator::Count(0),
            Self::Sum(_, ty) => Accumulator::Sum(sum(ty)),
            Self::Mean(_, ty) => Accumulator::Mean(sum(ty)),
            Self::Min(..) => Accumulator::Min(None),
            Self::Max(..) => Accumulator::Max(None),
            Self::Extent(..) => Accumulator::Extent(None),
        }
    }

    /// Adds the events of a selection.
    pub fn fill(
        &self,
        batch: &mut Batch,
        selection: SelectionId,
        to: &mut Accumulator,
    ) -> Result<(), ProcessError> {
        let events = batch.selections[selection].events;
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
            return Err(QueryError::new("values of different lengths met").into());
        }
        let all: Vec<&Value> = values.iter().collect();
        match (self, to) {
            (
                Self::Hist {
                    axes, weight: None, ..
                },
                Accumulator::Counts { cells, shape },
            ) if fits(axes, shape, cells.len()) => {
                fill::count(axes, &all, n, cells);
            }
            (
                Self::Hist {
                    axes,
                    weight: Some(_),
                    ..
                },
                Accumulator::Weights { cells, shape },
            ) if fits(axes, shape, cells.len()) => {
                if let Some((weight, values)) = all.split_last() {
                    fill::weigh(axes, values, weight, n, cells);
                }
            }
            (Self::Count, Accumulator::Count(count)) => *count += events as u64,
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
            _ => return Err(foreign().into()),
        }
        Ok(())
    }
}

/// An expression's node, which must be of numbers.
fn number(
    expr: &Expression,
    compiler: &mut Compiler,
    scope: Option<usize>,
) -> Result<(NodeId, Type), QueryError> {
    let node = compiler.expression(expr, scope)?;
    let ty = compiler.graph.node(node).ty;
    if ty == Type::Str {
        return Err(whole(expr, "this needs numbers, and they are strings"));
    }
    Ok((node, ty))
}

/// Whether cells are those of the axes.
fn fits(axes: &[Axis], shape: &[u32], cells: usize) -> bool {
    let expected: u64 = axes.iter().map(|axis| u64::from(axis.cells())).product();
    axes.len() == shape.len()
        && axes.iter().zip(shape).all(|(axis, n)| axis.cells() == *n)
        && cells as u64 == expected + 1
}

fn limit(axes: &[Axis]) -> Result<(), QueryError> {
    let cells = axes.iter().try_fold(1_u64, |product, axis| {
        product
            .checked_mul(u64::from(axis.cells()))
            .filter(|product| *product <= MOST_CELLS)
    });
    match cells {
        Some(_) => Ok(()),
        None => Err(QueryError::new(format!(
            "the histogram has more than {MOST_CELLS} bins"
        ))),
    }
}

fn suits(axis: &Axis, ty: Type, expr: &Expression) -> Result<(), QueryError> {
    let message = match (axis.takes(), ty) {
        (Takes::Strings, Type::Str) => return Ok(()),
        (Takes::Strings, _) => "an axis of string categories takes strings, and these are numbers",
        (_, Type::Str) => "strings need an axis of string categories",
        (Takes::Reals, _) => return Ok(()),
        (Takes::Integers | Takes::Bools, Type::Float) => {
            "this axis takes integers, and these are floats: use a regular axis, or int(…)"
        }
        (Takes::Integers | Takes::Bools, _) => return Ok(()),
    };
    Err(whole(expr, message))
}

/// An error about all of an expression.
fn whole(expr: &Expression, message: &str) -> QueryError {
    QueryError::at(crate::compile::span(&expr.tree), message).in_text(&expr.text)
}
