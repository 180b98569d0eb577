//! Tables of constants, and literals.

use crate::compile::{
    Binding, Builder, Constant, EVENT, Level, LevelKind, Lookup, Node, NodeId, Op, Result, Type,
};
use crate::error::QueryError;
use crate::kernel::tables;
use crate::spec::{Literal, Span};

impl Builder<'_> {
    pub(in crate::compile) fn literal(&mut self, value: &Literal) -> NodeId {
        self.graph.constant(match value {
            Literal::Ints(bits) => {
                return self.cycled(Numbers {
                    bits: bits.clone(),
                    ty: Type::Int,
                });
            }
            Literal::Bool(x) => Constant::Bool(*x),
            Literal::Int(x) => Constant::Int(*x),
            Literal::BigInt(x) => i64::try_from(*x).map_or(Constant::UInt(*x), Constant::Int),
            Literal::Float(x) => Constant::Float(x.to_bits()),
            Literal::Str(x) => Constant::Str(x.as_str().into()),
        })
    }
}

/// Constant numbers: integers, with or without a sign, or floats by their bits.
pub(in crate::compile) struct Numbers {
    pub bits: Vec<i64>,
    pub ty: Type,
}

impl Numbers {
    pub(in crate::compile) fn reals(&self) -> Vec<f64> {
        let real = |bits: &i64| match self.ty {
            Type::Float => f64::from_bits(*bits as u64),
            Type::UInt => *bits as u64 as f64,
            _ => *bits as f64,
        };
        self.bits.iter().map(real).collect()
    }
}

impl Builder<'_> {
    /// The numbers of a tuple of constants, or `None` if it is something else, as a tuple of strings.
    pub(in crate::compile) fn numbers_of(&self, bound: &Binding) -> Option<Numbers> {
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

    pub(in crate::compile) fn cycled(&mut self, numbers: Numbers) -> NodeId {
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
    pub(in crate::compile) fn item_of_constants(
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

    pub(in crate::compile) fn in_reals(
        &mut self,
        how: Lookup,
        table: Vec<f64>,
        x: NodeId,
    ) -> NodeId {
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
