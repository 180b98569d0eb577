//! Functions of numbers: of one and two arguments, the largest and smallest of several, integers of numbers.

use crate::compile::nodes::builtins::FunctionKind;
use crate::compile::nodes::types::NO_STRINGS;
use crate::compile::{Builder, Constant, NodeId, Result, Type};
use crate::error::QueryError;
use crate::kernel::{Arithmetic, Map, Real1, Real2, Test};
use crate::spec::Span;

impl Builder<'_> {
    /// Functions position by position; arguments are at one level.
    pub(in crate::compile) fn apply_to_numbers(
        &mut self,
        kind: FunctionKind,
        ids: &[NodeId],
        at: Span,
    ) -> Result<NodeId> {
        let strings = ids.iter().any(|id| self.type_of(*id) == Type::Str);
        if strings && !matches!(kind, FunctionKind::FillMissing | FunctionKind::Only) {
            return Err(QueryError::at(at, NO_STRINGS));
        }
        let first = ids[0];
        match kind {
            FunctionKind::Real1(op) => Ok(self.real1(op, first)),
            FunctionKind::Rounding(op) => Ok(match self.type_of(first) {
                Type::Float => self.real1(op, first),
                _ => self.number_of(first),
            }),
            FunctionKind::Abs => Ok(match self.type_of(first) {
                Type::Float => self.real1(Real1::Abs, first),
                Type::UInt => first,
                _ => {
                    let number = self.number_of(first);
                    self.integral(Map::AbsInt, &[number], Type::Int, at)?
                }
            }),
            FunctionKind::Sign => Ok(match self.type_of(first) {
                Type::Float => self.real1(Real1::Sign, first),
                Type::UInt => {
                    let one = self.graph.constant(Constant::UInt(1));
                    self.extremes(&[first, one], true, at)?
                }
                _ => {
                    let number = self.number_of(first);
                    self.map(Map::SignInt, &[number], Type::Int)
                }
            }),
            FunctionKind::Real2(op) => Ok(self.real2(op, first, ids[1])),
            FunctionKind::Power => self.arithmetic(Arithmetic::Pow, first, ids[1], at),
            FunctionKind::Least | FunctionKind::Minimum => self.extremes(ids, true, at),
            FunctionKind::Most | FunctionKind::Maximum => self.extremes(ids, false, at),
            FunctionKind::Clip => {
                let raised = self.extremes(&[first, ids[1]], false, at)?;
                self.extremes(&[raised, ids[2]], true, at)
            }
            FunctionKind::Test(op) => {
                let real = self.real_of(first);
                Ok(self.map(Map::Test(op), &[real], Type::Bool))
            }
            FunctionKind::FillMissing => self.filled(ids, at),
            FunctionKind::Only => {
                let condition = self.truth(ids[1], at)?;
                let passed = self.passed(condition);
                Ok(self.only(first, passed))
            }
            FunctionKind::ToFloat => Ok(self.real_of(first)),
            FunctionKind::ToInt => Ok(self.int_of(first)),
            FunctionKind::ToBool => self.truth(first, at),
            _ => Err(QueryError::at(at, "this function needs a list")),
        }
    }

    pub(in crate::compile) fn real1(&mut self, op: Real1, id: NodeId) -> NodeId {
        let real = self.real_of(id);
        self.map(Map::Real1(op), &[real], Type::Float)
    }

    pub(in crate::compile) fn real2(&mut self, op: Real2, a: NodeId, b: NodeId) -> NodeId {
        let (a, b) = (self.real_of(a), self.real_of(b));
        self.map(Map::Real2(op), &[a, b], Type::Float)
    }

    /// The smallest or largest of several values.
    pub(in crate::compile) fn extremes(
        &mut self,
        ids: &[NodeId],
        least: bool,
        at: Span,
    ) -> Result<NodeId> {
        let mut best = ids[0];
        for id in &ids[1..] {
            if let Some((signed, unsigned)) = self.of_both_signs(best, *id) {
                best = self.extreme_of_signs(signed, unsigned, least);
                continue;
            }
            let (sides, ty) = self.same_type(&[best, *id], at)?;
            let op = match (ty, least) {
                (Type::Bool, true) => Map::And,
                (Type::Bool, false) => Map::Or,
                (Type::Int, true) => Map::MinInt,
                (Type::Int, false) => Map::MaxInt,
                (Type::UInt, true) => Map::MinUInt,
                (Type::UInt, false) => Map::MaxUInt,
                (_, true) => Map::Real2(Real2::Min),
                (_, false) => Map::Real2(Real2::Max),
            };
            best = self.map(op, &sides, ty);
        }
        Ok(best)
    }

    /// A signed and an unsigned integer: no common type holds both exactly.
    pub(in crate::compile) fn of_both_signs(
        &self,
        a: NodeId,
        b: NodeId,
    ) -> Option<(NodeId, NodeId)> {
        match (self.type_of(a), self.type_of(b)) {
            (Type::Int, Type::UInt) => Some((a, b)),
            (Type::UInt, Type::Int) => Some((b, a)),
            _ => None,
        }
    }

    /// The larger of the two is never negative and fits u64, the smaller one fits i64. Both results are exact.
    pub(in crate::compile) fn extreme_of_signs(
        &mut self,
        signed: NodeId,
        unsigned: NodeId,
        least: bool,
    ) -> NodeId {
        if least {
            let most = self.graph.constant(Constant::UInt(i64::MAX as u64));
            let within = self.map(Map::MinUInt, &[unsigned, most], Type::Int);
            self.map(Map::MinInt, &[signed, within], Type::Int)
        } else {
            let zero = self.graph.constant(Constant::Int(0));
            let within = self.map(Map::MaxInt, &[signed, zero], Type::UInt);
            self.map(Map::MaxUInt, &[within, unsigned], Type::UInt)
        }
    }

    /// Rounds towards zero, as Python's int. A value without an integer, as NaN, is missing.
    pub(in crate::compile) fn int_of(&mut self, id: NodeId) -> NodeId {
        if self.type_of(id) != Type::Float {
            return self.number_of(id);
        }
        let whole = self.map(Map::RealToInt, &[id], Type::Int);
        let finite = self.map(Map::Test(Test::FitsInt), &[id], Type::Bool);
        match self.graph.as_const(finite) {
            Some(Constant::Bool(true)) => whole,
            _ => self.only(whole, finite),
        }
    }
}
