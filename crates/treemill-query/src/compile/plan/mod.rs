//! The compiler's product: the graph, its programs, and the columns in the order in which evaluation
//! needs them.

pub(super) mod folds;
pub(super) mod joint_programs;
pub(super) mod lowering;
pub(super) mod needs;
pub(super) mod passes;
pub(super) mod placement;
pub(super) mod program;
pub(super) mod registers;

use crate::compile::graph::Want;
use crate::compile::graph::fast_maps::FastSet;
use crate::compile::nodes::callee::Callee;
use crate::compile::plan::folds::folds;
use crate::compile::plan::joint_programs::{JointProgram, joints};
use crate::compile::plan::lowering::program;
use crate::compile::plan::needs::{Needs, OffsetColumns};
use crate::compile::plan::placement::{Cuts, Placement};
use crate::compile::plan::program::Program;
use crate::compile::{Builder, Compiler, Graph, LevelId, NodeId, Op};
use crate::schema::Field;
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
    /// The places of `fields` in the schema.
    pub places: Vec<usize>,
    /// Schema's column to `fields`.
    pub column_of: HashMap<usize, usize>,
    /// The nodes that stand for `fields`.
    pub column_nodes: HashMap<usize, NodeId>,
    /// What the offsets of list columns' levels can come from.
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

impl Compiler<'_> {
    /// The plan for wanting these nodes' values, in this order, and the lists of these levels, each at
    /// one of the cuts.
    pub fn plan(self, wanted: &[(usize, NodeId)], lists: &[(usize, LevelId)], cuts: &Cuts) -> Plan {
        let mut needs = Needs::new(&self.names);
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
        let uses = self.names.nodes.uses(wanted, &needs.seen);
        let ids = 0..self.names.nodes.graph.nodes.len() as NodeId;
        let mut programs: HashMap<NodeId, Program> = ids
            .clone()
            .filter(live)
            .filter_map(|id| Some((id, program(&self.names.nodes.graph, &uses, id)?)))
            .collect();
        let (joints, joint_of) = joints(&needs, &programs, &placement, &uses, &all);
        let evaluated = needs.evaluated(&programs, &all);
        programs.retain(|id, _| evaluated.contains(id));
        let folds = folds(&self.names.nodes.graph, &programs, &uses, &evaluated);
        let Needs {
            columns,
            column_of,
            sources,
            ..
        } = needs;
        let local = ids
            .filter(|id| self.names.nodes.graph.is_local(*id))
            .collect();
        let mut column_nodes = HashMap::new();
        for (id, node) in self.names.nodes.graph.nodes.iter().enumerate() {
            if let Op::Column(column) = node.op
                && let Some(column) = column_of.get(&column)
            {
                column_nodes.insert(*column, id as NodeId);
            }
        }
        let fields = columns
            .iter()
            .filter_map(|column| self.names.nodes.schema.fields.get(*column).cloned())
            .collect();
        let levels = 0..self.names.nodes.graph.levels.len() as LevelId;
        let level_names = levels
            .map(|level| self.names.nodes.describe(level))
            .collect();
        Plan {
            programs,
            joints,
            joint_of,
            folds,
            fields,
            places: columns,
            column_of,
            column_nodes,
            sources,
            placement,
            level_names,
            local,
            uses,
            callees: self.names.nodes.callees,
            graph: self.names.nodes.graph,
        }
    }
}

impl Builder<'_> {
    /// The number of needed nodes and bookings that use each node's value.
    pub(in crate::compile) fn uses(
        &self,
        wanted: &[(usize, NodeId)],
        seen: &FastSet<Want>,
    ) -> Vec<u32> {
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
