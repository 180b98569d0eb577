//! Arithmetic, logic and choices of values, by their types.

use crate::compile::{Builder, Constant, Node, NodeId, Op, Result, Type};
use crate::error::QueryError;
use crate::kernel::{Arithmetic, Bits, Compare, Map, Real1};
use crate::spec::Span;

impl Builder<'_> {
    pub(in crate::compile) fn negated(&mut self, condition: NodeId) -> NodeId {
        self.map(Map::Not, &[condition], Type::Bool)
    }

    /// Operands are at one level.
    pub(in crate::compile) fn arithmetic(
        &mut self,
        op: Arithmetic,
        left: NodeId,
        right: NodeId,
        at: Span,
    ) -> Result<NodeId> {
        let (sides, ty) = self.same_type(&[left, right], at)?;
        let ty = if op == Arithmetic::Div {
            Type::Float
        } else {
            ty
        };
        let integers = match ty {
            Type::Bool | Type::Int => Some((Map::Int(op), Type::Int)),
            Type::UInt => Some((Map::UInt(op), Type::UInt)),
            Type::Float | Type::Str => None,
        };
        let Some((map, ty)) = integers else {
            return Ok(self.real_arithmetic(op, sides[0], sides[1]));
        };
        let (a, b) = (self.number_of(sides[0]), self.number_of(sides[1]));
        match op {
            Arithmetic::Pow => {
                // Negative powers of integers are no integers, and how large they are is known
                // for constants only.
                let whole = match self.graph.as_const(b) {
                    Some(Constant::Int(x)) => u32::try_from(*x).is_ok(),
                    Some(Constant::UInt(x)) => u32::try_from(*x).is_ok(),
                    _ => false,
                };
                if !whole {
                    return Ok(self.real_arithmetic(op, a, b));
                }
                self.integral(map, &[a, b], ty, at)
            }
            Arithmetic::FloorDiv | Arithmetic::Mod => {
                let known = match self.graph.as_const(b) {
                    Some(Constant::Int(0) | Constant::UInt(0)) => {
                        return Err(QueryError::at(at, "division by zero"));
                    }
                    constant => constant.is_some(),
                };
                let result = self.integral(map, &[a, b], ty, at)?;
                if known {
                    return Ok(result);
                }
                // No integer is the result of a division by zero.
                let zero = self.graph.constant(Constant::Int(0));
                let divides = self.map(Map::CompareInt(Compare::Ne), &[b, zero], Type::Bool);
                Ok(self.only(result, divides))
            }
            _ => self.integral(map, &[a, b], ty, at),
        }
    }

    /// The value where the condition holds, else missing. Both are at one level.
    pub(in crate::compile) fn only(&mut self, value: NodeId, condition: NodeId) -> NodeId {
        let ty = self.type_of(value);
        let inputs = [value, condition];
        let level = if self.graph.as_const(value).is_some() {
            self.graph.node(condition).level
        } else {
            self.graph.node(value).level
        };
        self.graph.add(Node {
            op: Op::Only,
            inputs: inputs.to_vec(),
            level,
            ty,
            missing: true,
        })
    }

    pub(in crate::compile) fn real_arithmetic(
        &mut self,
        op: Arithmetic,
        a: NodeId,
        b: NodeId,
    ) -> NodeId {
        let (a, b) = (self.real_of(a), self.real_of(b));
        if op == Arithmetic::Pow
            && let Some(Constant::Float(bits)) = self.graph.as_const(b)
            && f64::from_bits(*bits) == 2.0
        {
            return self.map(Map::Real1(Real1::Square), &[a], Type::Float);
        }
        self.map(Map::Real(op), &[a, b], Type::Float)
    }

    pub(in crate::compile) fn bit_operation(
        &mut self,
        op: &str,
        left: NodeId,
        right: NodeId,
        at: Span,
    ) -> Result<NodeId> {
        let types = [self.type_of(left), self.type_of(right)];
        if types == [Type::Bool, Type::Bool] && !op.starts_with(['<', '>']) {
            return match op {
                "&" => Ok(self.both(left, right)),
                "|" => Ok(self.either(left, right)),
                "^" => Ok(self.map(Map::Xor, &[left, right], Type::Bool)),
                _ => Err(QueryError::at(at, format!("there is no operator {op}"))),
            };
        }
        if !types.iter().all(|ty| ty.is_integral()) {
            let message = format!(
                "{op} goes with bools and integers; these are {} and {}{}",
                types[0].name(),
                types[1].name(),
                if op == "&" || op == "|" {
                    " (comparisons beside it need parentheses; 'and' and 'or' need none)"
                } else {
                    ""
                }
            );
            return Err(QueryError::at(at, message));
        }
        let (a, b) = (self.number_of(left), self.number_of(right));
        let ty = match op {
            // What is shifted decides.
            "<<" | ">>" => self.type_of(a),
            _ if types.contains(&Type::UInt) => Type::UInt,
            _ => Type::Int,
        };
        let map = match op {
            "&" => Map::Bits(Bits::And),
            "|" => Map::Bits(Bits::Or),
            "^" => Map::Bits(Bits::Xor),
            "<<" => Map::Bits(Bits::ShiftLeft),
            ">>" if ty == Type::UInt => Map::ShiftRightUInt,
            ">>" => Map::Bits(Bits::ShiftRight),
            _ => return Err(QueryError::at(at, format!("there is no operator {op}"))),
        };
        self.integral(map, &[a, b], ty, at)
    }

    /// `a and b`, at one level.
    pub(in crate::compile) fn both(&mut self, a: NodeId, b: NodeId) -> NodeId {
        self.junction(Map::And, Op::And, a, b)
    }

    /// `a or b`, at one level.
    pub(in crate::compile) fn either(&mut self, a: NodeId, b: NodeId) -> NodeId {
        self.junction(Map::Or, Op::Or, a, b)
    }

    pub(in crate::compile) fn junction(
        &mut self,
        map: Map,
        with_missing: Op,
        a: NodeId,
        b: NodeId,
    ) -> NodeId {
        if self.graph.node(a).missing || self.graph.node(b).missing {
            return self.node(with_missing, &[a, b], Type::Bool);
        }
        self.map(map, &[a, b], Type::Bool)
    }

    /// `a if condition else b`
    pub(in crate::compile) fn select(
        &mut self,
        condition: NodeId,
        a: NodeId,
        b: NodeId,
        at: Span,
    ) -> Result<NodeId> {
        let ids = self.together(&[condition, a, b], at)?;
        let (sides, ty) = self.alike(&ids[1..], at)?;
        let inputs = [ids[0], sides[0], sides[1]];
        if ty == Type::Str || inputs.iter().any(|id| self.graph.node(*id).missing) {
            return Ok(self.node(Op::Select, &inputs, ty));
        }
        let map = match ty {
            Type::Bool => Map::SelectBool,
            Type::Int | Type::UInt => Map::SelectInt,
            Type::Float | Type::Str => Map::SelectReal,
        };
        Ok(self.map(map, &inputs, ty))
    }
}
