//! Comparisons of numbers and of strings, and whether a value is among others.

use crate::compile::{Builder, Constant, NodeId, Op, Result, Type};
use crate::error::QueryError;
use crate::kernel::{Compare, Map};
use crate::spec::Span;

impl Builder<'_> {
    pub(in crate::compile) fn compare(
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

    pub(in crate::compile) fn compare_strings(
        &mut self,
        op: Compare,
        a: NodeId,
        b: NodeId,
    ) -> NodeId {
        if let (Some(Constant::Str(a)), Some(Constant::Str(b))) =
            (self.graph.as_const(a), self.graph.as_const(b))
        {
            let holds = op.holds(Some(a.as_bytes().cmp(b.as_bytes())));
            return self.graph.constant(Constant::Bool(holds));
        }
        self.node(Op::StrCompare(op), &[a, b], Type::Bool)
    }

    /// Exact whatever the types.
    pub(in crate::compile) fn compare_numbers(
        &mut self,
        op: Compare,
        a: NodeId,
        b: NodeId,
    ) -> NodeId {
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
    pub(in crate::compile) fn search(
        &mut self,
        left: NodeId,
        constants: &[NodeId],
    ) -> Option<NodeId> {
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
