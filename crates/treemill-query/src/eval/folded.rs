//! Reductions of values of combinations that nothing else wants: computed and reduced block by block.

use super::tasks::Made;
use super::{Batch, SelectionId};
use crate::compile::{LevelKind, NodeId, Read, Reducer, Type};
use crate::error::QueryError;
use crate::kernel::interleaved::Interleaved;
use crate::run::{Folded, Input, Items, run_folded};
use crate::value::{Data, Value};

impl Batch<'_> {
    /// One value per list, of the values of a program's node; `None` where they are better computed
    /// first and reduced afterwards.
    pub(super) fn folded(
        &mut self,
        s: SelectionId,
        made: NodeId,
        reducer: Reducer,
    ) -> Made<Option<Value>> {
        let plan = self.plan;
        let program = &plan.programs[&made];
        let is_known = self.selections[s].values.contains_key(&made);
        let Some(level) = program.tuples.filter(|_| !is_known) else {
            return Ok(None);
        };
        let LevelKind::Combinations { of, size } = &plan.graph.level(level).kind else {
            return Err(QueryError::mistake("this level has no combinations").into());
        };
        let mut values = Vec::with_capacity(program.leaves.len());
        for leaf in &program.leaves {
            values.push(self.node(s, leaf.node)?);
        }
        let offsets = self.offsets(s, *of)?;
        // Bounded as the level is, although its values are not kept.
        let combinations = self.offsets(s, level)?;
        let room = self.pool.take(Interleaved::room(&offsets));
        let lists = match Interleaved::new(&offsets, *size, room) {
            Ok(lists) => lists,
            Err(room) => {
                self.pool.give_vec(room);
                return Ok(None);
            }
        };
        let items = offsets.last().map_or(0, |last| *last as usize);
        let mut inputs = Vec::with_capacity(values.len());
        for (leaf, value) in program.leaves.iter().zip(values) {
            inputs.push(match leaf.read {
                Read::Along => Input::Value(value),
                _ => Input::Items(Items::take(&value, leaf.lane, items, self.pool)),
            });
        }
        let n = offsets.len() - 1;
        let ty = plan.graph.node(made).ty;
        let (mut floats, mut ints) = (Vec::new(), Vec::new());
        let is_float =
            ty == Type::Float && matches!(reducer, Reducer::Min | Reducer::Max | Reducer::Sum);
        let (to, how) = match (is_float, reducer) {
            (true, _) => {
                floats = self.pool.take(n);
                floats.fill(0.0);
                (Folded::Floats(&mut floats), reducer)
            }
            (false, reducer) => {
                ints = self.pool.take(n);
                ints.fill(0);
                let counts = matches!(reducer, Reducer::Any | Reducer::All);
                let how = if counts { Reducer::Sum } else { reducer };
                (Folded::Ints(&mut ints), how)
            }
        };
        run_folded(program, &inputs, (&lists, &offsets), how, to, self.pool)?;
        self.pool.give_vec(lists.into_lists());
        for input in inputs {
            if let Input::Items(items) = input {
                items.give(self.pool);
            }
        }
        Ok(Some(match reducer {
            Reducer::Any | Reducer::All => self.of_counts(reducer, ints, &combinations),
            Reducer::Sum if is_float => Value::direct(Data::F64(floats.into())),
            Reducer::Sum => Value::direct(Data::I64(ints.into())),
            _ => {
                let data = match is_float {
                    true => Data::F64(floats.into()),
                    false => Data::I64(ints.into()),
                };
                Value {
                    valid: Some(self.not_empty(&combinations).into()),
                    ..Value::direct(data)
                }
            }
        }))
    }
}
