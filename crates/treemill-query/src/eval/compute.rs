//! A node's value from its inputs' values.

use super::{Batch, Made, SelectionId};
use crate::chunk::{Wide, for_chunks};
use crate::compile::{Constant, LevelId, Node, NodeId, Op, Reducer, Type};
use crate::error::QueryError;
use crate::kernel::reduce;
use crate::run::{run, run_narrow};
use crate::value::{Buf, Data, Strings, Value, View};
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
        if plan.programs.contains_key(&id) {
            return self.program(s, id, node);
        }
        match &node.op {
            Op::Column(column) => {
                if s != 0 {
                    // Columns come for whole batches; the next attempt takes over what passed.
                    self.node(0, id)?;
                }
                let Some(column) = plan.column_of.get(column).copied() else {
                    return Err(QueryError::new("a column is not among those needed").into());
                };
                self.load_column(column)
            }
            Op::And | Op::Or => self.junction(s, node),
            Op::StrEqual => self.equal_strings(s, node),
            Op::InInts(list) => self.among(s, node, list),
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
            Op::Spread => {
                let value = self.node(s, node.inputs[0])?;
                if value.is_scalar() {
                    return Ok(value);
                }
                let parents = self.parents(s, node.level)?;
                Ok(self.picked(&value, &parents))
            }
            Op::Pick(_) => {
                let value = self.node(s, node.inputs[0])?;
                if value.is_scalar() {
                    return Ok(value);
                }
                let picks = self.picks(s, node.level)?;
                Ok(self.picked(&value, &picks))
            }
            Op::Align => self.align(s, node),
            Op::Reduce(reducer) => self.reduce(s, node, *reducer),
            Op::At => self.at(s, node),
            Op::Const(_) | Op::Map(_) | Op::Select => {
                Err(QueryError::new("an operation has no program").into())
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
        let values: Vec<&Value> = values.iter().collect();
        let n = self.common_length(&values)?;
        let mut result = match run_narrow(program, &values, self.pool) {
            Some(result) => result,
            None => run(program, &values, node.ty, n, self.pool),
        };
        if node.missing {
            result.valid = if node.op == Op::Select {
                self.chosen(&values, n)
            } else {
                self.all_present(&values, n)
            };
            if result.valid.is_some() {
                result = self.spread_scalar(result, n);
            }
        }
        Ok(result)
    }

    /// Positions of the values that are not scalars; all have as many.
    fn common_length(&self, values: &[&Value]) -> Made<usize> {
        let mut lengths = values
            .iter()
            .filter(|value| !value.is_scalar())
            .map(|value| value.len());
        let Some(n) = lengths.next() else {
            return Ok(1);
        };
        if lengths.any(|other| other != n) {
            return Err(QueryError::new("values of different lengths met").into());
        }
        Ok(n)
    }

    /// A value with flags of presence has as many positions as flags.
    fn spread_scalar(&mut self, value: Value, n: usize) -> Value {
        if !value.is_scalar() || n == 1 {
            return value;
        }
        let picks: Vec<u32> = vec![0; n];
        Value {
            view: View::Picked(picks.into()),
            ..value
        }
    }

    /// Presence at every position; of a scalar, its only flag repeated.
    fn presence(&mut self, value: &Value, n: usize) -> Option<Buf<u8>> {
        let valid = value.valid.as_ref()?;
        if !value.is_scalar() || valid.len() == n {
            return Some(valid.clone());
        }
        Some(vec![valid.first().copied().unwrap_or(0); n].into())
    }

    fn all_present(&mut self, values: &[&Value], n: usize) -> Option<Buf<u8>> {
        let mut all: Option<Buf<u8>> = None;
        for value in values {
            let Some(valid) = self.presence(value, n) else {
                continue;
            };
            all = Some(match all {
                None => valid,
                Some(before) => {
                    let mut out: Vec<u8> = self.pool.take(n);
                    crate::kernel::logic::and(&before, &valid, &mut out);
                    out.into()
                }
            });
        }
        all
    }

    /// Presence of `a if condition else b`: only what is chosen counts.
    fn chosen(&mut self, values: &[&Value], n: usize) -> Option<Buf<u8>> {
        let [condition, a, b] = values else {
            return self.all_present(values, n);
        };
        let mut test: Vec<u8> = self.pool.take(n);
        u8::read(condition, 0, &mut test);
        let ones: Buf<u8> = vec![1; n].into();
        let a = self.presence(a, n).unwrap_or_else(|| ones.clone());
        let b = self.presence(b, n).unwrap_or_else(|| ones.clone());
        let mut out: Vec<u8> = self.pool.take(n);
        crate::kernel::logic::select(&test, &a, &b, &mut out);
        self.pool.give_vec(test);
        if let Some(condition) = self.presence(condition, n) {
            for (to, present) in out.iter_mut().zip(condition.iter()) {
                *to &= present;
            }
        }
        Some(out.into())
    }

    /// `and`, `or`: decided by one side, the other may be missing.
    fn junction(&mut self, s: SelectionId, node: &Node) -> Made<Value> {
        let a = self.node(s, node.inputs[0])?;
        let b = self.node(s, node.inputs[1])?;
        let n = self.common_length(&[&a, &b])?;
        let left: Buf<u8> = self.whole(&a, n);
        let right: Buf<u8> = self.whole(&b, n);
        let ones: Buf<u8> = vec![1; n].into();
        let left_present = self.presence(&a, n).unwrap_or_else(|| ones.clone());
        let right_present = self.presence(&b, n).unwrap_or(ones);
        let is_and = node.op == Op::And;
        let mut data: Vec<u8> = self.pool.take(n);
        let mut valid: Vec<u8> = self.pool.take(n);
        for i in 0..n {
            let (x, here) = (left[i], left_present[i]);
            let (y, there) = (right[i], right_present[i]);
            // The value that decides: false for and, true for or.
            let decides = u8::from(!is_and);
            let decided = (here & u8::from(x == decides)) | (there & u8::from(y == decides));
            valid[i] = (here & there) | decided;
            data[i] = if decided != 0 { decides } else { 1 - decides };
        }
        Ok(Value {
            data: Data::Bool(data.into()),
            view: View::Direct,
            valid: Some(valid.into()),
        })
    }

    fn equal_strings(&mut self, s: SelectionId, node: &Node) -> Made<Value> {
        let a = self.node(s, node.inputs[0])?;
        let b = self.node(s, node.inputs[1])?;
        let n = self.common_length(&[&a, &b])?;
        let mut out: Vec<u8> = self.pool.take(n);
        for (i, to) in out.iter_mut().enumerate() {
            *to = u8::from(a.string(i) == b.string(i));
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

    fn only(&mut self, s: SelectionId, node: &Node) -> Made<Value> {
        let value = self.node(s, node.inputs[0])?;
        let condition = self.node(s, node.inputs[1])?;
        let n = self.common_length(&[&value, &condition])?;
        let flags: Buf<u8> = self.whole(&condition, n);
        let flags = Value {
            data: Data::Bool(flags.clone()),
            view: View::Direct,
            valid: Some(flags),
        };
        let valid = self.all_present(&[&value, &condition, &flags], n);
        let mut value = self.spread_scalar(value, n);
        value.valid = valid;
        Ok(value)
    }

    fn fill_missing(&mut self, s: SelectionId, node: &Node) -> Made<Value> {
        let value = self.node(s, node.inputs[0])?;
        let with = self.node(s, node.inputs[1])?;
        let n = self.common_length(&[&value, &with])?;
        let Some(present) = self.presence(&value, n) else {
            return Ok(Value {
                valid: None,
                ..value
            });
        };
        let valid = self.presence(&with, n).map(|there| {
            let mut out: Vec<u8> = self.pool.take(n);
            crate::kernel::logic::or(&present, &there, &mut out);
            out.into()
        });
        let data = match node.ty {
            Type::Bool => Data::Bool(self.either(&present, &value, &with, n)),
            Type::Int => Data::I64(self.either(&present, &value, &with, n)),
            Type::UInt => {
                let bits: Buf<i64> = self.either(&present, &value, &with, n);
                let mut out: Vec<u64> = self.pool.take(n);
                for (to, from) in out.iter_mut().zip(bits.iter()) {
                    *to = *from as u64;
                }
                Data::U64(out.into())
            }
            Type::Float | Type::Str => Data::F64(self.either(&present, &value, &with, n)),
        };
        Ok(Value {
            data,
            view: View::Direct,
            valid,
        })
    }

    fn either<T: Wide + crate::pool::Pooled>(
        &mut self,
        present: &[u8],
        value: &Value,
        with: &Value,
        n: usize,
    ) -> Buf<T> {
        let a: Buf<T> = self.whole(value, n);
        let b: Buf<T> = self.whole(with, n);
        let mut out: Vec<T> = self.pool.take(n);
        crate::kernel::logic::select(present, &a, &b, &mut out);
        self.pool.give(a);
        self.pool.give(b);
        out.into()
    }

    fn align(&mut self, s: SelectionId, node: &Node) -> Made<Value> {
        let value = self.node(s, node.inputs[0])?;
        let level = self.plan.graph.node(node.inputs[0]).level;
        let theirs = self.offsets(s, level)?;
        let ours = self.offsets(s, node.level)?;
        if !super::level::same(&theirs, &ours) {
            let message = format!(
                "{} do not have as many items as {} in every event",
                self.plan.describe(level),
                self.plan.describe(node.level)
            );
            return Err(QueryError::new(message).into());
        }
        Ok(value)
    }

    fn at(&mut self, s: SelectionId, node: &Node) -> Made<Value> {
        let value = self.node(s, node.inputs[0])?;
        let index = self.node(s, node.inputs[1])?;
        let level: LevelId = self.plan.graph.node(node.inputs[0]).level;
        let offsets = self.offsets(s, level)?;
        let lists = offsets.len() - 1;
        let unsigned = self.plan.graph.node(node.inputs[1]).ty == Type::UInt;
        let wanted: Buf<i64> = self.whole(&index, lists);
        let mut picks: Vec<u32> = self.pool.take(lists);
        let mut valid: Vec<u8> = self.pool.take(lists);
        for (i, ends) in offsets.windows(2).enumerate() {
            let len = i64::from(ends[1] - ends[0]);
            let index = wanted[i];
            let from_end = index < 0 && !unsigned;
            let place = if from_end {
                index.wrapping_add(len)
            } else {
                index
            };
            // u64 beyond i64 looks negative here, and is out of range as it should be.
            let inside = place >= 0 && place < len;
            valid[i] = u8::from(inside);
            // Any position that exists will do for what is missing.
            picks[i] = if inside {
                (i64::from(ends[0]) + place) as u32
            } else {
                0
            };
        }
        self.pool.give(wanted);
        let flags: Buf<u8> = valid.into();
        if !value.is_scalar() && value.len() == 0 {
            // There is nothing to show, so a stand-in is shown.
            let data = stand_in(node.ty);
            let picks: Buf<u32> = picks.into();
            return Ok(Value {
                data,
                view: View::Picked(picks),
                valid: Some(flags),
            });
        }
        let mut picked = self.picked(&value, &picks.into());
        if picked.is_scalar() {
            picked = self.spread_scalar(picked, lists);
        }
        let own = picked.valid.take();
        let mut present = vec![Value {
            data: Data::Bool(flags.clone()),
            view: View::Direct,
            valid: Some(flags),
        }];
        present.extend(own.map(|valid| Value {
            data: Data::Bool(valid.clone()),
            view: View::Direct,
            valid: Some(valid),
        }));
        present.push(index);
        let present: Vec<&Value> = present.iter().collect();
        if node.missing {
            picked.valid = self.all_present(&present, lists);
        }
        Ok(picked)
    }

    fn reduce(&mut self, s: SelectionId, node: &Node, reducer: Reducer) -> Made<Value> {
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

fn stand_in(ty: Type) -> Data {
    match ty {
        Type::Bool => Data::Bool(vec![0].into()),
        Type::Int => Data::I64(vec![0].into()),
        Type::UInt => Data::U64(vec![0].into()),
        Type::Float => Data::F64(vec![0.0].into()),
        Type::Str => Data::Str(Strings::Own(Arc::new(vec![Vec::new()]))),
    }
}
