//! A node's value from its inputs' values.

use super::tasks::Made;
use super::{Batch, SelectionId};
use crate::chunk::for_chunks;
use crate::compile::{
    Argument, Constant, EVENT, JointProgram, LevelId, Node, NodeId, Op, Read, Reducer, Type,
};
use crate::error::QueryError;
use crate::kernel::{Compare, lists, reduce};
use crate::run::{Input, Items, run, run_joint, run_narrow};
use crate::value::{Data, Strings, Value, View};
use std::sync::Arc;

impl Batch<'_> {
    pub(super) fn compute(&mut self, s: SelectionId, id: NodeId) -> Made<Value> {
        let plan = self.plan;
        let node = plan.graph.node(id);
        if let Op::Const(constant) = &node.op {
            return Ok(constant_value(constant));
        }
        if let Some(value) = self.inherited(s, id)? {
            return Ok(value);
        }
        if let Some(joint) = plan.joint_of.get(&id) {
            return self.joint(s, id, &plan.joints[*joint]);
        }
        if plan.programs.contains_key(&id) {
            return self.program(s, id, node);
        }
        match &node.op {
            Op::Column(column) => {
                let Some(column) = plan.column_of.get(column).copied() else {
                    return Err(QueryError::mistake("a column is not among those needed").into());
                };
                let place = self.selection_of_column(s, column);
                if place != s {
                    // The next attempt takes over what passed.
                    self.node(place, id)?;
                }
                self.load_column(s, column)
            }
            Op::And | Op::Or => self.junction(s, node),
            Op::StrCompare(op) => self.compare_strings(s, node, *op),
            Op::InInts(list) => self.among(s, node, list),
            Op::Lookup { how, table } => self.looked_up(s, node, *how, table),
            Op::Call(callee) => self.called(s, node, *callee),
            Op::CallShared { callee, steps } => self.called_shared(s, node, *callee, steps),
            Op::Returned { callee, .. } => self.returned(s, id, node, *callee),
            Op::Only => self.only(s, node),
            Op::IsMissing => {
                let value = self.node(s, node.inputs[0])?;
                let n = value.len();
                let mut out: Vec<u8> = self.pool.take(n);
                match &value.valid {
                    Some(valid) => crate::kernel::logic::not(valid, &mut out),
                    None => out.fill(0),
                }
                Ok(Value {
                    valid: None,
                    ..with_view_of(&value, Data::Bool(out.into()))
                })
            }
            Op::FillMissing => self.fill_missing(s, node),
            Op::Len(level) => {
                let offsets = self.offsets(s, *level)?;
                let mut out: Vec<i64> = self.pool.take(offsets.len() - 1);
                reduce::lengths(&offsets, &mut out);
                Ok(Value::direct(Data::I64(out.into())))
            }
            Op::Take(_) | Op::Spread => self.carried(s, node),
            Op::Concat => self.concat(s, node),
            Op::Ancestor => self.ancestor(s, node),
            Op::RunningSum => self.running_sum(s, node),
            Op::Identified => self.identified(s, node),
            Op::Position => {
                let offsets = self.offsets(s, node.level)?;
                let n = offsets.last().map_or(0, |last| *last as usize);
                let mut places: Vec<u32> = self.pool.take(n);
                lists::runs(std::iter::repeat(0), &offsets, &mut places);
                let mut out: Vec<i64> = self.pool.take(n);
                for (to, place) in out.iter_mut().zip(&places) {
                    *to = i64::from(*place);
                }
                self.pool.give_vec(places);
                Ok(Value::direct(Data::I64(out.into())))
            }
            Op::Row => {
                let n = self.positions(s, node.level)?;
                let mut out: Vec<u32> = self.pool.take(n);
                for (i, to) in out.iter_mut().enumerate() {
                    *to = i as u32;
                }
                Ok(Value::direct(Data::U32(out.into())))
            }
            Op::Cycle(list) if node.ty == Type::Float => {
                let n = self.positions(s, node.level)?;
                let mut out: Vec<f64> = self.pool.take(n);
                for (to, bits) in out.iter_mut().zip(list.iter().cycle()) {
                    *to = f64::from_bits(*bits as u64);
                }
                Ok(Value::direct(Data::F64(out.into())))
            }
            Op::Cycle(list) => {
                let n = self.positions(s, node.level)?;
                let mut out: Vec<i64> = self.pool.take(n);
                for (to, x) in out.iter_mut().zip(list.iter().cycle()) {
                    *to = *x;
                }
                Ok(Value::direct(self.integers(out, node.ty)))
            }
            Op::Align => self.align(s, node),
            Op::Reduce(reducer) => self.reduce(s, id, node, *reducer),
            Op::At { from_end } => self.at(s, id, node, *from_end),
            Op::Select if node.ty == Type::Str => self.chosen_strings(s, node),
            Op::Const(_) | Op::Map(_) | Op::Select => {
                Err(QueryError::mistake("an operation has no program").into())
            }
        }
    }

    fn program(&mut self, s: SelectionId, id: NodeId, node: &Node) -> Made<Value> {
        let plan = self.plan;
        let program = &plan.programs[&id];
        let mut values = Vec::with_capacity(program.leaves.len());
        for leaf in &program.leaves {
            values.push(self.node(s, leaf.node)?);
        }
        let pieces = match program.tuples {
            Some(level) => Some(self.pieces(s, level)?),
            None => None,
        };
        let kept = match program.is_cut {
            true => self.kept_of(s, node.level)?,
            false => None,
        };
        let along = program.leaves.iter().zip(&values);
        let along = along.filter(|(leaf, _)| leaf.read == Read::Along);
        let along: Vec<&Value> = along.map(|(_, value)| value).collect();
        let n = match (&pieces, program.tuples) {
            (Some((pieces, _)), _) => pieces.combinations(),
            _ => self.common_length(&along)?,
        };
        let valid = match (node.missing, &node.op) {
            (false, _) => None,
            (true, Op::Select) => {
                let inputs = program.steps.iter().flat_map(|step| &step.arguments);
                let inputs = inputs.filter_map(|argument| match argument {
                    Argument::Leaf(leaf) => values.get(*leaf),
                    Argument::Register(_) => None,
                });
                self.chosen(&inputs.collect::<Vec<_>>(), n)
            }
            (true, _) => self.all_present(&along, n),
        };
        let mut inputs = Vec::with_capacity(values.len());
        for (leaf, value) in program.leaves.iter().zip(values) {
            inputs.push(match (&pieces, leaf.read) {
                (Some((_, items)), Read::Item { .. } | Read::Sum | Read::Items) => {
                    Input::Items(Items::take(&value, leaf.lane, *items, self.pool))
                }
                _ => Input::Value(value),
            });
        }
        let pieces = pieces.as_ref().map(|(pieces, _)| &**pieces);
        let mut result = match run_narrow(program, &inputs, self.pool) {
            Some(result) => result,
            None => run(program, &inputs, pieces, node.ty, n, self.pool)?,
        };
        for input in inputs {
            if let Input::Items(items) = input {
                items.give(self.pool);
            }
        }
        if valid.is_some() {
            result.valid = valid;
            result = self.spread_scalar(result, n);
        }
        if let Some(kept) = kept {
            result = self.selected(&result, &kept);
        }
        Ok(result)
    }

    /// The value of one of several nodes, all of which are computed.
    fn joint(&mut self, s: SelectionId, id: NodeId, joint: &JointProgram) -> Made<Value> {
        let leaves = &joint.program.leaves;
        let mut values = Vec::with_capacity(leaves.len());
        for leaf in leaves {
            values.push(self.node(s, leaf.node)?);
        }
        let n = self.common_length(&values.iter().collect::<Vec<_>>())?;
        let inputs: Vec<Input> = values.into_iter().map(Input::Value).collect();
        let results = run_joint(&joint.program, &inputs, None, Type::Float, n, self.pool)?;
        let mut wanted = None;
        for (node, value) in joint.nodes.iter().zip(results) {
            if *node == id {
                wanted = Some(value);
            } else {
                self.selections[s].values.entry(*node).or_insert(value);
            }
        }
        wanted.ok_or_else(|| QueryError::mistake("a value was not computed").into())
    }

    /// Positions of the values that are not scalars; all have as many.
    pub(super) fn common_length(&self, values: &[&Value]) -> Made<usize> {
        let mut lengths = values
            .iter()
            .filter(|value| !value.is_scalar())
            .map(|value| value.len());
        let Some(n) = lengths.next() else {
            return Ok(1);
        };
        if lengths.any(|other| other != n) {
            return Err(QueryError::data("values of different lengths met").into());
        }
        Ok(n)
    }

    fn compare_strings(&mut self, s: SelectionId, node: &Node, op: Compare) -> Made<Value> {
        let a = self.node(s, node.inputs[0])?;
        let b = self.node(s, node.inputs[1])?;
        let n = self.common_length(&[&a, &b])?;
        let mut out: Vec<u8> = self.pool.take(n);
        for (i, to) in out.iter_mut().enumerate() {
            *to = u8::from(op.holds(Some(a.string(i).cmp(b.string(i)))));
        }
        let valid = self.all_present(&[&a, &b], n);
        let mut value = Value::direct(Data::Bool(out.into()));
        value.valid = valid;
        Ok(value)
    }

    fn among(&mut self, s: SelectionId, node: &Node, list: &Arc<[i64]>) -> Made<Value> {
        let value = self.node(s, node.inputs[0])?;
        let n = value.len();
        let mut out: Vec<u8> = self.pool.take(n);
        for_chunks(&value, n, |at, chunk: &[i64]| {
            for (to, x) in out[at..].iter_mut().zip(chunk) {
                *to = u8::from(list.binary_search(x).is_ok());
            }
        });
        Ok(with_view_of(&value, Data::Bool(out.into())))
    }

    fn align(&mut self, s: SelectionId, node: &Node) -> Made<Value> {
        let value = self.node(s, node.inputs[0])?;
        let level = self.plan.graph.node(node.inputs[0]).level;
        let theirs = self.offsets(s, level)?;
        let ours = self.offsets(s, node.level)?;
        if !super::level::same(&theirs, &ours) {
            return Err(self
                .unequal(s, (level, &theirs), (node.level, &ours))?
                .into());
        }
        Ok(value)
    }

    /// An error that names the first entry in which the lists of two levels are not as long.
    fn unequal(
        &self,
        s: SelectionId,
        theirs: (LevelId, &[i32]),
        ours: (LevelId, &[i32]),
    ) -> Made<QueryError> {
        let lengths = |offsets: &[i32]| -> Vec<i32> {
            offsets.windows(2).map(|ends| ends[1] - ends[0]).collect()
        };
        let (a, b) = (lengths(theirs.1), lengths(ours.1));
        let differ = a.iter().zip(&b).position(|(a, b)| a != b);
        let list = differ.unwrap_or_else(|| a.len().min(b.len()));
        let mut level = self.plan.graph.parent(ours.0);
        let mut event = list as u32;
        while level != EVENT {
            event = self
                .parents(s, level)?
                .get(event as usize)
                .copied()
                .unwrap_or(0);
            level = self.plan.graph.parent(level);
        }
        if s != 0 {
            event = self
                .items(s, EVENT, 0)?
                .get(event as usize)
                .copied()
                .unwrap_or(event);
        }
        let length = |lengths: &[i32]| lengths.get(list).copied().unwrap_or(0);
        Ok(QueryError::data(format!(
            "lists of different lengths do not go together: in entry {}, {} are {}, and {} are {}; \
             zip(…) goes through both as far as the shorter one",
            self.first_entry() + u64::from(event),
            self.plan.describe(theirs.0),
            length(&a),
            self.plan.describe(ours.0),
            length(&b),
        )))
    }

    fn reduce(&mut self, s: SelectionId, id: NodeId, node: &Node, reducer: Reducer) -> Made<Value> {
        if let Some(made) = self.plan.folds.get(&id)
            && let Some(found) = self.folded(s, *made, reducer)?
        {
            return Ok(found);
        }
        if reducer == Reducer::Sum
            && let Some(found) = self.sums_of_kept(s, node)?
        {
            return Ok(found);
        }
        let value = self.node(s, node.inputs[0])?;
        let input = self.plan.graph.node(node.inputs[0]);
        let offsets = self.offsets(s, input.level)?;
        self.reduced(&value, input.ty, &offsets, reducer)
    }
}

fn constant_value(constant: &Constant) -> Value {
    Value::scalar(match constant {
        Constant::Bool(x) => Data::Bool(vec![u8::from(*x)].into()),
        Constant::Int(x) => Data::I64(vec![*x].into()),
        Constant::UInt(x) => Data::U64(vec![*x].into()),
        Constant::Float(bits) => Data::F64(vec![f64::from_bits(*bits)].into()),
        Constant::Str(x) => Data::Str(Strings::Own(Arc::new(vec![x.as_bytes().to_vec()]))),
    })
}

/// Data computed for every position of a value.
fn with_view_of(value: &Value, data: Data) -> Value {
    Value {
        data,
        view: if value.is_scalar() {
            View::Scalar
        } else {
            View::Direct
        },
        valid: value.valid.clone(),
    }
}

pub(super) fn stand_in(ty: Type) -> Data {
    match ty {
        Type::Bool => Data::Bool(vec![0].into()),
        Type::Int => Data::I64(vec![0].into()),
        Type::UInt => Data::U64(vec![0].into()),
        Type::Float => Data::F64(vec![0.0].into()),
        Type::Str => Data::Str(Strings::Own(Arc::new(vec![Vec::new()]))),
    }
}
