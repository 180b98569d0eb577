//! Nodes to programs: which nodes are steps of which program, and how their inputs are read. A node
//! whose value only the steps of one program want is a step of it, and so is one that is light (`again.rs`).

use crate::compile::plan::passes;
use crate::compile::plan::program::{Argument, Leaf, Operation, Program, Read, Step};
use crate::compile::{Graph, Node, NodeId, Op, Type, combination_items as items};
use crate::kernel::{Lane, Map};
use crate::limits::PROGRAM_STEPS;
use std::collections::{BTreeMap, BTreeSet};

/// The program of a node, or `None` if it is not computed position by position. `uses[n]`: how many
/// want node n's value.
pub(crate) fn program(graph: &Graph, uses: &[u32], id: NodeId) -> Option<Program> {
    let root = graph.node(id);
    operation(root)?;
    // The condition decides whether the result is missing: inputs keep values and flags of their own.
    let apart = root.op == Op::Select && root.missing;
    let mut builder = ProgramBuilder {
        graph,
        uses,
        apart,
        cuts: true,
    };
    match builder.program(&[id]) {
        // What a cut has left of combinations is computed for all of them, where that takes no list of
        // positions and no long time.
        Some((program, is_whole)) if is_whole || !program.is_cut => Some(program),
        _ => {
            builder.cuts = false;
            builder.program(&[id]).map(|(program, _)| program)
        }
    }
}

/// One program of several nodes at one level, ascending, none of which combinations are read for.
pub(in crate::compile) fn joint_program(
    graph: &Graph,
    uses: &[u32],
    roots: &[NodeId],
) -> Option<Program> {
    let builder = ProgramBuilder {
        graph,
        uses,
        apart: false,
        cuts: false,
    };
    builder.program(roots).map(|(program, _)| program)
}

/// The operation on the values that are not missing.
fn operation(node: &Node) -> Option<Map> {
    match &node.op {
        Op::Map(map) => Some(*map),
        // Strings are chosen one by one.
        Op::Select => match node.ty {
            Type::Bool => Some(Map::SelectBool),
            Type::Int | Type::UInt => Some(Map::SelectInt),
            Type::Float => Some(Map::SelectReal),
            Type::Str => None,
        },
        _ => None,
    }
}

struct ProgramBuilder<'a> {
    graph: &'a Graph,
    uses: &'a [u32],
    /// Whether inputs stay values, each at every position.
    apart: bool,
    /// Whether combinations are read through cuts on them.
    cuts: bool,
}

impl ProgramBuilder<'_> {
    /// The program, and where it `is_cut`, whether all leaves are of all combinations and its steps are
    /// worth doing for all.
    fn program(&self, roots: &[NodeId]) -> Option<(Program, bool)> {
        let fused = self.fused(roots);
        let mut program = Program::default();
        // Inputs have smaller numbers.
        for id in &fused {
            let node = self.graph.node(*id);
            let map = operation(node)?;
            let kernel = map.kernel();
            let mut arguments = Vec::with_capacity(3);
            for (input, lane) in node.inputs.iter().zip(kernel.arguments()) {
                arguments.push(match fused.iter().position(|known| known == input) {
                    Some(step) => Argument::Register(step),
                    None => Argument::Leaf(self.leaf(&mut program, *input, *lane)),
                });
            }
            let register = program.registers.len();
            program.registers.push(kernel.result());
            program.steps.push(Step {
                work: Operation::of(map),
                arguments,
                results: vec![register],
            });
            if roots.contains(id) {
                program.results.push(register);
            }
        }
        let mut maps = (0..program.steps.len()).filter_map(|step| program.map(step));
        let is_quick = maps.all(Map::is_quick);
        let is_whole = self.uncut(&mut program) && is_quick;
        passes::apply(&mut program);
        Some((program, is_whole))
    }

    /// The nodes that become steps, ascending: the roots, and from them down all that no other node wants, or that are
    /// light.
    fn fused(&self, roots: &[NodeId]) -> Vec<NodeId> {
        if self.apart {
            return roots.to_vec();
        }
        let mut steps: BTreeSet<NodeId> = roots.iter().copied().collect();
        // How many of the steps want each node: decided from the largest down, when all are known.
        let mut wanted: BTreeMap<NodeId, u32> = roots.iter().map(|id| (*id, 0)).collect();
        while let Some((id, count)) = wanted.pop_last() {
            if !steps.contains(&id) {
                if steps.len() >= PROGRAM_STEPS || !self.is_step(id, count) {
                    continue;
                }
                steps.insert(id);
            }
            for input in &self.graph.node(id).inputs {
                *wanted.entry(*input).or_default() += 1;
            }
        }
        steps.into_iter().collect()
    }

    /// Whether a node that is not the root becomes a step, if this number of steps wants it.
    fn is_step(&self, id: NodeId, count: u32) -> bool {
        let node = self.graph.node(id);
        let Op::Map(map) = node.op else {
            return false;
        };
        let alone = |id: NodeId, count| self.uses.get(id as usize).is_some_and(|n| *n <= count);
        if !(alone(id, count) || self.graph.is_light(id)) || self.sum(id).is_some() {
            return false;
        }
        // Leaves are read as whatever type is wanted.
        !map.is_cast() || node.inputs.iter().all(|inner| self.is_step(*inner, 1))
    }

    /// The number of the leaf that gives a node's value.
    fn leaf(&self, program: &mut Program, id: NodeId, lane: Lane) -> usize {
        let node = self.graph.node(id);
        let id = match (&node.op, node.inputs.as_slice()) {
            (Op::Map(map), [inner]) if map.is_cast() => *inner,
            _ => id,
        };
        let mut leaf = Leaf {
            node: id,
            lane,
            read: Read::Along,
        };
        let sum = self.sum(id).map(|found| (found, Read::Sum));
        if let Some((found, read)) = sum.or_else(|| self.item(id)) {
            leaf.node = found.node;
            leaf.read = read;
            program.tuples = Some(found.level);
            program.is_cut = found.is_cut;
        }
        let known = program.leaves.iter().position(|known| *known == leaf);
        known.unwrap_or_else(|| {
            program.leaves.push(leaf);
            program.leaves.len() - 1
        })
    }

    /// The value whose sum over a combination's items a node is.
    fn sum(&self, id: NodeId) -> Option<items::Item> {
        items::sum(self.graph, id).filter(|found| self.is_readable(found))
    }

    /// The value of a combination's item that a node shows.
    fn item(&self, id: NodeId) -> Option<(items::Item, Read)> {
        let found = items::item(self.graph, id).filter(|found| self.is_readable(found))?;
        Some((found, Read::Item { which: found.which }))
    }

    /// Programs know no flags of single items.
    fn is_readable(&self, found: &items::Item) -> bool {
        let is_read = !found.is_cut || self.cuts;
        is_read && !self.apart && !self.graph.node(found.node).missing
    }

    /// Leaves that are read along, of a program that `is_cut`: their values at all combinations. Gives
    /// whether all have them.
    fn uncut(&self, program: &mut Program) -> bool {
        let Some(level) = program.tuples.filter(|_| program.is_cut) else {
            return true;
        };
        let leaves = program.leaves.iter_mut();
        leaves.filter(|leaf| leaf.read == Read::Along).all(|leaf| {
            match items::uncut(self.graph, leaf.node) {
                Some((node, of)) if of == level => {
                    leaf.node = node;
                    true
                }
                _ => self.graph.as_const(leaf.node).is_some(),
            }
        })
    }
}
