//! Missing values: validity (one flag for each position), and the operations that depend on it.

use super::tasks::Made;
use super::{Batch, SelectionId};
use crate::chunk::Wide;
use crate::compile::{Node, Op, Type};
use crate::kernel::logic;
use crate::pool::Pooled;
use crate::value::{Buf, Data, Strings, Value, View};

impl Batch<'_> {
    /// A value with validity flags has as many positions as flags.
    pub(super) fn spread_scalar(&mut self, value: Value, n: usize) -> Value {
        if !value.is_scalar() {
            return value;
        }
        let selection_vector: Vec<u32> = vec![0; n];
        Value {
            view: View::Selected(selection_vector.into()),
            ..value
        }
    }

    /// The validity of every position. The only flag of a scalar is repeated.
    pub(super) fn presence(&mut self, value: &Value, n: usize) -> Option<Buf<u8>> {
        let valid = value.valid.as_ref()?;
        if !value.is_scalar() || valid.len() == n {
            return Some(valid.clone());
        }
        Some(vec![valid.first().copied().unwrap_or(0); n].into())
    }

    pub(super) fn all_present(&mut self, values: &[&Value], n: usize) -> Option<Buf<u8>> {
        let mut all: Option<Buf<u8>> = None;
        for value in values {
            let Some(valid) = self.presence(value, n) else {
                continue;
            };
            all = Some(match all {
                None => valid,
                Some(before) => {
                    let mut out: Vec<u8> = self.pool.take(n);
                    logic::and(&before, &valid, &mut out);
                    out.into()
                }
            });
        }
        all
    }

    /// The validity of `a if condition else b`: only the chosen value counts.
    pub(super) fn chosen(&mut self, values: &[&Value], n: usize) -> Option<Buf<u8>> {
        let [condition, a, b] = values else {
            return self.all_present(values, n);
        };
        let mut test: Vec<u8> = self.pool.take(n);
        u8::read(condition, 0, &mut test);
        let ones: Buf<u8> = vec![1; n].into();
        let a = self.presence(a, n).unwrap_or_else(|| ones.clone());
        let b = self.presence(b, n).unwrap_or_else(|| ones.clone());
        let mut out: Vec<u8> = self.pool.take(n);
        logic::select(&test, &a, &b, &mut out);
        self.pool.give_vec(test);
        if let Some(condition) = self.presence(condition, n) {
            for (to, present) in out.iter_mut().zip(condition.iter()) {
                *to &= present;
            }
        }
        Some(out.into())
    }

    /// `and`, `or`: if one side decides, the other may be missing.
    pub(super) fn junction(&mut self, s: SelectionId, node: &Node) -> Made<Value> {
        let a = self.node(s, node.inputs[0])?;
        let b = self.node(s, node.inputs[1])?;
        let n = self.common_length(&[&a, &b])?;
        let left: Buf<u8> = self.whole(&a, n);
        let right: Buf<u8> = self.whole(&b, n);
        let ones: Buf<u8> = vec![1; n].into();
        let left_present = self.presence(&a, n).unwrap_or_else(|| ones.clone());
        let right_present = self.presence(&b, n).unwrap_or(ones);
        // The value that decides: false for and, true for or.
        let decides = u8::from(node.op != Op::And);
        let mut data: Vec<u8> = self.pool.take(n);
        let mut valid: Vec<u8> = self.pool.take(n);
        let sides = [(&*left, &*left_present), (&*right, &*right_present)];
        logic::decided(decides, sides, &mut data);
        logic::and(&left_present, &right_present, &mut valid);
        for (valid, decided) in valid.iter_mut().zip(&mut data) {
            *valid |= *decided;
            *decided ^= 1 - decides;
        }
        Ok(Value {
            data: Data::Bool(data.into()),
            view: View::Direct,
            valid: Some(valid.into()),
        })
    }

    pub(super) fn only(&mut self, s: SelectionId, node: &Node) -> Made<Value> {
        let value = self.node(s, node.inputs[0])?;
        let condition = self.node(s, node.inputs[1])?;
        // A missing constant is missing at every position. It is no scalar, because scalars have no flags.
        let n = match value.is_scalar() && condition.is_scalar() {
            true => self.positions(s, node.level)?,
            false => self.common_length(&[&value, &condition])?,
        };
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

    pub(super) fn fill_missing(&mut self, s: SelectionId, node: &Node) -> Made<Value> {
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
            logic::or(&present, &there, &mut out);
            out.into()
        });
        let data = match node.ty {
            Type::Str => {
                let one = |i: usize| if present[i] != 0 { &value } else { &with };
                Data::Str(Strings::collect((0..n).map(|i| one(i).string(i))))
            }
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
            Type::Float => Data::F64(self.either(&present, &value, &with, n)),
        };
        Ok(Value {
            data,
            view: View::Direct,
            valid,
        })
    }

    /// `a if condition else b` of strings.
    pub(super) fn chosen_strings(&mut self, s: SelectionId, node: &Node) -> Made<Value> {
        let mut values = Vec::with_capacity(node.inputs.len());
        for input in &node.inputs {
            values.push(self.node(s, *input)?);
        }
        let values: Vec<&Value> = values.iter().collect();
        let n = self.common_length(&values)?;
        let test: Buf<u8> = self.whole(values[0], n);
        let one = |i: usize| values[if test[i] != 0 { 1 } else { 2 }];
        let strings = Strings::collect((0..n).map(|i| one(i).string(i)));
        let constant = values.iter().all(|value| value.is_scalar());
        let found = Value {
            data: Data::Str(strings),
            view: if constant { View::Scalar } else { View::Direct },
            valid: None,
        };
        if !node.missing {
            return Ok(found);
        }
        let valid = self.chosen(&values, n);
        Ok(Value {
            valid,
            ..self.spread_scalar(found, n)
        })
    }

    fn either<T: Wide + Pooled>(
        &mut self,
        present: &[u8],
        value: &Value,
        with: &Value,
        n: usize,
    ) -> Buf<T> {
        let a: Buf<T> = self.whole(value, n);
        let b: Buf<T> = self.whole(with, n);
        let mut out: Vec<T> = self.pool.take(n);
        logic::select(present, &a, &b, &mut out);
        self.pool.give(a);
        self.pool.give(b);
        out.into()
    }
}
