//! How large integers can be, by the types that they are stored in: whether the results of arithmetic fit 64 bits.
//! Knows neither names nor levels.

use crate::compile::{Builder, Constant, NodeId, Op, Reducer, Type};
use crate::kernel::{Arithmetic, Map};
use crate::schema::DType;
use std::collections::HashMap;

/// The items of a list, at most.
const ITEMS: u128 = 1 << 31;

impl Builder<'_> {
    /// Whether 64 bits with a sign hold all results of arithmetic of integers.
    pub(in crate::compile) fn always_fits(
        &self,
        op: Arithmetic,
        left: NodeId,
        right: NodeId,
    ) -> bool {
        let mut known = HashMap::new();
        let sides = [left, right].map(|id| self.largest(id, &mut known));
        combined(op, sides) < 1 << 63
    }

    /// No value of an integer or a bool is larger, whatever its sign.
    pub(in crate::compile) fn largest(
        &self,
        id: NodeId,
        known: &mut HashMap<NodeId, u128>,
    ) -> u128 {
        if let Some(found) = known.get(&id) {
            return *found;
        }
        let node = self.graph.node(id);
        let mut of = |id: &NodeId| self.largest(*id, known);
        let any = if node.ty == Type::Bool { 1 } else { 1 << 64 };
        let found = match (&node.op, node.inputs.as_slice()) {
            _ if node.ty == Type::Bool => 1,
            (Op::Const(Constant::Int(x)), _) => u128::from(x.unsigned_abs()),
            (Op::Const(Constant::UInt(x)), _) => u128::from(*x),
            (Op::Column(column), _) => {
                let field = self.schema.fields.get(*column);
                let item = field.and_then(|field| field.column_type.item());
                item.map_or(any, of_type)
            }
            (Op::Map(Map::Int(op)), [a, b]) => combined(*op, [of(a), of(b)]),
            (Op::Map(Map::MinInt | Map::MaxInt), [a, b]) => of(a).max(of(b)),
            (Op::Map(Map::SelectInt) | Op::Select, [_, a, b]) => of(a).max(of(b)),
            (Op::FillMissing, [a, b]) => of(a).max(of(b)),
            (Op::Map(Map::NegateInt | Map::AbsInt), [a]) => of(a),
            (Op::Map(Map::BoolToInt | Map::SignInt), _) => 1,
            (Op::Spread | Op::Take(_) | Op::At { .. } | Op::Align | Op::Only, [a, ..]) => of(a),
            (Op::Concat, parts) => parts.iter().map(of).max().unwrap_or(0),
            (Op::Len(_) | Op::Position, _) => ITEMS,
            (Op::Reduce(Reducer::Count | Reducer::ArgMin | Reducer::ArgMax), _) => ITEMS,
            (Op::Reduce(Reducer::Min | Reducer::Max), [a]) => of(a),
            (Op::Reduce(Reducer::Sum), [a]) => of(a).saturating_mul(ITEMS),
            _ => any,
        };
        known.insert(id, found);
        found
    }
}

fn combined(op: Arithmetic, [a, b]: [u128; 2]) -> u128 {
    match op {
        Arithmetic::Add | Arithmetic::Sub => a.saturating_add(b),
        Arithmetic::Mul => a.saturating_mul(b),
        Arithmetic::Pow => a.saturating_pow(u32::try_from(b).unwrap_or(u32::MAX)),
        Arithmetic::Div | Arithmetic::FloorDiv => a,
        Arithmetic::Mod => b,
    }
}

fn of_type(item: DType) -> u128 {
    match item {
        DType::Bool => 1,
        DType::I8 | DType::U8 => 1 << 8,
        DType::I16 | DType::U16 => 1 << 16,
        DType::I32 => 1 << 31,
        DType::U32 => 1 << 32,
        _ => 1 << 64,
    }
}
