//! Conditions of one form, which differ only in the constants that they compare with: `sum(x > 31) >= 2` implies
//! `sum(x > 30) >= 2`. Among conditions that are missing, one that is missing lies between false and true.

use crate::compile::{Constant, Graph, Node, NodeId, Op, Reducer, Type};
use crate::kernel::{Compare, Map};
use crate::limits::FORM_PARTS;
use std::cmp::Ordering;

/// What a condition is but for its bounds.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Form(Vec<Part>);

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Part {
    /// An operation. Its inputs come next, and are left out here.
    Made(Node),
    /// A value that is the same in all conditions of the form.
    Same(NodeId),
    /// A constant. `rises`: the condition holds wherever it held, if this becomes larger; else if it becomes smaller.
    Bound { rises: bool, ty: Type },
}

/// The constants of a condition, in the order of its form.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Bounds(Vec<(bool, Constant)>);

impl Bounds {
    /// Whether a condition with these bounds holds wherever another one of its form does.
    pub fn are_implied_by(&self, other: &Self) -> bool {
        let pairs = self.0.iter().zip(&other.0);
        let mut orders = pairs.map(|((rises, own), (_, other))| match rises {
            true => order(own, other),
            false => order(other, own),
        });
        orders.all(|order| order.is_some_and(Ordering::is_ge))
    }
}

/// The order of constants of one type.
fn order(a: &Constant, b: &Constant) -> Option<Ordering> {
    match (a, b) {
        (Constant::Bool(a), Constant::Bool(b)) => Some(a.cmp(b)),
        (Constant::Int(a), Constant::Int(b)) => Some(a.cmp(b)),
        (Constant::UInt(a), Constant::UInt(b)) => Some(a.cmp(b)),
        (Constant::Float(a), Constant::Float(b)) => {
            f64::from_bits(*a).partial_cmp(&f64::from_bits(*b))
        }
        _ => None,
    }
}

impl Graph {
    /// A condition's form and its bounds.
    pub fn form(&self, condition: NodeId) -> (Form, Bounds) {
        let (mut parts, mut bounds) = (Vec::new(), Vec::new());
        // What is left to look at, the next one last, and whether the condition rises with it.
        let mut left = vec![(condition, true)];
        while let Some((id, rises)) = left.pop() {
            if parts.len() > FORM_PARTS {
                return (Form(vec![Part::Same(condition)]), Bounds(Vec::new()));
            }
            let node = self.node(id);
            if let Some(constant) = self.as_const(id)
                && order(constant, constant).is_some()
            {
                bounds.push((rises, constant.clone()));
                let ty = constant.type_of();
                parts.push(Part::Bound { rises, ty });
                continue;
            }
            match self.ordered_inputs(node) {
                Some(inputs) => {
                    let inputs = inputs.into_iter().rev();
                    left.extend(inputs.map(|(input, same)| (input, rises == same)));
                    let inputs = Vec::new();
                    parts.push(Part::Made(Node {
                        inputs,
                        ..node.clone()
                    }));
                }
                None => parts.push(Part::Same(id)),
            }
        }
        (Form(parts), Bounds(bounds))
    }

    /// The inputs of a node that becomes larger, or stays, if one of them does; those that are `false`: if it becomes
    /// smaller. `None` if nothing like that is known of it.
    fn ordered_inputs(&self, node: &Node) -> Option<Vec<(NodeId, bool)>> {
        match (&node.op, node.inputs.as_slice()) {
            // What is missing where one of two operands is, whatever the other one is, has no such order.
            (Op::Map(Map::And | Map::Or), &[a, b]) if !node.missing => {
                Some(vec![(a, true), (b, true)])
            }
            (Op::Map(map), &[a, b]) if !node.missing || self.as_const(b).is_some() => {
                let rises = match map.comparison()? {
                    Compare::Gt | Compare::Ge => true,
                    Compare::Lt | Compare::Le => false,
                    Compare::Eq | Compare::Ne => return None,
                };
                Some(vec![(a, rises), (b, !rises)])
            }
            (Op::And | Op::Or | Op::FillMissing, &[a, b]) if node.ty == Type::Bool => {
                Some(vec![(a, true), (b, true)])
            }
            (Op::Map(Map::Not), &[a]) => Some(vec![(a, false)]),
            (Op::Map(map), &[a]) if map.is_cast() => Some(vec![(a, true)]),
            (Op::Reduce(Reducer::Sum | Reducer::Any | Reducer::All), &[a])
                if self.node(a).ty == Type::Bool =>
            {
                Some(vec![(a, true)])
            }
            (Op::Spread | Op::Take(_), &[a]) => Some(vec![(a, true)]),
            _ => None,
        }
    }
}
