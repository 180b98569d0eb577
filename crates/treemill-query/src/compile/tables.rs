//! Lists of constants: gone through as lists, looked into by number, and as the tables of `interp`,
//! `digitize` and `take`.

use super::{
    Binding, Builder, Compiler, Constant, EVENT, Level, LevelKind, Lookup, Node, NodeId, Op,
    Result, Type, span,
};
use crate::error::QueryError;
use crate::kernel::tables;
use crate::spec::{Expr, Literal, Span};

/// Constant numbers: integers, with or without a sign, or floats by their bits.
pub(super) struct Numbers {
    pub bits: Vec<i64>,
    pub ty: Type,
}

impl Numbers {
    fn reals(&self) -> Vec<f64> {
        let real = |bits: &i64| match self.ty {
            Type::Float => f64::from_bits(*bits as u64),
            Type::UInt => *bits as u64 as f64,
            _ => *bits as f64,
        };
        self.bits.iter().map(real).collect()
    }
}

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
    pub(super) fn interp(&mut self, args: &[Expr]) -> Result<Binding> {
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
    pub(super) fn digitize(&mut self, args: &[Expr], right: Option<&Expr>) -> Result<Binding> {
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
    pub(super) fn in_ranges(&mut self, args: &[Expr]) -> Result<Binding> {
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
    pub(super) fn take(&mut self, args: &[Expr]) -> Result<Binding> {
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

impl Builder<'_> {
    /// The numbers of a tuple of constants, or `None` if it is something else, as a tuple of strings.
    pub(super) fn numbers_of(&self, bound: &Binding) -> Option<Numbers> {
        let Binding::Tuple { items, .. } = bound else {
            return None;
        };
        let mut constants = Vec::with_capacity(items.len());
        for item in items {
            match item {
                Binding::Value(id) => constants.push(self.graph.as_const(*id)?),
                _ => return None,
            }
        }
        let whole = |constant: &&Constant| match constant {
            Constant::Int(x) => Some(i128::from(*x)),
            Constant::UInt(x) => Some(i128::from(*x)),
            _ => None,
        };
        let integers: Option<Vec<i128>> = constants.iter().map(whole).collect();
        if let Some(integers) = integers {
            let signed: Option<Vec<i64>> =
                integers.iter().map(|x| i64::try_from(*x).ok()).collect();
            if let Some(bits) = signed {
                return Some(Numbers {
                    bits,
                    ty: Type::Int,
                });
            }
            let unsigned: Option<Vec<u64>> =
                integers.iter().map(|x| u64::try_from(*x).ok()).collect();
            if let Some(unsigned) = unsigned {
                let bits = unsigned.into_iter().map(|x| x as i64).collect();
                return Some(Numbers {
                    bits,
                    ty: Type::UInt,
                });
            }
        }
        let mut bits = Vec::with_capacity(constants.len());
        for constant in constants {
            match constant {
                Constant::Str(_) => return None,
                number => bits.push(number.as_f64().to_bits() as i64),
            }
        }
        let ty = Type::Float;
        Some(Numbers { bits, ty })
    }

    pub(super) fn cycled(&mut self, numbers: Numbers) -> NodeId {
        let len = u32::try_from(numbers.bits.len()).unwrap_or(u32::MAX);
        let level = self.graph.add_level(Level {
            parent: EVENT,
            kind: LevelKind::Fixed(len),
        });
        self.graph.add(Node {
            op: Op::Cycle(numbers.bits.into()),
            inputs: Vec::new(),
            level,
            ty: numbers.ty,
            missing: false,
        })
    }

    /// `[1, 2, 3][index]`: as of lists, a computed index that is negative or too large has no item.
    pub(super) fn item_of_constants(
        &mut self,
        table: Numbers,
        index: NodeId,
        at: Span,
    ) -> Result<Binding> {
        if !matches!(self.type_of(index), Type::Int | Type::UInt) {
            let ty = self.type_of(index).name();
            let message = format!("a list of constants is indexed by an integer, not {ty}");
            return Err(QueryError::at(at, message));
        }
        let ty = table.ty;
        if let Some(constant) = self.graph.as_const(index) {
            let len = table.bits.len() as i128;
            let number = match constant {
                Constant::Int(x) => i128::from(*x),
                Constant::UInt(x) => i128::from(*x),
                _ => -len - 1,
            };
            let place = if number < 0 { number + len } else { number };
            let Some(bits) = usize::try_from(place).ok().and_then(|i| table.bits.get(i)) else {
                let message = format!("the index is outside of a list of {len}");
                return Err(QueryError::at(at, message));
            };
            return Ok(Binding::Value(self.graph.constant(match ty {
                Type::Float => Constant::Float(*bits as u64),
                Type::UInt => Constant::UInt(*bits as u64),
                _ => Constant::Int(*bits),
            })));
        }
        let level = self.graph.node(index).level;
        let op = Op::Lookup {
            how: Lookup::Item,
            table: table.bits.into(),
        };
        Ok(Binding::Value(self.graph.add(Node {
            op,
            inputs: vec![index],
            level,
            ty,
            missing: true,
        })))
    }

    pub(super) fn in_reals(&mut self, how: Lookup, table: Vec<f64>, x: NodeId) -> NodeId {
        let ty = match how {
            Lookup::Interp => Type::Float,
            _ => Type::Int,
        };
        if let Some(constant) = self.graph.as_const(x) {
            let x = constant.as_f64();
            return self.graph.constant(match how {
                Lookup::Digitize { right } => Constant::Int(tables::digitize(x, &table, right)),
                _ => {
                    let (xs, ys) = table.split_at(table.len() / 2);
                    Constant::Float(tables::interp(x, xs, ys).to_bits())
                }
            });
        }
        let bits = table.iter().map(|x| x.to_bits() as i64).collect();
        self.node(Op::Lookup { how, table: bits }, &[x], ty)
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
