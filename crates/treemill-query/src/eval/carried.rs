//! Values at other levels than those where they were made: taken from some of their positions, or repeated. One that is
//! carried several times is seen through the composition of all selection vectors, which the values of a level share; what
//! it is at the levels between is not made.

use super::tasks::Made;
use super::{Batch, SelectionId};
use crate::compile::{LevelKind, Node, NodeId, Op};
use crate::value::{Buf, Value, View};

impl Batch<'_> {
    /// A value of `Take` or `Spread`.
    pub(super) fn carried(&mut self, s: SelectionId, node: &Node) -> Made<Value> {
        if let Some(kept) = self.kept_outside(s, node)? {
            return Ok(kept);
        }
        let (mut steps, mut source) = self.way(s, node);
        let mut value = self.node(s, source)?;
        if value.is_scalar() {
            // A value that stands for all is one until it is repeated.
            (steps, source) = (vec![node], node.inputs[0]);
            value = self.node(s, source)?;
        }
        if value.is_scalar() {
            return match node.op {
                Op::Spread => self.repeated(s, node, value),
                _ => Ok(value),
            };
        }
        let vectors = self.vectors(s, &steps)?.into_iter().rev();
        let whole = vectors.reduce(|before, next| self.through(&before, &next));
        Ok(match whole {
            None => value,
            Some(whole) => self.selected(&value, &whole),
        })
    }

    /// A value to look at, and where in it a node's value is at these positions: of one that is carried, where it comes from.
    /// At the other positions it is not made.
    pub(super) fn picked(
        &mut self,
        s: SelectionId,
        id: NodeId,
        positions: Buf<u32>,
    ) -> Made<(Value, Buf<u32>)> {
        let node = self.plan.graph.node(id);
        if !is_carried(node) || self.is_known(s, id, node) {
            return Ok((self.node(s, id)?, positions));
        }
        let (steps, source) = self.way(s, node);
        let value = self.node(s, source)?;
        let vectors = self.vectors(s, &steps)?;
        if value.is_scalar() || vectors.iter().any(|vector| vector.is_empty()) {
            return Ok((self.node(s, id)?, positions));
        }
        let through = |positions, vector: &Buf<u32>| self.through(vector, &positions);
        Ok((value, vectors.iter().fold(positions, through)))
    }

    /// The nodes by which a value comes to a node, which is the first of them, and the node of the value: the nearest one that
    /// is known, or is no `Take` and no `Spread`.
    fn way<'a>(&self, s: SelectionId, node: &'a Node) -> (Vec<&'a Node>, NodeId)
    where
        Self: 'a,
    {
        let plan = self.plan;
        let (mut steps, mut source) = (vec![node], node.inputs[0]);
        loop {
            let next = plan.graph.node(source);
            if !is_carried(next) || self.is_known(s, source, next) {
                return (steps, source);
            }
            steps.push(next);
            source = next.inputs[0];
        }
    }

    /// Whether a carried value is there, or can be taken over from an outer selection.
    fn is_known(&self, s: SelectionId, id: NodeId, node: &Node) -> bool {
        let selection = &self.selections[s];
        if selection.values.contains_key(&id)
            || self.outside(selection.parent, id, |_| true).is_some()
        {
            return true;
        }
        match &self.plan.graph.level(node.level).kind {
            LevelKind::Filtered { of, mask } => self.with_mask(s, *of, *mask).is_some(),
            _ => false,
        }
    }

    /// The positions that each of these steps takes or repeats, but for steps that leave all as they are.
    fn vectors(&self, s: SelectionId, steps: &[&Node]) -> Made<Vec<Buf<u32>>> {
        let mut vectors = Vec::with_capacity(steps.len());
        for step in steps {
            let kind = &self.plan.graph.level(step.level).kind;
            let is_all = matches!(kind, LevelKind::Same { .. } | LevelKind::Flat { .. });
            vectors.push(match step.op {
                Op::Take(_) if is_all => continue,
                Op::Take(which) => self.selection_vector(s, step.level, which)?,
                _ => self.parents(s, step.level)?,
            });
        }
        Ok(vectors)
    }

    /// A value that stands for all, as one for each position: a constant that stands for the items of a list counts once for
    /// each.
    fn repeated(&mut self, s: SelectionId, node: &Node, value: Value) -> Made<Value> {
        let n = self.positions(s, node.level)?;
        let mut selection_vector: Vec<u32> = self.pool.take(n);
        selection_vector.fill(0);
        let view = View::Selected(selection_vector.into());
        Ok(Value { view, ..value })
    }
}

fn is_carried(node: &Node) -> bool {
    matches!(node.op, Op::Take(_) | Op::Spread)
}
