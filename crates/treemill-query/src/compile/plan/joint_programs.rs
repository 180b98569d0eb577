//! Joins values that are computed from the same columns of one level, such as a vector's coordinates, into one
//! program. Columns are then read and widened once, and passes can fuse operations of several values.
//! Nothing depends on it but speed.

use crate::compile::graph::Want;
use crate::compile::graph::fast_maps::FastMap;
use crate::compile::plan::lowering::joint_program;
use crate::compile::plan::needs::Needs;
use crate::compile::plan::placement::Placement;
use crate::compile::plan::program::Program;
use crate::compile::{Leaf, LevelId, NodeId, Op, Type};
use crate::limits::JOINT_VALUES;
use std::collections::HashMap;

/// Values computed by one program.
pub(crate) struct JointProgram {
    pub program: Program,
    /// The nodes, in the order of the program's results.
    pub nodes: Vec<NodeId>,
}

/// A group in the making.
struct Group {
    /// The level, and the cut at which its values are wanted.
    place: (LevelId, usize),
    nodes: Vec<NodeId>,
}

/// The programs that compute several of the values that are `wanted`, and the program of each value.
pub(in crate::compile) fn joints(
    needs: &Needs<'_, '_>,
    programs: &HashMap<NodeId, Program>,
    placement: &Placement,
    uses: &[u32],
    wanted: &[(usize, Want)],
) -> (Vec<JointProgram>, HashMap<NodeId, usize>) {
    let graph = &needs.names.nodes.graph;
    let mut groups: Vec<Group> = Vec::new();
    let mut group_of: FastMap<NodeId, usize> = FastMap::default();
    // The last group of a place that reads a column.
    let mut readers: FastMap<((LevelId, usize), NodeId), usize> = FastMap::default();
    let mut evaluated: Vec<NodeId> = needs.evaluated(programs, wanted).into_iter().collect();
    evaluated.sort_unstable();
    for id in evaluated {
        let node = graph.node(id);
        let (Some(program), Some(cut)) = (programs.get(&id), placement.nodes.get(&id)) else {
            continue;
        };
        let place = (node.level, *cut);
        let Some(reads) = Reads::of(needs, program, &group_of)
            .filter(|_| !node.missing && node.ty == Type::Float && program.tuples.is_none())
        else {
            continue;
        };
        let fits = |group: &usize| {
            let group = &groups[*group];
            group.place == place && group.nodes.len() < JOINT_VALUES
        };
        let number = match reads.groups.as_slice() {
            [] => {
                let of = |column: &NodeId| readers.get(&(place, *column)).copied();
                let known = reads.columns.iter().filter_map(of).find(fits);
                known.unwrap_or(groups.len())
            }
            [one] if fits(one) => *one,
            // Groups must not wait for one another.
            _ => continue,
        };
        if number == groups.len() {
            groups.push(Group {
                place,
                nodes: Vec::new(),
            });
        }
        groups[number].nodes.push(id);
        group_of.insert(id, number);
        readers.extend(
            reads
                .columns
                .iter()
                .map(|column| ((place, *column), number)),
        );
    }
    let mut joints = Vec::new();
    let mut joint_of = HashMap::new();
    for group in groups.into_iter().filter(|group| group.nodes.len() > 1) {
        let Some(program) = joint_program(graph, uses, &group.nodes) else {
            continue;
        };
        // It reads columns alone. A program too long for all of its steps would read what is left over as
        // values, and those may be made from what it gives itself: each would wait for the other.
        let is_source =
            |leaf: &Leaf| graph.as_const(leaf.node).is_some() || is_column(needs, leaf.node);
        if program.tuples.is_some() || !program.leaves.iter().all(is_source) {
            continue;
        }
        joint_of.extend(group.nodes.iter().map(|id| (*id, joints.len())));
        joints.push(JointProgram {
            program,
            nodes: group.nodes,
        });
    }
    (joints, joint_of)
}

/// What a program reads: columns, and values of groups.
struct Reads {
    columns: Vec<NodeId>,
    groups: Vec<usize>,
}

impl Reads {
    /// `None` if it reads something else, or only constants.
    fn of(
        needs: &Needs<'_, '_>,
        program: &Program,
        group_of: &FastMap<NodeId, usize>,
    ) -> Option<Self> {
        let (mut columns, mut groups) = (Vec::new(), Vec::new());
        for leaf in &program.leaves {
            if let Some(group) = group_of.get(&leaf.node) {
                groups.push(*group);
            } else if is_column(needs, leaf.node) {
                columns.push(leaf.node);
            } else if needs.names.nodes.graph.as_const(leaf.node).is_none() {
                return None;
            }
        }
        groups.sort_unstable();
        groups.dedup();
        let some = !columns.is_empty() || !groups.is_empty();
        some.then_some(Self { columns, groups })
    }
}

/// Whether a node is a column's values, or the concatenated values of several columns, without missing values.
fn is_column(needs: &Needs<'_, '_>, id: NodeId) -> bool {
    let mut left = vec![id];
    while let Some(id) = left.pop() {
        let node = needs.names.nodes.graph.node(id);
        match (&node.op, node.inputs.first()) {
            _ if node.missing => return false,
            (Op::Column(_), _) => (),
            (Op::Take(_), Some(input)) => left.push(*input),
            (Op::Concat, _) => left.extend(&node.inputs),
            _ => return false,
        }
    }
    true
}
