//! Single items of lists, and concatenated lists.

use super::compute::stand_in;
use super::tasks::Made;
use super::{Batch, SelectionId};
use crate::compile::{Node, NodeId, Type, combination_items};
use crate::kernel::{gather, logic};
use crate::value::{Buf, Data, Strings, Value, View};

impl Batch<'_> {
    pub(super) fn at(
        &mut self,
        s: SelectionId,
        id: NodeId,
        node: &Node,
        from_end: bool,
    ) -> Made<Value> {
        let (places, flags) = self.places(s, id, node, from_end)?;
        // One combination is found by its number. The others are not made.
        let plan = self.plan;
        let item =
            combination_items::item(&plan.graph, node.inputs[0]).filter(|_| node.inputs.len() == 2);
        let (value, selection_vector) = match item {
            Some(item) => {
                let value = self.node(s, item.node)?;
                let level = plan.graph.node(node.inputs[0]).level;
                let places = match item.is_cut {
                    true => self.uncut_places(s, level, places)?,
                    false => places,
                };
                (value, self.items_at(s, item, &places, &flags)?)
            }
            None => self.picked(s, node.inputs[0], places)?,
        };
        let lists = selection_vector.len();
        if !value.is_scalar() && value.len() == 0 {
            // There is no item to read, so a placeholder is read.
            return Ok(Value {
                data: stand_in(node.ty),
                view: View::Selected(selection_vector),
                valid: Some(flags),
            });
        }
        let mut selected = self.selected(&value, &selection_vector);
        if selected.is_scalar() {
            selected = self.spread_scalar(selected, lists);
        }
        if node.missing {
            selected.valid = Some(match selected.valid.take() {
                None => flags,
                Some(own) => {
                    let mut both: Vec<u8> = self.pool.take(lists);
                    logic::and(&own, &flags, &mut both);
                    both.into()
                }
            });
        }
        Ok(selected)
    }

    /// The positions of the wanted items, and whether they exist. Values that are selected alike share them.
    fn places(
        &mut self,
        s: SelectionId,
        id: NodeId,
        node: &Node,
        from_end: bool,
    ) -> Made<(Buf<u32>, Buf<u8>)> {
        let plan = self.plan;
        let level = plan.graph.node(node.inputs[0]).level;
        // Nodes that differ only in the values that they read have the same positions.
        let same = |other: &NodeId| {
            let found = plan.graph.node(*other);
            found.op == node.op
                && found.inputs[1..] == node.inputs[1..]
                && plan.graph.node(found.inputs[0]).level == level
        };
        if let Some(known) = self.selections[s].places.keys().find(|id| same(id)) {
            return Ok(self.selections[s].places[known].clone());
        }
        let index = self.node(s, node.inputs[1])?;
        let offsets = self.offsets(s, level)?;
        let rows = match node.inputs.get(2) {
            Some(list) => {
                let n = self.positions(s, node.level)?;
                let rows = self.node(s, *list)?;
                let flags = self.presence(&rows, n);
                Some((Self::row_numbers(&rows)?, flags))
            }
            None => None,
        };
        let n = rows
            .as_ref()
            .map_or(offsets.len() - 1, |(rows, _)| rows.len());
        let unsigned = plan.graph.node(node.inputs[1]).ty == Type::UInt;
        let wanted: Buf<i64> = self.whole(&index, n);
        let mut selection_vector: Vec<u32> = self.pool.take(n);
        let mut valid: Vec<u8> = self.pool.take(n);
        let turn = from_end && !unsigned;
        match &rows {
            None => gather::places(&wanted, &offsets, turn, &mut selection_vector, &mut valid),
            Some((rows, _)) => {
                for (i, row) in rows.iter().enumerate() {
                    let list = *row as usize;
                    let ends = &offsets[list..list + 2];
                    let (to, flag) = (&mut selection_vector[i..=i], &mut valid[i..=i]);
                    gather::places(&wanted[i..=i], ends, turn, to, flag);
                }
            }
        }
        let absent = rows.and_then(|(_, flags)| flags);
        for flags in [absent, self.presence(&index, n)].into_iter().flatten() {
            for (to, flag) in valid.iter_mut().zip(flags.iter()) {
                *to &= flag;
            }
        }
        self.pool.give(wanted);
        let found: (Buf<u32>, Buf<u8>) = (selection_vector.into(), valid.into());
        self.selections[s].places.insert(id, found.clone());
        Ok(found)
    }

    /// The parts' values, through the selection vector of the level that joins them.
    pub(super) fn concat(&mut self, s: SelectionId, node: &Node) -> Made<Value> {
        let plan = self.plan;
        let mut parts = Vec::with_capacity(node.inputs.len());
        for input in &node.inputs {
            let value = self.node(s, *input)?;
            let n = self.positions(s, plan.graph.node(*input).level)?;
            parts.push((value, n));
        }
        let selection_vector = self.selection_vector(s, node.level, 0)?;
        let total = parts.iter().map(|(_, n)| n).sum();
        let valid = parts
            .iter()
            .any(|(value, _)| value.valid.is_some())
            .then(|| {
                let mut all: Vec<u8> = self.pool.take(total);
                let mut at = 0;
                for (value, n) in &parts {
                    match self.presence(value, *n) {
                        Some(flags) => all[at..at + n].copy_from_slice(&flags[..*n]),
                        None => all[at..at + n].fill(1),
                    }
                    at += n;
                }
                all.into()
            });
        let data = match node.ty {
            Type::Float | Type::Int if let Some(own) = self.as_stored(&parts, total) => own,
            Type::Bool => Data::Bool(self.one_after_another::<u8>(&parts, total)),
            Type::Int => Data::I64(self.one_after_another::<i64>(&parts, total)),
            Type::UInt => {
                let bits = self.one_after_another::<i64>(&parts, total);
                let mut out: Vec<u64> = self.pool.take(total);
                for (to, from) in out.iter_mut().zip(bits.iter()) {
                    *to = *from as u64;
                }
                self.pool.give(bits);
                Data::U64(out.into())
            }
            Type::Float => Data::F64(self.one_after_another::<f64>(&parts, total)),
            Type::Str => Data::Str(Strings::collect(
                parts
                    .iter()
                    .flat_map(|(value, n)| (0..*n).map(|i| value.string(i))),
            )),
        };
        let joined = Value {
            data,
            view: View::Direct,
            valid,
        };
        Ok(self.selected(&joined, &selection_vector))
    }

    /// Columns of one narrow type, copied as they are.
    fn as_stored(&mut self, parts: &[(Value, usize)], total: usize) -> Option<Data> {
        macro_rules! copied {
            ($variant:ident) => {{
                let mut slices = Vec::with_capacity(parts.len());
                for (value, n) in parts {
                    let (Data::$variant(data), View::Direct) = (&value.data, &value.view) else {
                        return None;
                    };
                    slices.push(data.get(..*n)?);
                }
                let mut out = self.pool.take(total);
                let mut rest = out.as_mut_slice();
                for slice in slices {
                    let (to, behind) = rest.split_at_mut(slice.len());
                    to.copy_from_slice(slice);
                    rest = behind;
                }
                Some(Data::$variant(out.into()))
            }};
        }
        match parts.first()?.0.data {
            Data::F32(_) => copied!(F32),
            Data::I32(_) => copied!(I32),
            _ => None,
        }
    }

    fn one_after_another<T: crate::chunk::Wide + crate::pool::Pooled>(
        &mut self,
        parts: &[(Value, usize)],
        total: usize,
    ) -> Buf<T> {
        let mut out: Vec<T> = self.pool.take(total);
        let mut at = 0;
        for (value, n) in parts {
            T::read(value, 0, &mut out[at..at + n]);
            at += n;
        }
        out.into()
    }
}
