//! Finds values of combinations that come from single items: the value of the k-th item, and sums over all items.
//! Such values are read without a list of positions for each combination.

use crate::compile::{Graph, LevelId, LevelKind, NodeId, Op};
use crate::kernel::{Arithmetic, Map};

/// A value of one of a combination's items.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Item {
    /// The value, at the level of the items.
    pub node: NodeId,
    /// The level of the combinations.
    pub level: LevelId,
    pub which: u8,
    /// Whether only some of the combinations are shown.
    pub is_cut: bool,
}

/// The item of a combination that a node reads, if the node does nothing else.
pub(crate) fn item(graph: &Graph, id: NodeId) -> Option<Item> {
    let (mut walk, mut is_cut) = (id, false);
    loop {
        let node = graph.node(walk);
        let (Op::Take(which), Some(input)) = (&node.op, node.inputs.first()) else {
            return None;
        };
        match graph.level(node.level).kind {
            // These are the items under another name.
            LevelKind::Same { .. } => walk = *input,
            LevelKind::Filtered { .. } => (walk, is_cut) = (*input, true),
            LevelKind::Combinations { of, .. } if graph.node(*input).level == of => {
                return Some(Item {
                    node: *input,
                    level: node.level,
                    which: *which,
                    is_cut,
                });
            }
            _ => return None,
        }
    }
}

/// The value that a node sums up over all items of a combination, from the first on; `which` is the
/// last one's number.
pub(crate) fn sum(graph: &Graph, id: NodeId) -> Option<Item> {
    let mut found: Option<Item> = None;
    let (mut walk, mut wanted) = (id, None);
    loop {
        let node = graph.node(walk);
        let (before, term) = match (&node.op, node.inputs.as_slice()) {
            (Op::Map(Map::Real(Arithmetic::Add)), [before, term]) => (Some(*before), *term),
            _ => (None, walk),
        };
        let term = item(graph, term)?;
        let last = *found.get_or_insert(term);
        let LevelKind::Combinations { size, .. } = graph.level(last.level).kind else {
            return None;
        };
        let which = wanted.unwrap_or(size.checked_sub(1)?);
        if term != (Item { which, ..last }) {
            return None;
        }
        match (before, which.checked_sub(1)) {
            (Some(before), Some(next)) => (walk, wanted) = (before, Some(next)),
            (None, None) => return found,
            _ => return None,
        }
    }
}

/// The value at the level of combinations that a node shows some of, and that level.
pub(crate) fn uncut(graph: &Graph, id: NodeId) -> Option<(NodeId, LevelId)> {
    let mut walk = id;
    loop {
        let node = graph.node(walk);
        match (&graph.level(node.level).kind, &node.op, node.inputs.first()) {
            (LevelKind::Combinations { .. }, ..) => return Some((walk, node.level)),
            (LevelKind::Same { .. } | LevelKind::Filtered { .. }, Op::Take(_), Some(input)) => {
                walk = *input
            }
            _ => return None,
        }
    }
}
