//! Operations position by position that are done together, a chunk at a time, so that what lies
//! between them never leaves the first-level cache.

use super::{Graph, NodeId, Op};
use crate::kernel::{Kernel, Lane, Map};

/// Steps of a program; what a larger expression has more of is computed for the whole batch.
const MOST_STEPS: usize = 24;

/// Where an argument comes from.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Argument {
    /// A value from outside, by its number among the leaves.
    Leaf(usize),
    /// The result of an earlier step, by its number.
    Step(usize),
}

/// A value from outside, read as a type.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Leaf {
    pub node: NodeId,
    pub lane: Lane,
}

/// One operation.
#[derive(Clone)]
pub(crate) struct Step {
    pub map: Map,
    pub kernel: Kernel,
    pub arguments: Vec<Argument>,
}

/// Operations in order; the last one gives the result.
#[derive(Clone, Default)]
pub(crate) struct Program {
    pub leaves: Vec<Leaf>,
    pub steps: Vec<Step>,
}

/// The program of a node, or `None` if it is not computed position by position. `uses[n]`: how many
/// want node n's value.
pub(crate) fn program(graph: &Graph, uses: &[u32], id: NodeId) -> Option<Program> {
    let map = operation(graph, id)?;
    let mut program = Program::default();
    program.add(graph, uses, id, map, !graph.node(id).missing);
    Some(program)
}

/// The operation on the values that are not missing.
fn operation(graph: &Graph, id: NodeId) -> Option<Map> {
    let node = graph.node(id);
    match &node.op {
        Op::Map(map) => Some(*map),
        // Strings are chosen one by one.
        Op::Select => match node.ty {
            super::Type::Bool => Some(Map::SelectBool),
            super::Type::Int | super::Type::UInt => Some(Map::SelectInt),
            super::Type::Float => Some(Map::SelectReal),
            super::Type::Str => None,
        },
        _ => None,
    }
}

impl Program {
    /// Adds the steps of a node; gives the number of the last. `fuse`: inputs that nobody else wants
    /// become steps too.
    fn add(&mut self, graph: &Graph, uses: &[u32], id: NodeId, map: Map, fuse: bool) -> usize {
        let kernel = map.kernel();
        let mut arguments = Vec::with_capacity(3);
        for (input, lane) in graph.node(id).inputs.iter().zip(kernel.arguments()) {
            arguments.push(self.argument(graph, uses, *input, *lane, fuse));
        }
        self.steps.push(Step {
            map,
            kernel,
            arguments,
        });
        self.steps.len() - 1
    }

    fn argument(
        &mut self,
        graph: &Graph,
        uses: &[u32],
        id: NodeId,
        lane: Lane,
        fuse: bool,
    ) -> Argument {
        let node = graph.node(id);
        let Op::Map(map) = node.op else {
            return self.leaf(id, lane);
        };
        let alone = uses.get(id as usize).is_some_and(|n| *n <= 1);
        let fused = |id: NodeId| {
            let node = graph.node(id);
            matches!(node.op, Op::Map(_))
                && fuse
                && !node.missing
                && (uses.get(id as usize).is_some_and(|n| *n <= 1))
        };
        if map.is_cast() {
            // Leaves are read as whatever type is wanted.
            let inner = node.inputs[0];
            if self.steps.len() >= MOST_STEPS || !(alone && fused(inner)) {
                return self.leaf(inner, lane);
            }
        } else if self.steps.len() >= MOST_STEPS || !fused(id) {
            return self.leaf(id, lane);
        }
        Argument::Step(self.add(graph, uses, id, map, fuse))
    }

    fn leaf(&mut self, node: NodeId, lane: Lane) -> Argument {
        let leaf = Leaf { node, lane };
        let known = self.leaves.iter().position(|known| *known == leaf);
        Argument::Leaf(known.unwrap_or_else(|| {
            self.leaves.push(leaf);
            self.leaves.len() - 1
        }))
    }
}
