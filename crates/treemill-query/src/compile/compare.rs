//! Comparisons, chained ones too, and membership in lists.

use super::{Binding, Builder, Compiler, Constant, NodeId, Op, Reducer, Result, Type, span};
use crate::error::QueryError;
use crate::kernel::{Compare, Map};
use crate::limits::{COMPARED_INTEGERS, COMPARED_MEMBERS};
use crate::spec::{Expr, Span};

impl Compiler<'_> {
    pub(super) fn comparison(
        &mut self,
        left: &Expr,
        ops: &[String],
        rights: &[Expr],
        at: Span,
    ) -> Result<Binding> {
        if ops.is_empty() || ops.len() != rights.len() {
            return Err(QueryError::at(
                at,
                "a comparison needs an operator per side",
            ));
        }
        let mut left_at = span(left);
        let mut left = self.value(left)?;
        let mut result: Option<NodeId> = None;
        for (op, right) in ops.iter().zip(rights) {
            let place = (left_at.0, span(right).1);
            let (next, holds) = match op.as_str() {
                "in" | "not_in" => {
                    let found = self.member_of(left, right, place)?;
                    let found = if op == "in" {
                        found
                    } else {
                        self.names.nodes.negated(found)
                    };
                    (left, found)
                }
                _ => {
                    let op = operator(op)
                        .ok_or_else(|| QueryError::at(at, format!("there is no operator {op}")))?;
                    let right = self.value(right)?;
                    (right, self.names.nodes.compare(op, left, right, place)?)
                }
            };
            result = Some(match result {
                None => holds,
                Some(before) => {
                    let both = self.names.nodes.together(&[before, holds], at)?;
                    self.names.nodes.both(both[0], both[1])
                }
            });
            left = next;
            left_at = span(right);
        }
        result
            .map(Binding::Value)
            .ok_or_else(|| QueryError::at(at, "a comparison needs two values"))
    }

    /// `left in right`
    fn member_of(&mut self, left: NodeId, right: &Expr, at: Span) -> Result<NodeId> {
        let mut members = Vec::new();
        if let Expr::Sequence { items, .. } = right {
            for item in items {
                members.push(self.value(item)?);
            }
        } else {
            // A name of a list of constants.
            let Binding::Tuple { items, .. } = self.bind(right)? else {
                return self.member_of_list(left, right, at);
            };
            for item in items {
                match item {
                    Binding::Value(id) if self.names.nodes.graph.as_const(id).is_some() => {
                        members.push(id)
                    }
                    _ => return self.member_of_list(left, right, at),
                }
            }
        }
        if members.len() > COMPARED_INTEGERS
            && let Some(found) = self.names.nodes.search(left, &members)
        {
            return Ok(found);
        }
        if members.len() > COMPARED_MEMBERS {
            let message = format!("'in' takes at most {COMPARED_MEMBERS} floats or strings");
            return Err(QueryError::at(at, message));
        }
        let mut result: Option<NodeId> = None;
        for member in members {
            let equal = self
                .names
                .nodes
                .compare(Compare::Eq, left, member, span(right))?;
            result = Some(match result {
                None => equal,
                Some(before) => self.names.nodes.either(before, equal),
            });
        }
        match result {
            Some(found) => Ok(found),
            // Never, whatever it is.
            None => self.names.nodes.compare(Compare::Lt, left, left, at),
        }
    }

    /// Whether any item of a list column equals the value.
    fn member_of_list(&mut self, left: NodeId, right: &Expr, at: Span) -> Result<NodeId> {
        let list = self.value(right)?;
        let level = self.names.nodes.graph.node(list).level;
        if self.names.nodes.is_single(level) {
            let message =
                "'in' needs a list on its right: [1, 2, 3], or a column with a list per event";
            return Err(QueryError::at(span(right), message));
        }
        if !self
            .names
            .nodes
            .is_single(self.names.nodes.graph.node(left).level)
        {
            let message = "'in' looks for one value per event in a list";
            return Err(QueryError::at(at, message));
        }
        let equal = self.names.nodes.compare(Compare::Eq, list, left, at)?;
        let found = self.names.nodes.reduce(Reducer::Any, equal, at)?;
        if !self.names.nodes.graph.node(left).missing {
            return Ok(found);
        }
        // Items that are missing are none that equals it; whether a missing value is among them is missing.
        let missing = self.is_missing(&Binding::Value(left))?;
        let present = self.names.nodes.negated(missing);
        let both = self.names.nodes.together(&[found, present], at)?;
        Ok(self.names.nodes.only(both[0], both[1]))
    }
}

impl Builder<'_> {
    pub(super) fn compare(
        &mut self,
        op: Compare,
        left: NodeId,
        right: NodeId,
        at: Span,
    ) -> Result<NodeId> {
        let both = self.together(&[left, right], at)?;
        let (mut a, mut b, mut op) = (both[0], both[1], op);
        // Constants go right, where kernels have a fast way for them.
        if self.graph.as_const(a).is_some() && self.graph.as_const(b).is_none() {
            (a, b, op) = (b, a, op.swapped());
        }
        match (self.type_of(a), self.type_of(b)) {
            (Type::Str, Type::Str) => Ok(self.compare_strings(op, a, b)),
            (Type::Str, other) | (other, Type::Str) => Err(QueryError::at(
                at,
                format!("a string does not compare with {}", other.name()),
            )),
            _ => Ok(self.compare_numbers(op, a, b)),
        }
    }

    pub(super) fn compare_strings(&mut self, op: Compare, a: NodeId, b: NodeId) -> NodeId {
        if let (Some(Constant::Str(a)), Some(Constant::Str(b))) =
            (self.graph.as_const(a), self.graph.as_const(b))
        {
            let holds = op.holds(Some(a.as_bytes().cmp(b.as_bytes())));
            return self.graph.constant(Constant::Bool(holds));
        }
        self.node(Op::StrCompare(op), &[a, b], Type::Bool)
    }

    /// Exact whatever the types.
    pub(super) fn compare_numbers(&mut self, op: Compare, a: NodeId, b: NodeId) -> NodeId {
        let (type_a, type_b) = (self.type_of(a), self.type_of(b));
        if (type_a, type_b) == (Type::Bool, Type::Bool) {
            return self.map(Map::CompareBool(op), &[a, b], Type::Bool);
        }
        let narrow = self.is_narrow(a) && self.graph.as_const(b).is_some();
        if (type_a == Type::Float || self.exact_as_real(a))
            && (type_b == Type::Float || self.exact_as_real(b))
            && (narrow || type_a == Type::Float || type_b == Type::Float)
        {
            let (a, b) = (self.real_of(a), self.real_of(b));
            let (op, a, b) = self.bounded(op, a, b);
            return self.map(Map::CompareReal(op), &[a, b], Type::Bool);
        }
        // The wider type goes right.
        let rank = |ty| match ty {
            Type::Bool | Type::Int => 0,
            Type::UInt => 1,
            Type::Float | Type::Str => 2,
        };
        let (mut a, mut b, mut op) = (self.number_of(a), self.number_of(b), op);
        if rank(type_a) > rank(type_b) {
            (a, b, op) = (b, a, op.swapped());
        }
        let map = match (self.type_of(a), self.type_of(b)) {
            (Type::Int, Type::Int) => Map::CompareInt(op),
            (Type::UInt, Type::UInt) => Map::CompareUInt(op),
            (Type::UInt, Type::Float) => Map::CompareUIntReal(op),
            (_, Type::Float) => Map::CompareIntReal(op),
            _ => Map::CompareIntUInt(op),
        };
        self.map(map, &[a, b], Type::Bool)
    }

    /// Integers among many integers.
    pub(super) fn search(&mut self, left: NodeId, constants: &[NodeId]) -> Option<NodeId> {
        let unsigned = match self.type_of(left) {
            Type::Int => false,
            Type::UInt => true,
            _ => return None,
        };
        let mut list = Vec::with_capacity(constants.len());
        for id in constants {
            match (self.graph.as_const(*id)?, unsigned) {
                (Constant::Int(x), false) => list.push(*x),
                // A negative number is never among unsigned ones, and the other way round.
                (Constant::Int(x), true) => list.extend((*x >= 0).then_some(*x)),
                (Constant::UInt(x), true) => list.push(*x as i64),
                (Constant::UInt(_), false) => (),
                _ => return None,
            }
        }
        list.sort_unstable();
        list.dedup();
        Some(self.node(Op::InInts(list.into()), &[left], Type::Bool))
    }
}

fn operator(op: &str) -> Option<Compare> {
    Some(match op {
        "==" => Compare::Eq,
        "!=" => Compare::Ne,
        "<" => Compare::Lt,
        "<=" => Compare::Le,
        ">" => Compare::Gt,
        ">=" => Compare::Ge,
        _ => return None,
    })
}
