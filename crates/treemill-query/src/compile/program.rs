//! Operations position by position that are done together, a chunk at a time, so that what lies
//! between them never leaves the first-level cache.

use super::{Graph, LevelId, Node, NodeId, Op, Type, coordinates, forms, pairs, tuple};
use crate::kernel::forms::Form;
use crate::kernel::{Kernel, Lane, Map};
use std::collections::{BTreeMap, BTreeSet};

/// Steps of a program; what a larger expression has more of is computed for the whole batch.
const MOST_STEPS: usize = 32;

/// Where an argument comes from.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Argument {
    /// A value from outside, by its number among the leaves.
    Leaf(usize),
    /// The result of an earlier step, by the register that holds it.
    Register(usize),
}

/// A value from outside, read as a type.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Leaf {
    pub node: NodeId,
    pub lane: Lane,
    pub read: Read,
}

/// How a leaf's value is read.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Read {
    /// Position by position.
    Along,
    /// The value is one of items, and the program goes through combinations of them: so many of each.
    Item { which: u8 },
    /// The sum of the values of a combination's items, from the first on.
    Sum,
    /// The items' values themselves, of which a form makes sums.
    Items,
}

/// What a step does.
#[derive(Clone, Copy)]
pub(crate) enum Work {
    /// One operation, position by position.
    Kernel(Kernel),
    /// Several, on sums over combinations' items.
    Form(Form),
    /// Two of one argument; the twin's register takes the second.
    Pair(fn(&[f64], &mut [f64], &mut [f64])),
    /// px of pt, eta, phi and mass; the twins' registers take py, pz and the energy.
    Cartesian,
    /// Done already, with the step of which it is a twin.
    Twin,
}

/// One step.
#[derive(Clone)]
pub(crate) struct Step {
    pub work: Work,
    pub arguments: Vec<Argument>,
    /// The register that takes the result; the last step's result is the program's, unless it names
    /// results.
    pub register: usize,
    /// The registers that take further results.
    pub twins: Vec<usize>,
}

/// Operations in order; the last one gives the result.
#[derive(Clone, Default)]
pub(crate) struct Program {
    pub leaves: Vec<Leaf>,
    pub steps: Vec<Step>,
    /// The registers that hold the results in the end, where there are several.
    pub results: Vec<usize>,
    /// Types of the registers.
    pub registers: Vec<Lane>,
    /// The level of combinations that it goes through, if a leaf is read by items.
    pub tuples: Option<LevelId>,
    /// Whether what it gives is of all of those, and the value only at some of them.
    pub is_cut: bool,
    /// The operation, if it is only one.
    pub only: Option<Map>,
}

/// The program of a node, or `None` if it is not computed position by position. `uses[n]`: how many
/// want node n's value.
pub(crate) fn program(graph: &Graph, uses: &[u32], id: NodeId) -> Option<Program> {
    let root = graph.node(id);
    operation(root)?;
    // Where the result is missing depends on the condition: inputs keep values and flags of their own.
    let apart = root.op == Op::Select && root.missing;
    let mut builder = Builder {
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
pub(super) fn joint_program(graph: &Graph, uses: &[u32], roots: &[NodeId]) -> Option<Program> {
    let builder = Builder {
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

struct Builder<'a> {
    graph: &'a Graph,
    uses: &'a [u32],
    /// Whether inputs stay values, each at every position.
    apart: bool,
    /// Whether combinations are read through cuts on them.
    cuts: bool,
}

impl Builder<'_> {
    /// The program, and where it `is_cut`, whether all leaves are of all combinations and its steps are
    /// worth doing for all.
    fn program(&self, roots: &[NodeId]) -> Option<(Program, bool)> {
        let fused = self.fused(roots);
        let mut program = Program::default();
        let mut maps = Vec::with_capacity(fused.len());
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
            let register = program.steps.len();
            program.only = Some(map).filter(|_| fused.len() == 1);
            maps.push(map);
            program.steps.push(Step {
                work: Work::Kernel(kernel),
                arguments,
                register,
                twins: Vec::new(),
            });
            if roots.len() > 1 && roots.contains(id) {
                program.results.push(register);
            }
        }
        let is_whole = self.uncut(&mut program) && maps.iter().all(|map| map.is_quick());
        forms::fuse(&mut program, &maps);
        if program.steps.len() == maps.len() && !coordinates::fuse(&mut program, &maps, self.graph)
        {
            pairs::pair(&mut program, &maps);
        }
        program.place();
        Some((program, is_whole))
    }

    /// The nodes that become steps, ascending: the roots, and from them down all that nobody else wants.
    fn fused(&self, roots: &[NodeId]) -> Vec<NodeId> {
        if self.apart {
            return roots.to_vec();
        }
        let mut steps: BTreeSet<NodeId> = roots.iter().copied().collect();
        // How many of the steps want each node: decided from the largest down, when all are known.
        let mut wanted: BTreeMap<NodeId, u32> = roots.iter().map(|id| (*id, 0)).collect();
        while let Some((id, count)) = wanted.pop_last() {
            if !steps.contains(&id) {
                if steps.len() >= MOST_STEPS || !self.is_step(id, count) {
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

    /// Whether a node that is not the root, and that so many steps want, becomes one.
    fn is_step(&self, id: NodeId, count: u32) -> bool {
        let node = self.graph.node(id);
        let Op::Map(map) = node.op else {
            return false;
        };
        let alone = |id: NodeId, count| self.uses.get(id as usize).is_some_and(|n| *n <= count);
        if !alone(id, count) || self.sum(id).is_some() {
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
    fn sum(&self, id: NodeId) -> Option<tuple::Item> {
        tuple::sum(self.graph, id).filter(|found| self.is_readable(found))
    }

    /// The value of a combination's item that a node shows.
    fn item(&self, id: NodeId) -> Option<(tuple::Item, Read)> {
        let found = tuple::item(self.graph, id).filter(|found| self.is_readable(found))?;
        Some((found, Read::Item { which: found.which }))
    }

    /// Programs know no flags of single items.
    fn is_readable(&self, found: &tuple::Item) -> bool {
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
            match tuple::uncut(self.graph, leaf.node) {
                Some((node, of)) if of == level => {
                    leaf.node = node;
                    true
                }
                _ => self.graph.as_const(leaf.node).is_some(),
            }
        })
    }
}

impl Work {
    /// Type of the result.
    pub fn result(&self) -> Lane {
        match self {
            Self::Kernel(kernel) => kernel.result(),
            Self::Form(_) | Self::Pair(_) | Self::Cartesian | Self::Twin => Lane::F,
        }
    }
}

impl Program {
    /// Leaves out the steps that are gone, and the leaves that no other wants.
    pub(super) fn keep(&mut self, gone: &[bool]) {
        let mut left = 0;
        let numbers: Vec<usize> = gone
            .iter()
            .map(|gone| {
                left += usize::from(!gone);
                left.saturating_sub(1)
            })
            .collect();
        let mut gone = gone.iter();
        self.steps.retain(|_| gone.next() != Some(&true));
        let all = std::mem::take(&mut self.leaves);
        for step in &mut self.steps {
            for twin in &mut step.twins {
                *twin = numbers[*twin];
            }
        }
        for result in &mut self.results {
            *result = numbers[*result];
        }
        for argument in self.steps.iter_mut().flat_map(|step| &mut step.arguments) {
            *argument = match *argument {
                Argument::Register(step) => Argument::Register(numbers[step]),
                Argument::Leaf(leaf) => {
                    let leaf = all[leaf];
                    let known = self.leaves.iter().position(|known| *known == leaf);
                    Argument::Leaf(known.unwrap_or_else(|| {
                        self.leaves.push(leaf);
                        self.leaves.len() - 1
                    }))
                }
            };
        }
    }

    /// Gives registers to steps: one that nobody reads any more takes another result.
    fn place(&mut self) {
        let mut last_read: Vec<usize> = (0..self.steps.len()).collect();
        for (i, step) in self.steps.iter().enumerate() {
            for argument in &step.arguments {
                if let Argument::Register(from) = argument {
                    last_read[*from] = i;
                }
            }
        }
        for result in &self.results {
            last_read[*result] = usize::MAX;
        }
        let mut free: Vec<usize> = Vec::new();
        let mut places: Vec<Option<usize>> = vec![None; self.steps.len()];
        for i in 0..self.steps.len() {
            if places[i].is_none() {
                places[i] = Some(self.free_register(i, &mut free));
            }
            for twin in 0..self.steps[i].twins.len() {
                let step = self.steps[i].twins[twin];
                let register = self.free_register(step, &mut free);
                places[step] = Some(register);
                self.steps[i].twins[twin] = register;
            }
            let step = &mut self.steps[i];
            step.register = places[i].unwrap_or_default();
            // An argument's register is free once it has been read, for the steps after this.
            let mut done: Vec<usize> = Vec::new();
            for argument in &mut step.arguments {
                if let Argument::Register(from) = argument {
                    if last_read[*from] == i && !done.contains(from) {
                        done.push(*from);
                    }
                    *argument = Argument::Register(places[*from].unwrap_or_default());
                }
            }
            free.extend(done.into_iter().filter_map(|from| places[from]));
        }
        for result in &mut self.results {
            *result = places[*result].unwrap_or_default();
        }
    }

    /// A register for a step's result: one that is free, or a new one.
    fn free_register(&mut self, step: usize, free: &mut Vec<usize>) -> usize {
        let lane = self.steps[step].work.result();
        match free.iter().rposition(|r| self.registers[*r] == lane) {
            Some(place) => free.remove(place),
            None => {
                self.registers.push(lane);
                self.registers.len() - 1
            }
        }
    }
}
