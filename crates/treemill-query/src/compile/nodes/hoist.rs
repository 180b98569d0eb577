//! Operations on what was carried into a product of lists, or into combinations, side by side: computed before it was
//! carried, where there are fewer values. The mass of a pair is the same beside each third item. Nothing depends on it
//! but speed.

use crate::compile::{Builder, LevelId, LevelKind, NodeId, Op, Type};
use crate::kernel::Map;

/// A step that inputs have in common: its operation and the level that it leads to.
pub(in crate::compile) struct Carried {
    op: Op,
    to: LevelId,
    /// The inputs before it.
    inputs: Vec<NodeId>,
}

impl Builder<'_> {
    /// The operation before the steps that its inputs have in common, followed by these; `None` if none of them repeats
    /// what is there.
    pub(in crate::compile) fn hoisted(
        &mut self,
        op: Map,
        inputs: &[NodeId],
        ty: Type,
    ) -> Option<NodeId> {
        let mut steps: Vec<Carried> = Vec::new();
        let mut last = 0;
        let mut now = inputs.to_vec();
        while let Some(step) = self.step_before(&now) {
            now.clone_from(&step.inputs);
            // A value goes from its level to items that conditions have left in one step, past the product of lists.
            let repeats = step.op == Op::Spread || self.graph.level(step.to).kind.expands();
            steps.push(step);
            if repeats {
                last = steps.len();
            }
        }
        steps.truncate(last);
        let before = &steps.last()?.inputs;
        if !self.is_worth_hoisting(before) {
            return None;
        }
        let made = self.node(Op::Map(op), before, ty);
        let carried = steps.iter().rev();
        Some(carried.fold(made, |node, step| {
            self.moved(step.op.clone(), node, step.to)
        }))
    }

    /// Whether it is more than one look into memory, as a value of a single column is wherever it is computed.
    pub(in crate::compile) fn is_worth_hoisting(&self, inputs: &[NodeId]) -> bool {
        let mut varying = inputs
            .iter()
            .filter(|id| self.graph.as_const(**id).is_none());
        let Some(first) = varying.next() else {
            return false;
        };
        let is_computed =
            matches!(self.graph.node(*first).op, Op::Map(_)) && !self.graph.is_light(*first);
        is_computed || varying.any(|id| id != first)
    }

    /// The step by which all inputs came to their level, if it is the same one. What an outer level has given to all
    /// items is given to the items before the step instead.
    pub(in crate::compile) fn step_before(&mut self, inputs: &[NodeId]) -> Option<Carried> {
        let varying = |id: &&NodeId| self.graph.as_const(**id).is_none();
        let first = *inputs.iter().find(varying)?;
        let to = self.graph.node(first).level;
        let mut taken = None;
        for id in inputs.iter().filter(varying) {
            let node = self.graph.node(*id);
            match (&node.op, node.inputs.first()) {
                (Op::Take(which), Some(input)) => {
                    let from = (*which, self.graph.node(*input).level);
                    if *taken.get_or_insert(from) != from {
                        return None;
                    }
                }
                (Op::Spread, Some(_)) => (),
                _ => return None,
            }
        }
        let mut before = Vec::with_capacity(inputs.len());
        for id in inputs {
            let node = self.graph.node(*id);
            before.push(match (&node.op, node.inputs.first(), taken) {
                (Op::Const(_), ..) => *id,
                (Op::Spread, Some(input), Some((_, from))) => {
                    self.spread_before(*input, from, to)?
                }
                (_, Some(input), _) => *input,
                (_, None, _) => return None,
            });
        }
        let op = taken.map_or(Op::Spread, |(which, _)| Op::Take(which));
        let is_left = before.iter().any(|id| self.graph.as_const(*id).is_none());
        is_left.then_some(Carried {
            op,
            to,
            inputs: before,
        })
    }

    /// The value of a level above, at the items `from` which those of a level are selected. `None` if an item and the one
    /// that it is selected from may lie below different positions there.
    pub(in crate::compile) fn spread_before(
        &mut self,
        value: NodeId,
        from: LevelId,
        to: LevelId,
    ) -> Option<NodeId> {
        let above = self.graph.parent(from);
        let mut value = value;
        while !self.graph.encloses(self.graph.node(value).level, above) {
            let node = self.graph.node(value);
            match (&node.op, node.inputs.first()) {
                (Op::Spread, Some(input)) => value = *input,
                _ => return None,
            }
        }
        match &self.graph.level(to).kind {
            LevelKind::Filtered { .. }
            | LevelKind::Same { .. }
            | LevelKind::Flat { .. }
            | LevelKind::Sliced { .. }
            | LevelKind::Sorted { .. }
            | LevelKind::Combinations { .. }
            | LevelKind::Arrangements { .. } => (),
            LevelKind::Product { list, .. } if self.is_own_row(*list, above) => (),
            _ => return None,
        }
        let mut way = Vec::new();
        let mut walk = from;
        while walk != self.graph.node(value).level {
            way.push(walk);
            walk = self.graph.parent(walk);
        }
        let spread = way.into_iter().rev();
        Some(spread.fold(value, |node, level| self.moved(Op::Spread, node, level)))
    }

    /// Whether a list's number is that of the position of a level which it lies below.
    pub(in crate::compile) fn is_own_row(&self, list: NodeId, above: LevelId) -> bool {
        let mut walk = list;
        loop {
            let node = self.graph.node(walk);
            match (&node.op, node.inputs.first()) {
                (Op::Row, _) => return node.level == above,
                (Op::Spread, Some(input)) => walk = *input,
                _ => return false,
            }
        }
    }
}
