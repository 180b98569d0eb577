//! Reductions of values that may have a selection vector, may be constant, and may be missing.

use super::tasks::Made;
use super::{Batch, SelectionId};
use crate::compile::{Node, Reducer, Type};
use crate::kernel::{masks, reduce};
use crate::value::{Buf, Data, Value};

impl Batch<'_> {
    /// One value per list. Missing items are passed over; what an empty list has none of is missing.
    pub(super) fn reduced(
        &mut self,
        value: &Value,
        ty: Type,
        offsets: &Buf<i32>,
        reducer: Reducer,
    ) -> Made<Value> {
        // Without the missing items, lists are shorter.
        let items = offsets.last().map_or(0, |last| *last as usize);
        if let Some(valid) = value.valid.clone().filter(|_| !value.is_scalar()) {
            let mut shorter: Vec<i32> = self.pool.take(offsets.len());
            masks::kept_offsets(&valid, offsets, &mut shorter);
            let mut selection_vector: Vec<u32> = self.pool.take(items);
            let count = masks::positions(&valid, &mut selection_vector);
            selection_vector.truncate(count);
            let mut present = self.selected(value, &selection_vector.clone().into());
            present.valid = None;
            let result = self.reduce_present(
                &present,
                ty,
                &shorter,
                reducer,
                Some((&selection_vector, offsets)),
            );
            return result;
        }
        self.reduce_present(value, ty, offsets, reducer, None)
    }

    fn reduce_present(
        &mut self,
        value: &Value,
        ty: Type,
        offsets: &[i32],
        reducer: Reducer,
        original: Option<(&[u32], &[i32])>,
    ) -> Made<Value> {
        let lists = offsets.len() - 1;
        let items = offsets[lists] as usize;
        Ok(match reducer {
            Reducer::Count => {
                let mut out: Vec<i64> = self.pool.take(lists);
                reduce::lengths(offsets, &mut out);
                Value::direct(Data::I64(out.into()))
            }
            Reducer::Sum | Reducer::Any | Reducer::All if ty == Type::Bool => {
                let counts = self.counts(value, offsets, items);
                match reducer {
                    Reducer::Sum => Value::direct(Data::I64(counts.into())),
                    _ => self.of_counts(reducer, counts, offsets),
                }
            }
            Reducer::Sum | Reducer::Mean if ty == Type::Float => {
                let data: Buf<f64> = self.whole(value, items);
                let mut out: Vec<f64> = self.pool.take(lists);
                reduce::sums(&data, offsets, &mut out);
                self.pool.give(data);
                if reducer == Reducer::Sum {
                    return Ok(Value::direct(Data::F64(out.into())));
                }
                for (to, ends) in out.iter_mut().zip(offsets.windows(2)) {
                    *to /= f64::from(ends[1] - ends[0]);
                }
                let valid = self.not_empty(offsets);
                with_valid(Data::F64(out.into()), valid)
            }
            Reducer::Prod if ty == Type::Float => {
                let data: Buf<f64> = self.whole(value, items);
                let mut out: Vec<f64> = self.pool.take(lists);
                reduce::products(&data, offsets, 1.0, |product, x| product * x, &mut out);
                self.pool.give(data);
                Value::direct(Data::F64(out.into()))
            }
            Reducer::Prod => {
                let data: Buf<i64> = self.whole(value, items);
                let mut out: Vec<i64> = self.pool.take(lists);
                reduce::products(&data, offsets, 1, i64::wrapping_mul, &mut out);
                self.pool.give(data);
                Value::direct(self.integers(out, ty))
            }
            Reducer::Sum => {
                let data: Buf<i64> = self.whole(value, items);
                let mut out: Vec<i64> = self.pool.take(lists);
                reduce::sums_int(&data, offsets, &mut out);
                self.pool.give(data);
                Value::direct(self.integers(out, ty))
            }
            _ => self.best(value, ty, offsets, reducer, original),
        })
    }

    /// `any` or `all` of each list, from the number of its trues.
    pub(super) fn of_counts(
        &mut self,
        reducer: Reducer,
        counts: Vec<i64>,
        offsets: &[i32],
    ) -> Value {
        let mut out: Vec<u8> = self.pool.take(counts.len());
        for ((to, count), ends) in out.iter_mut().zip(&counts).zip(offsets.windows(2)) {
            let all = i64::from(ends[1] - ends[0]);
            *to = u8::from(match reducer {
                Reducer::Any => *count > 0,
                _ => *count == all,
            });
        }
        self.pool.give_vec(counts);
        Value::direct(Data::Bool(out.into()))
    }

    /// Number of trues of each list.
    fn counts(&mut self, value: &Value, offsets: &[i32], items: usize) -> Vec<i64> {
        use crate::chunk::Wide;
        let mut out: Vec<i64> = self.pool.take(offsets.len() - 1);
        match u8::direct(value) {
            Some(mask) => masks::counts(&mask[..items], offsets, &mut out),
            None => {
                let mask: Buf<u8> = self.whole(value, items);
                masks::counts(&mask, offsets, &mut out);
                self.pool.give(mask);
            }
        }
        out
    }

    /// See `Op::RunningSum`.
    pub(super) fn running_sum(&mut self, s: SelectionId, node: &Node) -> Made<Value> {
        let offsets = self.offsets(s, node.level)?;
        let value = self.node(s, node.inputs[0])?;
        let items = offsets.last().map_or(0, |last| *last as usize);
        let valid = self.presence(&value, items);
        let present = valid.as_deref();
        let data = match node.ty {
            Type::Float => {
                let data: Buf<f64> = self.whole(&value, items);
                let mut out: Vec<f64> = self.pool.take(items);
                reduce::running(&data, present, &offsets, 0.0, |a, b| a + b, &mut out);
                self.pool.give(data);
                Data::F64(out.into())
            }
            _ => {
                let data: Buf<i64> = self.whole(&value, items);
                let mut out: Vec<i64> = self.pool.take(items);
                reduce::running(&data, present, &offsets, 0, i64::wrapping_add, &mut out);
                self.pool.give(data);
                self.integers(out, node.ty)
            }
        };
        Ok(Value {
            valid,
            ..Value::direct(data)
        })
    }

    /// min, max, argmin, argmax.
    fn best(
        &mut self,
        value: &Value,
        ty: Type,
        offsets: &[i32],
        reducer: Reducer,
        original: Option<(&[u32], &[i32])>,
    ) -> Value {
        let lists = offsets.len() - 1;
        let items = offsets[lists] as usize;
        let least = matches!(reducer, Reducer::Min | Reducer::ArgMin);
        let mut places: Vec<u32> = self.pool.take(lists);
        let mut valid: Vec<u8> = self.pool.take(lists);
        let found = |list: usize, place: Option<usize>| {
            valid[list] = u8::from(place.is_some());
            places[list] = place.unwrap_or(0) as u32;
        };
        match ty {
            Type::Float | Type::Str => {
                let data: Buf<f64> = self.whole(value, items);
                if least {
                    let (last, before) = (f64::INFINITY, |a: f64, b: f64| a < b);
                    reduce::best(&data, offsets, last, before, f64::is_nan, found);
                } else {
                    let (last, before) = (f64::NEG_INFINITY, |a: f64, b: f64| a > b);
                    reduce::best(&data, offsets, last, before, f64::is_nan, found);
                }
                self.pool.give(data);
            }
            _ => {
                let data: Buf<i64> = self.whole(value, items);
                // Turning the uppermost bit makes the order of u64 that of i64.
                let turn = if ty == Type::UInt { i64::MIN } else { 0 };
                let before = |a: i64, b: i64| {
                    let (a, b) = (a ^ turn, b ^ turn);
                    if least { a < b } else { a > b }
                };
                let last = (if least { i64::MAX } else { i64::MIN }) ^ turn;
                reduce::best(&data, offsets, last, before, |_| false, found);
                self.pool.give(data);
            }
        }
        if matches!(reducer, Reducer::ArgMin | Reducer::ArgMax) {
            let mut out: Vec<i64> = self.pool.take(lists);
            for (list, to) in out.iter_mut().enumerate() {
                // Positions count from the list's start, missing items too.
                *to = match original {
                    Some((selection_vector, starts)) if valid[list] != 0 => {
                        i64::from(selection_vector[places[list] as usize]) - i64::from(starts[list])
                    }
                    _ => i64::from(places[list]) - i64::from(offsets[list]),
                };
            }
            self.pool.give_vec(places);
            return with_valid(Data::I64(out.into()), valid);
        }
        if items == 0 {
            places.fill(0);
            let data = match ty {
                Type::Bool => Data::Bool(vec![0; lists].into()),
                Type::Int => Data::I64(vec![0; lists].into()),
                Type::UInt => Data::U64(vec![0; lists].into()),
                Type::Float | Type::Str => Data::F64(vec![0.0; lists].into()),
            };
            return with_valid(data, valid);
        }
        let mut result = self.selected(value, &places.into());
        if result.is_scalar() {
            result.view = crate::value::View::Selected(vec![0; lists].into());
        }
        result.valid = Some(valid.into());
        result
    }

    pub(super) fn not_empty(&mut self, offsets: &[i32]) -> Vec<u8> {
        let mut valid: Vec<u8> = self.pool.take(offsets.len() - 1);
        for (to, ends) in valid.iter_mut().zip(offsets.windows(2)) {
            *to = u8::from(ends[1] > ends[0]);
        }
        valid
    }

    pub(super) fn integers(&mut self, bits: Vec<i64>, ty: Type) -> Data {
        if ty != Type::UInt {
            return Data::I64(bits.into());
        }
        let mut out: Vec<u64> = self.pool.take(bits.len());
        for (to, from) in out.iter_mut().zip(&bits) {
            *to = *from as u64;
        }
        self.pool.give_vec(bits);
        Data::U64(out.into())
    }
}

fn with_valid(data: Data, valid: Vec<u8>) -> Value {
    Value {
        valid: Some(valid.into()),
        ..Value::direct(data)
    }
}
