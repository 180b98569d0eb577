//! Arithmetic, bit operations, logic and choice: which kernel, on which types.

use crate::compile::{Binding, Compiler, Constant, NodeId, Result, Type, span};
use crate::error::QueryError;
use crate::kernel::{Arithmetic, Map};
use crate::limits::EXPRESSION_DEPTH;
use crate::spec::{Expr, Operation, Span};

impl Compiler<'_> {
    pub(in crate::compile) fn unary(
        &mut self,
        op: &str,
        operand: &Expr,
        at: Span,
    ) -> Result<Binding> {
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

    pub(in crate::compile) fn binary(
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
    pub(in crate::compile) fn chain(
        &mut self,
        first: &Expr,
        rest: &[Operation],
        at: Span,
    ) -> Result<Binding> {
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

    pub(in crate::compile) fn logic(
        &mut self,
        op: &str,
        values: &[Expr],
        at: Span,
    ) -> Result<Binding> {
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
