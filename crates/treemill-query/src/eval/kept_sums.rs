//! Sums of what filters keep of lists. If most of the events are wanted for which the condition is known, sums are made
//! for all of these: what is not kept counts as 0 there, and no position of what is kept is found.

use super::tasks::Made;
use super::{Batch, SelectionId};
use crate::chunk::Wide;
use crate::compile::{LevelId, LevelKind, Node, NodeId, Op, Read, Type};
use crate::kernel::{masks, reduce};
use crate::limits::MOST_EVENTS;
use crate::run::{Input, run};
use crate::value::{Data, Value, View};

impl Batch<'_> {
    /// The sums of a node's lists, from an outer selection; `None` if they are not made there.
    pub(super) fn sums_of_kept(&mut self, s: SelectionId, node: &Node) -> Made<Option<Value>> {
        let plan = self.plan;
        let [id] = node.inputs[..] else {
            return Ok(None);
        };
        let input = plan.graph.node(id);
        let LevelKind::Filtered { of, mask } = plan.graph.level(input.level).kind else {
            return Ok(None);
        };
        let is_known = self.selections[s].values.contains_key(&id);
        if input.ty != Type::Float || input.missing || is_known {
            return Ok(None);
        }
        let Some(from) = self.with_mask(s, of, mask) else {
            return Ok(None);
        };
        if self.selections[s].events < self.selections[from].events / MOST_EVENTS {
            return Ok(None);
        }
        let lists = self.items(s, plan.graph.parent(of), from)?;
        let offsets = self.offsets(from, of)?;
        let mask = self.node(from, mask)?;
        let Some(mask) = u8::direct(&mask) else {
            return Ok(None);
        };
        let Some(values) = self.before_filter(from, id, of, mask.len())? else {
            return Ok(None);
        };
        let mut items = self.floats(values, mask.len());
        masks::clear(mask, &mut items);
        let mut sums: Vec<f64> = self.pool.take(offsets.len() - 1);
        reduce::sums(&items, &offsets, &mut sums);
        self.pool.give_vec(items);
        let sums = Value::direct(Data::F64(sums.into()));
        Ok(Some(self.selected(&sums, &lists)))
    }

    /// A value's numbers, to be changed: its own buffer if nothing else holds it, or a copy.
    fn floats(&mut self, value: Value, n: usize) -> Vec<f64> {
        match value {
            Value {
                data: Data::F64(own),
                view: View::Direct,
                ..
            } if own.is_last() && own.len() == n => own.into_vec(),
            value => {
                let mut items: Vec<f64> = self.pool.take(n);
                f64::read(&value, 0, &mut items);
                items
            }
        }
    }

    /// What a node at a filtered level would be for all `n` items of the level before, if its inputs are known there.
    fn before_filter(
        &mut self,
        s: SelectionId,
        id: NodeId,
        of: LevelId,
        n: usize,
    ) -> Made<Option<Value>> {
        let plan = self.plan;
        let Some(program) = plan.programs.get(&id) else {
            return self.input_before(s, id, of);
        };
        let is_along = program.leaves.iter().all(|leaf| leaf.read == Read::Along);
        if program.tuples.is_some() || !is_along || plan.joint_of.contains_key(&id) {
            return Ok(None);
        }
        let mut inputs = Vec::with_capacity(program.leaves.len());
        for leaf in &program.leaves {
            match self.input_before(s, leaf.node, of)? {
                Some(value) => inputs.push(Input::Value(value)),
                None => return Ok(None),
            }
        }
        run(program, &inputs, None, Type::Float, n, self.pool)
            .map_or_else(|error| Err(error.into()), |value| Ok(Some(value)))
    }

    /// What a filter takes its values of, or a constant.
    fn input_before(&mut self, s: SelectionId, id: NodeId, of: LevelId) -> Made<Option<Value>> {
        let node = self.plan.graph.node(id);
        let input = match (&node.op, node.inputs.as_slice()) {
            (Op::Const(_), _) => return self.node(s, id).map(Some),
            (Op::Take(_), [input]) if self.plan.graph.node(*input).level == of => *input,
            _ => return Ok(None),
        };
        let is_known = self.outside(Some(s), input, |value| value.valid.is_none());
        match is_known.is_some() {
            true => self.node(s, input).map(Some),
            false => Ok(None),
        }
    }
}
