//! Lists of constants: gone through as lists, looked into by number, and as the tables of `interp`,
//! `digitize` and `take`.

use crate::compile::nodes::tables::Numbers;
use crate::compile::{Binding, Compiler, Constant, Lookup, NodeId, Op, Result, Type, span};
use crate::error::QueryError;
use crate::kernel::tables;
use crate::spec::{Expr, Literal, Span};

impl Compiler<'_> {
    /// An argument that must be a list of constant numbers.
    fn table(&mut self, name: &str, arg: &Expr) -> Result<Numbers> {
        let bound = match arg {
            Expr::Const {
                value: Literal::Ints(numbers),
                ..
            } => {
                return Ok(Numbers {
                    bits: numbers.clone(),
                    ty: Type::Int,
                });
            }
            _ => self.bind(arg)?,
        };
        self.names.nodes.numbers_of(&bound).ok_or_else(|| {
            let message = format!(
                "{name}(…) takes a list of constants here: [0, 10, 20], or the name of such a list of \
                 params="
            );
            QueryError::at(span(arg), message)
        })
    }

    /// `interp(x, xs, ys)`
    pub(in crate::compile) fn interp(&mut self, args: &[Expr]) -> Result<Binding> {
        let x = self.looked_for("interp", &args[0])?;
        let (xs, ys) = (
            self.table("interp", &args[1])?.reals(),
            self.table("interp", &args[2])?.reals(),
        );
        if xs.len() != ys.len() {
            let message = format!(
                "interp(…) needs as many values as places, and gets {} places and {} values",
                xs.len(),
                ys.len()
            );
            return Err(QueryError::at(span(&args[2]), message));
        }
        ascending("interp", &xs, true, span(&args[1]))?;
        let table = xs.into_iter().chain(ys).collect();
        Ok(Binding::Value(self.names.nodes.in_reals(
            Lookup::Interp,
            table,
            x,
        )))
    }

    /// `digitize(x, edges, right=False)`
    pub(in crate::compile) fn digitize(
        &mut self,
        args: &[Expr],
        right: Option<&Expr>,
    ) -> Result<Binding> {
        let x = self.looked_for("digitize", &args[0])?;
        let edges = self.table("digitize", &args[1])?.reals();
        ascending("digitize", &edges, false, span(&args[1]))?;
        let right = match right {
            None => false,
            Some(expr) => {
                let id = self.value(expr)?;
                match self.names.nodes.graph.as_const(id) {
                    Some(Constant::Bool(right)) => *right,
                    _ => return Err(QueryError::at(span(expr), "right= is True or False")),
                }
            }
        };
        Ok(Binding::Value(self.names.nodes.in_reals(
            Lookup::Digitize { right },
            edges,
            x,
        )))
    }

    /// `in_ranges(x, [first, last, first, last, …])`
    pub(in crate::compile) fn in_ranges(&mut self, args: &[Expr]) -> Result<Binding> {
        let x = self.looked_up_as_integer(&args[0])?;
        let ends = self.table("in_ranges", &args[1])?;
        let edges = half_open(&ends, span(&args[1]))?;
        let unsigned = self.names.nodes.type_of(x) == Type::UInt;
        if let Some(constant) = self.names.nodes.graph.as_const(x) {
            let found = match constant {
                Constant::Int(x) => tables::inside(*x, &edges, &mut (0, 0)),
                _ => false, // beyond all signed integers
            };
            return Ok(Binding::Value(
                self.names.nodes.graph.constant(Constant::Bool(found)),
            ));
        }
        let op = Op::Lookup {
            how: Lookup::InRanges { unsigned },
            table: edges.into(),
        };
        Ok(Binding::Value(self.names.nodes.node(op, &[x], Type::Bool)))
    }

    fn looked_up_as_integer(&mut self, arg: &Expr) -> Result<NodeId> {
        let id = self.value(arg)?;
        match self.names.nodes.type_of(id) {
            Type::Int | Type::UInt => Ok(id),
            other => {
                let message = format!("in_ranges(…) looks for an integer, not {}", other.name());
                Err(QueryError::at(span(arg), message))
            }
        }
    }

    /// `take(table, index)`
    pub(in crate::compile) fn take(&mut self, args: &[Expr]) -> Result<Binding> {
        let table = self.table("take", &args[0])?;
        let index = self.value(&args[1])?;
        self.names
            .nodes
            .item_of_constants(table, index, span(&args[1]))
    }

    fn looked_for(&mut self, name: &str, arg: &Expr) -> Result<NodeId> {
        let id = self.value(arg)?;
        if self.names.nodes.type_of(id) == Type::Str {
            let message = format!("{name}(…) looks for a number, and this is a string");
            return Err(QueryError::at(span(arg), message));
        }
        Ok(self.names.nodes.real_of(id))
    }
}

/// The first numbers of ranges and those after the last, from pairs of first and last numbers.
fn half_open(ends: &Numbers, at: Span) -> Result<Vec<i64>> {
    if ends.ty != Type::Int || !ends.bits.len().is_multiple_of(2) {
        let message =
            "in_ranges(…) takes pairs of integers, the first and the last one of each range";
        return Err(QueryError::at(at, message));
    }
    let mut edges = Vec::with_capacity(ends.bits.len());
    for pair in ends.bits.chunks_exact(2) {
        let (first, last) = (pair[0], pair[1]);
        let after = last.checked_add(1);
        let (Some(after), true) = (after, first <= last) else {
            let message =
                format!("the range from {first} to {last} ends before it begins, or too far");
            return Err(QueryError::at(at, message));
        };
        if edges.last().is_some_and(|before| *before > first) {
            let message =
                format!("the range from {first} to {last} does not lie after the one before it");
            return Err(QueryError::at(at, message));
        }
        edges.extend([first, after]);
    }
    Ok(edges)
}

fn ascending(name: &str, numbers: &[f64], strictly: bool, at: Span) -> Result<()> {
    let goes_up = numbers.windows(2).all(|pair| match strictly {
        true => pair[0] < pair[1],
        false => pair[0] <= pair[1],
    });
    if goes_up && !numbers.iter().any(|x| x.is_nan()) {
        return Ok(());
    }
    let message = format!("{name}(…) needs numbers that ascend here");
    Err(QueryError::at(at, message))
}
