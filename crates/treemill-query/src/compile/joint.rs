//! Values of one level that are made from the same columns, as the coordinates of a vector are: computed
//! together, so that columns are read and widened, and functions of one argument reduced, once for all.
//! Nothing depends on it but speed.

use super::plan::{Needs, Want};
use super::program::{Argument, Program, Work, joint_program};
use super::{Homes, NodeId, Op, Type};
use crate::kernel::{Map, Real1, trig};
use std::collections::{HashMap, HashSet};

/// Values that are computed together: their registers fill the first-level cache.
const MOST: usize = 8;

/// Values computed by one program.
pub(crate) struct Joint {
    pub program: Program,
    /// In the order of the program's results.
    pub nodes: Vec<NodeId>,
}

/// Groups in the making, by level and by the cut at which their values are wanted.
struct Group {
    place: (u32, usize),
    nodes: Vec<NodeId>,
    /// What they are read from.
    sources: HashSet<NodeId>,
}

/// Those of the values that are `wanted` which are computed together, and in which group each is.
pub(super) fn joints(
    needs: &Needs<'_, '_>,
    programs: &HashMap<NodeId, Program>,
    homes: &Homes,
    uses: &[u32],
    wanted: &[(usize, Want)],
) -> (Vec<Joint>, HashMap<NodeId, usize>) {
    let graph = &needs.compiler.graph;
    let mut groups: Vec<Group> = Vec::new();
    let mut group_of: HashMap<NodeId, usize> = HashMap::new();
    let mut evaluated: Vec<NodeId> = evaluated(needs, programs, wanted).into_iter().collect();
    evaluated.sort_unstable();
    for id in evaluated {
        let node = graph.node(id);
        let (Some(program), Some(cut)) = (programs.get(&id), homes.nodes.get(&id)) else {
            continue;
        };
        if node.missing || node.ty != Type::Float || program.tuples.is_some() {
            continue;
        }
        let place = (node.level, *cut);
        let mut sources = HashSet::new();
        let mut members = HashSet::new();
        let mut is_simple = true;
        for leaf in &program.leaves {
            if let Some(group) = group_of.get(&leaf.node) {
                members.insert(*group);
            } else if graph.as_const(leaf.node).is_some() {
            } else if is_column(needs, leaf.node) {
                sources.insert(leaf.node);
            } else {
                is_simple = false;
            }
        }
        // What needs another group's values would make groups wait for one another.
        let found = match members.iter().collect::<Vec<_>>().as_slice() {
            [] => groups
                .iter()
                .position(|group| group.place == place && !group.sources.is_disjoint(&sources)),
            [one] => Some(**one),
            _ => continue,
        };
        let fits = |group: &Group| group.place == place && group.nodes.len() < MOST;
        let found = match found {
            Some(found) if groups.get(found).is_some_and(fits) => Some(found),
            Some(_) if !members.is_empty() => continue,
            _ => None,
        };
        if !is_simple || (sources.is_empty() && members.is_empty()) {
            continue;
        }
        let number = found.unwrap_or(groups.len());
        match groups.get_mut(number) {
            Some(group) => {
                group.nodes.push(id);
                group.sources.extend(sources);
            }
            None => groups.push(Group {
                place,
                nodes: vec![id],
                sources,
            }),
        }
        group_of.insert(id, number);
    }
    let mut joints = Vec::new();
    let mut joint_of = HashMap::new();
    for group in groups.into_iter().filter(|group| group.nodes.len() > 1) {
        let Some(program) = joint_program(graph, uses, &group.nodes) else {
            continue;
        };
        // What a program gives, it cannot read.
        let own = |leaf: &super::Leaf| group.nodes.contains(&leaf.node);
        if program.tuples.is_some() || program.leaves.iter().any(own) {
            continue;
        }
        joint_of.extend(group.nodes.iter().map(|id| (*id, joints.len())));
        joints.push(Joint {
            program,
            nodes: group.nodes,
        });
    }
    (joints, joint_of)
}

/// Whether a node shows a column's values, none of them missing.
fn is_column(needs: &Needs<'_, '_>, id: NodeId) -> bool {
    let mut walk = id;
    loop {
        let node = needs.compiler.graph.node(walk);
        match (&node.op, node.inputs.first()) {
            _ if node.missing => return false,
            (Op::Column(_), _) => return true,
            (Op::Pick(_), Some(input)) => walk = *input,
            _ => return false,
        }
    }
}

/// The nodes that get values of their own: others are steps of these.
fn evaluated(
    needs: &Needs<'_, '_>,
    programs: &HashMap<NodeId, Program>,
    wanted: &[(usize, Want)],
) -> HashSet<NodeId> {
    let mut seen: HashSet<Want> = HashSet::new();
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
                stack.push(Want::Offsets(needs.compiler.graph.node(id).level));
            }
            _ => stack.extend(needs.before(want)),
        }
    }
    let nodes = seen.into_iter().filter_map(|want| match want {
        Want::Node(id) => Some(id),
        Want::Offsets(_) => None,
    });
    nodes.collect()
}

/// Has sine and cosine of one argument made by one step. `maps` are the steps' operations, and arguments
/// name steps by their numbers: registers have not been given yet.
pub(super) fn pair(program: &mut Program, maps: &[Map]) {
    let turned = |map: &Map| matches!(map, Map::Real1(Real1::Sin | Real1::Cos));
    for first in 0..maps.len() {
        if !turned(&maps[first]) {
            continue;
        }
        let argument: Vec<Argument> = program.steps[first].arguments.clone();
        let second = (first + 1..maps.len()).find(|second| {
            turned(&maps[*second])
                && maps[*second] != maps[first]
                && program.steps[*second].arguments == argument
        });
        let Some(second) = second else { continue };
        program.steps[first].work = Work::Pair(match maps[first] {
            Map::Real1(Real1::Sin) => trig::sin_cos,
            _ => |a, cos, sin| trig::sin_cos(a, sin, cos),
        });
        program.steps[first].twin = Some(second);
        program.steps[second].work = Work::Twin;
        program.steps[second].arguments.clear();
    }
}
