//! The types that values are stored in, as columns of results: a column's own, or that of arithmetic.

use super::{Builder, NodeId, Op, Type};
use crate::schema::DType;

impl Builder<'_> {
    /// The type in which a node's values are kept: a column's own where the values are some of its,
    /// else that of arithmetic. `None`: strings.
    pub(crate) fn stored_type(&self, node: NodeId) -> Option<DType> {
        let mut walk = node;
        loop {
            let node = self.graph.node(walk);
            match (&node.op, node.inputs.first()) {
                (Op::Column(column), _) => {
                    let field = self.schema.fields.get(*column);
                    let item = field.and_then(|field| field.column_type.item());
                    return item
                        .filter(|item| *item != DType::Str)
                        .or_else(|| computed(node.ty));
                }
                (Op::Spread | Op::Take(_) | Op::At { .. } | Op::Align, Some(input)) => {
                    walk = *input
                }
                _ => return computed(node.ty),
            }
        }
    }
}

fn computed(ty: Type) -> Option<DType> {
    match ty {
        Type::Bool => Some(DType::Bool),
        Type::Int => Some(DType::I64),
        Type::UInt => Some(DType::U64),
        Type::Float => Some(DType::F64),
        Type::Str => None,
    }
}
