//! The compiler's product: the graph, its programs, and the columns in the order in which evaluation
//! needs them.

use super::fast_maps::FastSet;
use super::folds::folds;
use super::joint_programs::{JointProgram, joints};
use super::lowering::program;
use super::placement::{Cuts, Placement};
use super::program::Program;
use super::provided::Callee;
use super::{Compiler, Graph, LevelId, LevelKind, NodeId, Op};
use crate::schema::{ColumnType, Field};
use std::collections::{HashMap, HashSet};

/// What evaluation needs to know of a compiled query.
pub(crate) struct Plan {
    pub graph: Graph,
    /// Programs of the nodes that are computed position by position and have values of their own.
    pub programs: HashMap<NodeId, Program>,
    /// Programs that compute several nodes, and the program of each such node.
    pub joints: Vec<JointProgram>,
    pub joint_of: HashMap<NodeId, usize>,
    /// Reductions that take a program's values block by block, and the program's node.
    pub folds: HashMap<NodeId, NodeId>,
    /// Columns, as `Query::columns` lists them.
    pub fields: Vec<Field>,
    /// Schema's column to `fields`.
    pub column_of: HashMap<usize, usize>,
    /// The nodes that stand for `fields`.
    pub column_nodes: HashMap<usize, NodeId>,
    /// For levels of list columns, what their offsets can come from.
    pub sources: HashMap<LevelId, OffsetColumns>,
    /// The cuts after which columns are read.
    pub placement: Placement,
    /// The functions that the query does not define.
    pub callees: Vec<Callee>,
    /// Levels in words.
    pub level_names: Vec<String>,
    /// Nodes whose values hold for one selection only.
    pub local: HashSet<NodeId>,
    /// The number of uses of each node's value.
    pub uses: Vec<u32>,
}

/// Columns that tell a level's offsets, as indices into `fields`.
#[derive(Debug, Clone, Default)]
pub(crate) struct OffsetColumns {
    /// The counter.
    pub counter: Option<usize>,
    /// List columns.
    pub members: Vec<usize>,
}

impl Compiler<'_> {
    /// The plan for wanting these nodes' values, in this order, and the lists of these levels, each at
    /// one of the cuts.
    pub fn plan(self, wanted: &[(usize, NodeId)], lists: &[(usize, LevelId)], cuts: &Cuts) -> Plan {
        let mut needs = Needs {
            compiler: &self,
            columns: Vec::new(),
            column_of: HashMap::new(),
            sources: HashMap::new(),
            seen: FastSet::default(),
        };
        let nodes = wanted.iter().map(|(cut, node)| (*cut, Want::Node(*node)));
        let levels = lists
            .iter()
            .map(|(cut, level)| (*cut, Want::Offsets(*level)));
        let all: Vec<(usize, Want)> = nodes.chain(levels).collect();
        for (_, want) in &all {
            needs.want(*want);
        }
        let placement = Placement::new(&needs, &all, cuts);
        let live = |id: &NodeId| needs.is_live(*id);
        let uses = self.uses(wanted, &needs.seen);
        let ids = 0..self.graph.nodes.len() as NodeId;
        let mut programs: HashMap<NodeId, Program> = ids
            .clone()
            .filter(live)
            .filter_map(|id| Some((id, program(&self.graph, &uses, id)?)))
            .collect();
        let (joints, joint_of) = joints(&needs, &programs, &placement, &uses, &all);
        let evaluated = needs.evaluated(&programs, &all);
        programs.retain(|id, _| evaluated.contains(id));
        let folds = folds(&self.graph, &programs, &uses, &evaluated);
        let Needs {
            columns,
            column_of,
            sources,
            ..
        } = needs;
        let local = ids.filter(|id| self.graph.is_local(*id)).collect();
        let mut column_nodes = HashMap::new();
        for (id, node) in self.graph.nodes.iter().enumerate() {
            if let Op::Column(column) = node.op
                && let Some(column) = column_of.get(&column)
            {
                column_nodes.insert(*column, id as NodeId);
            }
        }
        let fields = columns
            .iter()
            .filter_map(|column| self.schema.fields.get(*column).cloned())
            .collect();
        let levels = 0..self.graph.levels.len() as LevelId;
        let level_names = levels.map(|level| self.describe(level)).collect();
        Plan {
            programs,
            joints,
            joint_of,
            folds,
            fields,
            column_of,
            column_nodes,
            sources,
            placement,
            level_names,
            local,
            uses,
            callees: self.callees,
            graph: self.graph,
        }
    }

    /// The number of needed nodes and bookings that use each node's value.
    fn uses(&self, wanted: &[(usize, NodeId)], seen: &FastSet<Want>) -> Vec<u32> {
        let mut uses = vec![0_u32; self.graph.nodes.len()];
        let mut levels = FastSet::default();
        let mut count = |id: &NodeId| {
            if let Some(uses) = uses.get_mut(*id as usize) {
                *uses = uses.saturating_add(1);
            }
        };
        for want in seen {
            let level = match want {
                Want::Node(id) => {
                    let node = self.graph.node(*id);
                    node.inputs.iter().for_each(&mut count);
                    node.level
                }
                Want::Offsets(level) => *level,
            };
            if levels.insert(level)
                && let Some(node) = self.graph.level(level).kind.node()
            {
                count(&node);
            }
        }
        wanted.iter().for_each(|(_, id)| count(id));
        uses
    }
}

/// Something whose columns are needed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Want {
    Node(NodeId),
    Offsets(LevelId),
}

/// Finds the columns that are needed, in the order in which evaluation first asks for them.
pub(super) struct Needs<'a, 'b> {
    pub compiler: &'a Compiler<'b>,
    pub columns: Vec<usize>,
    pub column_of: HashMap<usize, usize>,
    pub sources: HashMap<LevelId, OffsetColumns>,
    seen: FastSet<Want>,
}

impl Needs<'_, '_> {
    fn is_live(&self, id: NodeId) -> bool {
        self.seen.contains(&Want::Node(id))
    }

    /// Depth first, without recursion: a query's depth is not bounded by its expressions' alone.
    fn want(&mut self, want: Want) {
        let mut stack = vec![(want, false)];
        while let Some((want, inputs_done)) = stack.pop() {
            if inputs_done {
                self.note(want);
                continue;
            }
            if !self.seen.insert(want) {
                continue;
            }
            stack.push((want, true));
            let mut before = self.before(want);
            before.reverse();
            stack.extend(before.into_iter().map(|want| (want, false)));
        }
    }

    /// The nodes that get values of their own: others are steps of these.
    pub fn evaluated(
        &self,
        programs: &HashMap<NodeId, Program>,
        wanted: &[(usize, Want)],
    ) -> FastSet<NodeId> {
        let mut seen: FastSet<Want> = FastSet::default();
        let mut stack: Vec<Want> = wanted.iter().map(|(_, want)| *want).collect();
        while let Some(want) = stack.pop() {
            if !seen.insert(want) {
                continue;
            }
            match want {
                Want::Node(id) if programs.contains_key(&id) => {
                    let program = &programs[&id];
                    stack.extend(program.leaves.iter().map(|leaf| Want::Node(leaf.node)));
                    stack.extend(program.tuples.map(Want::Offsets));
                    stack.push(Want::Offsets(self.compiler.graph.node(id).level));
                }
                _ => stack.extend(self.before(want)),
            }
        }
        let nodes = seen.into_iter().filter_map(|want| match want {
            Want::Node(id) => Some(id),
            Want::Offsets(_) => None,
        });
        nodes.collect()
    }

    /// What is needed before.
    pub fn before(&self, want: Want) -> Vec<Want> {
        let graph = &self.compiler.graph;
        match want {
            Want::Node(id) => {
                let node = graph.node(id);
                // Repeated values come last: by then a column of the level has told its offsets.
                let is_spread = |id: &NodeId| matches!(graph.node(*id).op, Op::Spread);
                let inputs = |spread: bool| {
                    let all = node.inputs.iter().filter(move |id| is_spread(id) == spread);
                    all.copied().map(Want::Node)
                };
                let mut wants = Vec::with_capacity(node.inputs.len() + 2);
                wants.extend(inputs(false).chain(inputs(true)));
                match &node.op {
                    Op::Len(level) => wants.push(Want::Offsets(*level)),
                    Op::Spread | Op::Pick(_) | Op::Position | Op::Row | Op::Cycle(_) => {
                        wants.extend(graph.level(node.level).kind.node().map(Want::Node));
                        wants.push(Want::Offsets(node.level));
                    }
                    Op::Align | Op::Reduce(_) | Op::At { .. } | Op::Identified => {
                        if let Some(input) = node.inputs.first() {
                            wants.push(Want::Offsets(graph.node(*input).level));
                        }
                        if node.op == Op::Align {
                            wants.push(Want::Offsets(node.level));
                        }
                    }
                    // Lists that are given whole are known by their offsets, too.
                    Op::Returned { .. } => {
                        let levels = node.inputs.iter().map(|input| graph.node(*input).level);
                        wants.extend(levels.map(Want::Offsets));
                    }
                    Op::Concat | Op::Ancestor => wants.push(Want::Offsets(node.level)),
                    _ => (),
                }
                wants
            }
            Want::Offsets(level) => {
                let found = graph.level(level);
                let mut wants: Vec<Want> = found.kind.node().map(Want::Node).into_iter().collect();
                wants.extend(found.kind.sources().iter().copied().map(Want::Offsets));
                // Items of columns need nothing else.
                if !matches!(found.kind, LevelKind::Event | LevelKind::Items { .. }) {
                    wants.push(Want::Offsets(found.parent));
                }
                wants
            }
        }
    }

    /// Notes its own column, once all that it needs is noted.
    fn note(&mut self, want: Want) {
        match want {
            Want::Node(id) => {
                let node = self.compiler.graph.node(id);
                if let Op::Column(column) = node.op {
                    let index = self.add(column);
                    let graph = &self.compiler.graph;
                    let level = graph.root(node.level);
                    if matches!(graph.level(level).kind, LevelKind::Items { .. }) {
                        let source = self.sources.entry(level).or_default();
                        if !source.members.contains(&index) {
                            source.members.push(index);
                        }
                    }
                }
            }
            Want::Offsets(level) => self.source(level),
        }
    }

    fn source(&mut self, level: LevelId) {
        let (counter, column) = match &self.compiler.graph.level(level).kind {
            LevelKind::Items { counter, column } => (counter, column),
            LevelKind::Inner { column } => {
                self.add(*column);
                return;
            }
            _ => return,
        };
        if self
            .sources
            .get(&level)
            .is_some_and(|source| !source.members.is_empty())
        {
            return;
        }
        // Counters are small; where there is none, the items must be read.
        let counter = counter.as_ref().and_then(|name| {
            let index = self.compiler.by_name.get(name.as_str()).copied()?;
            let field = self.compiler.schema.fields.get(index)?;
            let is_count =
                matches!(&field.column_type, ColumnType::Scalar(item) if item.is_integer());
            is_count.then_some(index)
        });
        match counter {
            Some(counter) => {
                let index = self.add(counter);
                self.sources.entry(level).or_default().counter = Some(index);
            }
            None => {
                let index = self.add(*column);
                self.sources.entry(level).or_default().members.push(index);
            }
        }
    }

    /// The column's number among those needed.
    fn add(&mut self, column: usize) -> usize {
        *self.column_of.entry(column).or_insert_with(|| {
            self.columns.push(column);
            self.columns.len() - 1
        })
    }
}
