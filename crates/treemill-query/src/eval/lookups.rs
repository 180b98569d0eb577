//! Values looked up in tables of constants.

use super::tasks::Made;
use super::{Batch, SelectionId};
use crate::chunk::for_chunks;
use crate::compile::{Lookup, Node, Type};
use crate::kernel::tables;
use crate::value::{Buf, Data, Value, View};

impl Batch<'_> {
    pub(super) fn looked_up(
        &mut self,
        s: SelectionId,
        node: &Node,
        how: Lookup,
        table: &[i64],
    ) -> Made<Value> {
        let value = self.node(s, node.inputs[0])?;
        let n = value.len();
        let (data, valid) = match how {
            Lookup::Item => {
                let (data, valid) = self.items_of(&value, node.ty, table);
                let valid = match self.presence(&value, n) {
                    None => valid,
                    Some(there) => valid.iter().zip(&*there).map(|(a, b)| a & b).collect(),
                };
                (data, Some(Buf::from(valid)))
            }
            Lookup::Interp => {
                let reals: Vec<f64> = table.iter().map(|x| f64::from_bits(*x as u64)).collect();
                let (xs, ys) = reals.split_at(reals.len() / 2);
                let mut out: Vec<f64> = self.pool.take(n);
                for_chunks(&value, n, |at, chunk: &[f64]| {
                    for (to, x) in out[at..].iter_mut().zip(chunk) {
                        *to = tables::interp(*x, xs, ys);
                    }
                });
                (Data::F64(out.into()), value.valid.clone())
            }
            Lookup::Digitize { right } => {
                let edges: Vec<f64> = table.iter().map(|x| f64::from_bits(*x as u64)).collect();
                let mut out: Vec<i64> = self.pool.take(n);
                for_chunks(&value, n, |at, chunk: &[f64]| {
                    for (to, x) in out[at..].iter_mut().zip(chunk) {
                        *to = tables::digitize(*x, &edges, right);
                    }
                });
                (Data::I64(out.into()), value.valid.clone())
            }
            Lookup::InRanges { unsigned } => {
                let mut out: Vec<u8> = self.pool.take(n);
                let mut last = (0, 0);
                for_chunks(&value, n, |at, chunk: &[i64]| {
                    for (to, x) in out[at..].iter_mut().zip(chunk) {
                        // Beyond all signed integers there is no range.
                        let is_there = !(unsigned && *x < 0);
                        *to = u8::from(is_there && tables::inside(*x, table, &mut last));
                    }
                });
                (Data::Bool(out.into()), value.valid.clone())
            }
        };
        let view = match value.is_scalar() {
            true => View::Scalar,
            false => View::Direct,
        };
        Ok(Value { data, view, valid })
    }

    /// The items with these numbers, and whether they exist.
    fn items_of(&mut self, value: &Value, ty: Type, table: &[i64]) -> (Data, Vec<u8>) {
        let n = value.len();
        let mut bits: Vec<i64> = self.pool.take(n);
        let mut valid: Vec<u8> = self.pool.take(n);
        for_chunks(value, n, |at, chunk: &[i64]| {
            let places = bits[at..].iter_mut().zip(&mut valid[at..]);
            for ((to, there), index) in places.zip(chunk) {
                let found = tables::item(table, *index);
                (*to, *there) = (found.unwrap_or(0), u8::from(found.is_some()));
            }
        });
        let data = match ty {
            Type::Float => {
                let reals = bits.iter().map(|x| f64::from_bits(*x as u64));
                Data::F64(reals.collect::<Vec<f64>>().into())
            }
            Type::UInt => Data::U64(bits.iter().map(|x| *x as u64).collect::<Vec<u64>>().into()),
            _ => Data::I64(bits.into()),
        };
        (data, valid)
    }
}
