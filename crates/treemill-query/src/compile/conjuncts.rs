//! Splits a filter at `and` into several filters, the cheap ones first. For `a and b`, the columns of `b` are read
//! only for events that pass `a`.

use super::fast_maps::FastSet;
use super::{Compiler, Constant, EVENT, LevelId, NodeId, Op};
use crate::kernel::Map;
use crate::limits::FILTER_PARTS;
use std::collections::BTreeSet;

/// How much work a condition is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Cost {
    /// Numbers of the event.
    Event,
    /// Lists.
    Lists,
    /// Combinations of their items.
    Combinations,
}

struct Conjunct {
    condition: NodeId,
    work: Cost,
    columns: BTreeSet<usize>,
}

impl Compiler<'_> {
    /// Conditions that all hold for the events that pass `mask`, and for no others, in the order in
    /// which they are best computed.
    pub(crate) fn conjuncts(&mut self, mask: NodeId) -> Vec<NodeId> {
        let Some(found) = self.terms(mask) else {
            return vec![mask];
        };
        let mut parts: Vec<Conjunct> = Vec::new();
        for condition in found {
            let (work, columns) = self.work(condition);
            // Terms that need the same columns are computed together.
            match parts.iter_mut().find(|part| part.columns == columns) {
                Some(part) if part.work == work => {
                    part.condition = self.both(part.condition, condition);
                }
                _ => parts.push(Conjunct {
                    condition,
                    work,
                    columns,
                }),
            }
        }
        parts.sort_by_key(|part| part.work);
        parts.into_iter().map(|part| part.condition).collect()
    }

    /// The operands of nested `and`s, or `None` if there are too many.
    fn terms(&self, mask: NodeId) -> Option<Vec<NodeId>> {
        let mut terms = Vec::new();
        let mut stack = vec![mask];
        while let Some(id) = stack.pop() {
            let node = self.graph.node(id);
            match (&node.op, node.inputs.as_slice()) {
                (Op::And | Op::Map(Map::And), &[a, b]) => stack.extend([b, a]),
                // What is missing passes no filter anyway.
                (Op::FillMissing, &[condition, with])
                    if self.graph.as_const(with) == Some(&Constant::Bool(false)) =>
                {
                    stack.push(condition);
                }
                _ => terms.push(id),
            }
            if terms.len() + stack.len() > FILTER_PARTS {
                return None;
            }
        }
        Some(terms)
    }

    /// How much work a condition is, and the columns that it needs.
    fn work(&self, id: NodeId) -> (Cost, BTreeSet<usize>) {
        let mut columns = BTreeSet::new();
        let mut work = Cost::Event;
        let (mut nodes, mut levels) = (vec![id], Vec::<LevelId>::new());
        let (mut seen, mut seen_levels) = (FastSet::default(), FastSet::from_iter([EVENT]));
        loop {
            if let Some(id) = nodes.pop() {
                if !seen.insert(id) {
                    continue;
                }
                let node = self.graph.node(id);
                if let Op::Column(column) = node.op {
                    columns.insert(column);
                }
                if let Op::Len(level) = node.op {
                    levels.push(level);
                }
                nodes.extend(&node.inputs);
                levels.push(node.level);
            } else if let Some(level) = levels.pop() {
                if !seen_levels.insert(level) {
                    continue;
                }
                let level = self.graph.level(level);
                work = work.max(match level.kind.expands() {
                    true => Cost::Combinations,
                    false => Cost::Lists,
                });
                nodes.extend(level.kind.node());
                levels.extend(level.kind.sources());
                levels.push(level.parent);
            } else {
                return (work, columns);
            }
        }
    }
}
