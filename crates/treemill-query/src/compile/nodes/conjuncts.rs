//! Splits a filter at `and` into several filters, the cheap ones first. For `a and b`, the columns of `b` are read
//! only for events that pass `a`.

use crate::compile::graph::Want;
use crate::compile::graph::fast_maps::FastMap;
use crate::compile::{Builder, Constant, EVENT, NodeId, Op};
use crate::kernel::Map;
use crate::limits::{CONDITION_COLUMNS, FILTER_PARTS};
#[cfg(test)]
use crate::schema::walked;
use std::rc::Rc;

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
    work: Work,
}

/// How much work a value is, and the columns that it needs.
#[derive(Debug, Clone)]
pub(in crate::compile) struct Work {
    cost: Cost,
    /// In order. `None`: they are too many to list.
    columns: Option<Rc<[usize]>>,
}

/// What values and the levels of lists are of work. Each is looked at once, however many filters need it.
pub(in crate::compile) type Works = FastMap<Want, Work>;

impl Work {
    /// Nothing is done, and nothing needed.
    fn none() -> Self {
        Self {
            cost: Cost::Event,
            columns: Some(Rc::new([])),
        }
    }

    /// Adds what is needed before.
    fn add(&mut self, other: &Self) {
        self.cost = self.cost.max(other.cost);
        if let (Some(own), Some(others)) = (&self.columns, &other.columns) {
            let contains = |all: &[usize], some: &[usize]| {
                some.iter().all(|column| all.binary_search(column).is_ok())
            };
            self.columns = if contains(own, others) {
                return;
            } else if contains(others, own) {
                Some(Rc::clone(others))
            } else {
                let mut both = [&**own, &**others].concat();
                both.sort_unstable();
                both.dedup();
                (both.len() <= CONDITION_COLUMNS).then(|| both.into())
            };
        } else {
            self.columns = None;
        }
    }

    /// Whether both are known to be as much work on the same columns.
    fn is_alike(&self, other: &Self) -> bool {
        self.cost == other.cost && self.columns.is_some() && self.columns == other.columns
    }
}

impl Builder<'_> {
    /// Conditions that all hold for the events that pass `mask`, and for no others, in the order in
    /// which they are best computed.
    pub(crate) fn conjuncts(&mut self, mask: NodeId) -> Vec<NodeId> {
        let found = match self.terms(mask) {
            None => return vec![mask],
            Some(found) if found.len() < 2 => return found,
            Some(found) => found,
        };
        let mut parts: Vec<Conjunct> = Vec::new();
        for condition in found {
            let work = self.work(condition);
            // Terms that need the same columns are computed together.
            match parts.iter_mut().find(|part| part.work.is_alike(&work)) {
                Some(part) => part.condition = self.both(part.condition, condition),
                None => parts.push(Conjunct { condition, work }),
            }
        }
        parts.sort_by_key(|part| part.work.cost);
        parts.into_iter().map(|part| part.condition).collect()
    }

    /// The operands of nested `and`s, or `None` if there are too many.
    pub(in crate::compile) fn terms(&self, mask: NodeId) -> Option<Vec<NodeId>> {
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

    /// How much work a value is, and the columns that it needs. Without recursion: a value that thousands of
    /// definitions lead to is as deep.
    pub(in crate::compile) fn work(&mut self, id: NodeId) -> Work {
        let mut stack = vec![Want::Node(id)];
        while let Some(want) = stack.last().copied() {
            #[cfg(test)]
            walked::one_more();
            if self.works.contains_key(&want) {
                stack.pop();
                continue;
            }
            let mut work = self.own_work(want);
            let mut is_known = true;
            for before in self.wants_of(want) {
                match self.works.get(&before) {
                    Some(known) => work.add(known),
                    None => {
                        is_known = false;
                        stack.push(before);
                    }
                }
            }
            if is_known {
                self.works.insert(want, work);
                stack.pop();
            }
        }
        let known = self.works.get(&Want::Node(id)).cloned();
        known.unwrap_or_else(Work::none)
    }

    /// The work of a value or a level without what it is made of.
    pub(in crate::compile) fn own_work(&self, want: Want) -> Work {
        let mut work = Work::none();
        match want {
            Want::Node(id) => {
                if let Op::Column(column) = self.graph.node(id).op {
                    work.columns = Some(Rc::new([column]));
                }
            }
            Want::Offsets(EVENT) => (),
            Want::Offsets(level) => {
                work.cost = match self.graph.level(level).kind.expands() {
                    true => Cost::Combinations,
                    false => Cost::Lists,
                }
            }
        }
        work
    }

    /// The values and levels that a value or a level is made of.
    pub(in crate::compile) fn wants_of(&self, want: Want) -> Vec<Want> {
        match want {
            Want::Node(id) => {
                let node = self.graph.node(id);
                let len = match node.op {
                    Op::Len(level) => Some(level),
                    _ => None,
                };
                let inputs = node.inputs.iter().copied().map(Want::Node);
                let levels = len.into_iter().chain([node.level]).map(Want::Offsets);
                inputs.chain(levels).collect()
            }
            Want::Offsets(EVENT) => Vec::new(),
            Want::Offsets(level) => {
                let level = self.graph.level(level);
                let levels = level.kind.sources().iter().copied().chain([level.parent]);
                let node = level.kind.node().map(Want::Node);
                node.into_iter().chain(levels.map(Want::Offsets)).collect()
            }
        }
    }
}
