//! Arithmetic, bit operations, logic and choice: which kernel, on which types.

use super::{Binding, Builder, Compiler, Constant, Node, NodeId, Op, Result, Type, span};
use crate::error::QueryError;
use crate::kernel::{Arithmetic, Bits, Compare, Map, Real1};
use crate::limits::EXPRESSION_DEPTH;
use crate::spec::{Expr, Operation, Span};

impl Compiler<'_> {
    pub(super) fn unary(&mut self, op: &str, operand: &Expr, at: Span) -> Result<Binding> {
        let id = match self.bind(operand)? {
            Binding::Value(id) => id,
            vector if matches!(op, "-" | "-.") => {
                let minus = self
                    .names
                    .nodes
                    .graph
                    .constant(Constant::Float((-1.0_f64).to_bits()));
                return self.names.nodes.scaled(vector, minus, at);
            }
            other => return Err(self.names.not_a_value(&other, span(operand))),
        };
        let ty = self.names.nodes.type_of(id);
        if op == "not" {
            let condition = self.names.nodes.truth(id, span(operand))?;
            return Ok(Binding::Value(self.names.nodes.negated(condition)));
        }
        let node = match (op, ty) {
            (_, Type::Str) => Err(QueryError::at(
                at,
                format!("{op} does not go with a string"),
            )),
            ("+", _) => Ok(self.names.nodes.number_of(id)),
            ("-.", Type::UInt) | ("-" | "-.", Type::Float) => {
                let real = self.names.nodes.real_of(id);
                Ok(self.names.nodes.map(Map::Negate, &[real], Type::Float))
            }
            ("-", Type::UInt) => self.names.nodes.negated_unsigned(id, at),
            ("-" | "-.", _) => {
                let number = self.names.nodes.number_of(id);
                self.names
                    .nodes
                    .integral(Map::NegateInt, &[number], Type::Int, at)
            }
            ("~", Type::Bool) => Ok(self.names.nodes.negated(id)),
            ("~", Type::Int | Type::UInt) => Ok(self.names.nodes.map(Map::Invert, &[id], ty)),
            ("~", Type::Float) => Err(QueryError::at(
                at,
                "~ goes with bools and integers; this is a float",
            )),
            _ => Err(QueryError::at(at, format!("there is no operator {op}"))),
        };
        node.map(Binding::Value)
    }

    pub(super) fn binary(
        &mut self,
        op: &str,
        left: &Expr,
        right: &Expr,
        at: Span,
    ) -> Result<Binding> {
        let sides = (self.bind(left)?, self.bind(right)?);
        self.operation(op, sides, [span(left), span(right)], at)
    }

    /// `first op right op right …`
    pub(super) fn chain(&mut self, first: &Expr, rest: &[Operation], at: Span) -> Result<Binding> {
        let mut found = self.bind(first)?;
        let mut place = span(first);
        for each in rest {
            let right = self.bind(&each.right)?;
            let places = [place, span(&each.right)];
            found = self.operation(&each.op, (found, right), places, each.at)?;
            if found.depth() > EXPRESSION_DEPTH {
                let message = format!(
                    "the sum has more than {EXPRESSION_DEPTH} vectors: write sum(…), which adds all vectors of a list"
                );
                return Err(QueryError::at(at, message));
            }
            place = each.at;
        }
        Ok(found)
    }

    /// An operator between two things, whose places are given.
    fn operation(
        &mut self,
        op: &str,
        sides: (Binding, Binding),
        places: [Span; 2],
        at: Span,
    ) -> Result<Binding> {
        let (op, as_doubles) = match op.strip_suffix('.') {
            Some(op) => (op, true),
            None => (op, false),
        };
        let sides = (
            self.names.nodes.written_list(sides.0, places[0])?,
            self.names.nodes.written_list(sides.1, places[1])?,
        );
        let (left, right) = match sides {
            (Binding::Value(left), Binding::Value(right)) => (left, right),
            (a, b) => return self.vector_operation(op, a, b, places, at),
        };
        let both = self.names.nodes.together(&[left, right], at)?;
        let &[left, right] = both.as_slice() else {
            return Err(QueryError::at(at, "an operator has two sides"));
        };
        let arithmetic = match op {
            "+" => Arithmetic::Add,
            "-" => Arithmetic::Sub,
            "*" => Arithmetic::Mul,
            "/" => Arithmetic::Div,
            "//" => Arithmetic::FloorDiv,
            "%" => Arithmetic::Mod,
            "**" => Arithmetic::Pow,
            _ => {
                return self
                    .names
                    .nodes
                    .bit_operation(op, left, right, at)
                    .map(Binding::Value);
            }
        };
        let integers = self.names.nodes.type_of(left).is_integral()
            && self.names.nodes.type_of(right).is_integral();
        if as_doubles && integers && !self.names.nodes.always_fits(arithmetic, left, right) {
            return Ok(Binding::Value(
                self.names.nodes.real_arithmetic(arithmetic, left, right),
            ));
        }
        self.names
            .nodes
            .arithmetic(arithmetic, left, right, at)
            .map(Binding::Value)
    }

    /// An operation of which one side is no number.
    fn vector_operation(
        &mut self,
        op: &str,
        a: Binding,
        b: Binding,
        places: [Span; 2],
        at: Span,
    ) -> Result<Binding> {
        match (op, a, b) {
            ("+" | "-", a, b)
                if !matches!(a, Binding::Value(_)) && !matches!(b, Binding::Value(_)) =>
            {
                self.names.nodes.vector_sum(a, b, op == "-", at)
            }
            ("*", Binding::Value(factor), vector) | ("*", vector, Binding::Value(factor)) => {
                self.names.nodes.scaled(vector, factor, at)
            }
            ("/", vector, Binding::Value(divisor)) => {
                let one = self
                    .names
                    .nodes
                    .graph
                    .constant(Constant::Float(1.0_f64.to_bits()));
                let divisor = self.names.nodes.real_of(divisor);
                let factor =
                    self.names
                        .nodes
                        .map(Map::Real(Arithmetic::Div), &[one, divisor], Type::Float);
                self.names.nodes.scaled(vector, factor, at)
            }
            (_, Binding::Value(_), other) => Err(self.names.not_a_value(&other, places[1])),
            (_, other, _) => Err(self.names.not_a_value(&other, places[0])),
        }
    }

    pub(super) fn logic(&mut self, op: &str, values: &[Expr], at: Span) -> Result<Binding> {
        let mut result: Option<NodeId> = None;
        for value in values {
            let next = self.value(value)?;
            let next = self.names.nodes.truth(next, span(value))?;
            result = Some(match result {
                None => next,
                Some(before) => {
                    let both = self.names.nodes.together(&[before, next], at)?;
                    match op {
                        "and" => self.names.nodes.both(both[0], both[1]),
                        "or" => self.names.nodes.either(both[0], both[1]),
                        _ => return Err(QueryError::at(at, format!("there is no operator {op}"))),
                    }
                }
            });
        }
        result
            .map(Binding::Value)
            .ok_or_else(|| QueryError::at(at, format!("{op} needs values")))
    }
}

impl Builder<'_> {
    pub(super) fn negated(&mut self, condition: NodeId) -> NodeId {
        self.map(Map::Not, &[condition], Type::Bool)
    }

    /// Operands are at one level.
    pub(super) fn arithmetic(
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
    pub(super) fn only(&mut self, value: NodeId, condition: NodeId) -> NodeId {
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

    pub(super) fn real_arithmetic(&mut self, op: Arithmetic, a: NodeId, b: NodeId) -> NodeId {
        let (a, b) = (self.real_of(a), self.real_of(b));
        if op == Arithmetic::Pow
            && let Some(Constant::Float(bits)) = self.graph.as_const(b)
            && f64::from_bits(*bits) == 2.0
        {
            return self.map(Map::Real1(Real1::Square), &[a], Type::Float);
        }
        self.map(Map::Real(op), &[a, b], Type::Float)
    }

    pub(super) fn bit_operation(
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
    pub(super) fn both(&mut self, a: NodeId, b: NodeId) -> NodeId {
        self.junction(Map::And, Op::And, a, b)
    }

    /// `a or b`, at one level.
    pub(super) fn either(&mut self, a: NodeId, b: NodeId) -> NodeId {
        self.junction(Map::Or, Op::Or, a, b)
    }

    pub(super) fn junction(&mut self, map: Map, with_missing: Op, a: NodeId, b: NodeId) -> NodeId {
        if self.graph.node(a).missing || self.graph.node(b).missing {
            return self.node(with_missing, &[a, b], Type::Bool);
        }
        self.map(map, &[a, b], Type::Bool)
    }

    /// `a if condition else b`
    pub(super) fn select(
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
