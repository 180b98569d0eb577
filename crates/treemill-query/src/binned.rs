//! Values in the cells of axes: what histograms and profiles have in common. Cells of equal axes
//! over equal values are found once per batch, however many bookings fill them.

use crate::axis::{Axis, Takes};
use crate::compile::{Compiler, NodeId, Type};
use crate::error::QueryError;
use crate::limits::{HISTOGRAM_AXES, HISTOGRAM_CELLS};
use crate::spec::{AxisFill, Expression};

/// Axes and what fills them.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Binned {
    pub axes: Vec<Axis>,
    /// One per axis.
    pub values: Vec<NodeId>,
    /// The number of the cells, if other bookings fill the same ones.
    pub shared: Option<usize>,
}

impl Binned {
    /// The axes, with the nodes of `others` (sample, weight) at the same level. Error: what is wrong
    /// with them.
    pub fn compile(
        fills: &[AxisFill],
        others: &[&Expression],
        compiler: &mut Compiler,
        scope: Option<usize>,
    ) -> Result<(Self, Vec<NodeId>), QueryError> {
        if fills.is_empty() || fills.len() > HISTOGRAM_AXES {
            let message = format!("a histogram has 1 to {HISTOGRAM_AXES} axes");
            return Err(QueryError::new(message));
        }
        let mut axes = Vec::with_capacity(fills.len());
        let mut nodes = Vec::with_capacity(fills.len() + others.len());
        for fill in fills {
            let axis = Axis::new(&fill.axis)?;
            let node = compiler.expression(&fill.expr, scope)?;
            suits(&axis, compiler.names.nodes.graph.node(node).ty, &fill.expr)?;
            axes.push(axis);
            nodes.push(node);
        }
        limit(&axes)?;
        for other in others {
            nodes.push(number(other, compiler, scope)?.0);
        }
        let last = others
            .last()
            .copied()
            .or(fills.last().map(|fill| &fill.expr));
        let mut values = compiler
            .names
            .nodes
            .together(&nodes, (0, 0))
            .map_err(|error| {
                let message = format!("a histogram's values do not match: {error}");
                last.map_or_else(|| QueryError::new(&message), |expr| whole(expr, &message))
            })?;
        let others = values.split_off(fills.len());
        let shared = None;
        Ok((
            Self {
                axes,
                values,
                shared,
            },
            others,
        ))
    }

    /// Cells of all axes together.
    pub fn cells(&self) -> u64 {
        let cells = self.axes.iter().map(|axis| u64::from(axis.cells()));
        cells.product()
    }

    pub fn shape(&self) -> Vec<u32> {
        self.axes.iter().map(Axis::cells).collect()
    }

    /// Whether bins of this shape are of these axes.
    pub fn fits(&self, shape: &[u32]) -> bool {
        let mut pairs = self.axes.iter().zip(shape);
        self.axes.len() == shape.len() && pairs.all(|(axis, n)| axis.cells() == *n)
    }
}

/// An expression's node, which must be of numbers.
pub(crate) fn number(
    expr: &Expression,
    compiler: &mut Compiler,
    scope: Option<usize>,
) -> Result<(NodeId, Type), QueryError> {
    let node = compiler.expression(expr, scope)?;
    let ty = compiler.names.nodes.graph.node(node).ty;
    if ty == Type::Str {
        let message = "this needs numbers, and they are strings: \
            hist(…, bins=hist.axis.StrCategory([], growth=True)) counts each of them";
        return Err(whole(expr, message));
    }
    Ok((node, ty))
}

/// An error about all of an expression.
pub(crate) fn whole(expr: &Expression, message: &str) -> QueryError {
    QueryError::at(crate::compile::span(&expr.tree), message).in_text(&expr.text)
}

fn limit(axes: &[Axis]) -> Result<(), QueryError> {
    let cells = axes.iter().try_fold(1_u64, |product, axis| {
        product
            .checked_mul(u64::from(axis.cells()))
            .filter(|product| *product <= HISTOGRAM_CELLS)
    });
    match cells {
        Some(_) => Ok(()),
        None => Err(QueryError::limit(format!(
            "the histogram has more than {HISTOGRAM_CELLS} bins"
        ))),
    }
}

fn suits(axis: &Axis, ty: Type, expr: &Expression) -> Result<(), QueryError> {
    let message = match (axis.takes(), ty) {
        (Takes::Strings, Type::Str) => return Ok(()),
        (Takes::Strings, _) => "an axis of string categories takes strings, and these are numbers",
        (_, Type::Str) => {
            "strings need an axis of string categories: bins=hist.axis.StrCategory([], growth=True)"
        }
        (Takes::Reals, _) => return Ok(()),
        (Takes::Integers | Takes::Bools, Type::Float) => {
            "this axis takes integers, and these are floats: use a regular axis, or int(…)"
        }
        (Takes::Integers | Takes::Bools, _) => return Ok(()),
    };
    Err(whole(expr, message))
}
