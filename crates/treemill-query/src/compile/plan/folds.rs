//! Finds the programs over combinations whose values only one reduction wants, so that these need not be
//! kept. Nothing depends on it but speed and memory.

use crate::compile::graph::fast_maps::FastSet;
use crate::compile::plan::program::{Program, Read};
use crate::compile::{Graph, LevelId, LevelKind, NodeId, Op, Reducer, Type};
use std::collections::HashMap;

/// The reductions among the `evaluated` nodes that alone take a program's values, each with the
/// program's node.
pub(in crate::compile) fn folds(
    graph: &Graph,
    programs: &HashMap<NodeId, Program>,
    uses: &[u32],
    evaluated: &FastSet<NodeId>,
) -> HashMap<NodeId, NodeId> {
    let reductions = evaluated.iter().filter_map(|id| {
        let node = graph.node(*id);
        let (Op::Reduce(reducer), [input]) = (&node.op, node.inputs.as_slice()) else {
            return None;
        };
        let made = source(graph, uses, *input)?;
        is_foldable(graph, made, *reducer, programs.get(&made)?).then_some((*id, made))
    });
    reductions.collect()
}

/// The node that computes what another one shows for the same items; `None` if its values are wanted
/// elsewhere, too.
fn source(graph: &Graph, uses: &[u32], id: NodeId) -> Option<NodeId> {
    let mut walk = id;
    loop {
        if uses.get(walk as usize) != Some(&1) {
            return None;
        }
        let node = graph.node(walk);
        let (Op::Align | Op::Take(_), [input]) = (&node.op, node.inputs.as_slice()) else {
            return Some(walk);
        };
        if items(graph, node.level) != items(graph, graph.node(*input).level) {
            return Some(walk);
        }
        walk = *input;
    }
}

/// The level without its other names.
fn items(graph: &Graph, level: LevelId) -> LevelId {
    let mut walk = level;
    while let LevelKind::Same { of, .. } = graph.level(walk).kind {
        walk = of;
    }
    walk
}

fn is_foldable(graph: &Graph, id: NodeId, reducer: Reducer, program: &Program) -> bool {
    let node = graph.node(id);
    let is_known = match reducer {
        Reducer::Min | Reducer::Max | Reducer::ArgMin | Reducer::ArgMax => node.ty == Type::Float,
        Reducer::Sum => matches!(node.ty, Type::Float | Type::Bool),
        Reducer::Any | Reducer::All => node.ty == Type::Bool,
        Reducer::Prod | Reducer::Count | Reducer::Mean => false,
    };
    let are_items = program
        .leaves
        .iter()
        .all(|leaf| leaf.read != Read::Along || graph.as_const(leaf.node).is_some());
    let is_whole = program.tuples == Some(items(graph, node.level)) && !program.is_cut;
    is_known && !node.missing && is_whole && are_items
}
