//! Narrower selections: they take over values of wider ones through selection vectors, and compute
//! nothing twice.

use super::tasks::Made;
use super::{Batch, SelectionId};
use crate::chunk::Wide;
use crate::compile::{EVENT, LevelId, NodeId};
use crate::kernel::{gather, lists};
use crate::pool::{Pool, Pooled};
use crate::value::{Buf, Data, Value, View};

impl Batch<'_> {
    /// Positions of a level's items in a selection among its items in an outer selection.
    pub(super) fn make_items(
        &mut self,
        s: SelectionId,
        level: LevelId,
        from: SelectionId,
    ) -> Made<Buf<u32>> {
        if level == EVENT {
            // Composed with the positions of the selection above.
            let Some(above) = self.selections[s].parent else {
                return Ok(Vec::new().into());
            };
            let near = self.items(s, EVENT, above)?;
            let far = self.items(above, EVENT, from)?;
            let mut out: Vec<u32> = self.pool.take(near.len());
            gather::take(&far, &near, &mut out);
            return Ok(out.into());
        }
        let parent = self.plan.graph.parent(level);
        let lists = self.items(s, parent, from)?;
        let outer = self.offsets(from, level)?;
        let offsets = self.offsets(s, level)?;
        let total = offsets.last().map_or(0, |last| *last as usize);
        let mut out: Vec<u32> = self.pool.take(total);
        lists::selected_items(&outer, &lists, &offsets, &mut out);
        Ok(out.into())
    }

    /// A node's value from the nearest outer selection that has it.
    pub(super) fn inherited(&mut self, s: SelectionId, node: NodeId) -> Made<Option<Value>> {
        if self.plan.local.contains(&node) {
            return Ok(None);
        }
        let mut outer = self.selections[s].parent;
        while let Some(from) = outer {
            if let Some(value) = self.selections[from].values.get(&node) {
                if value.is_scalar() {
                    return Ok(Some(value.clone()));
                }
                let value = value.clone();
                let level = self.plan.graph.node(node).level;
                let items = self.items(s, level, from)?;
                let value = self.selected(&value, &items);
                return Ok(Some(match self.selections[s].is_shared {
                    true => self.side_by_side(value),
                    false => value,
                }));
            }
            outer = self.selections[from].parent;
        }
        Ok(None)
    }

    /// A value that is seen through a selection vector, as a copy: what is made of it more than once then takes no look
    /// through positions.
    fn side_by_side(&mut self, value: Value) -> Value {
        fn copy<T: Pooled>(data: &[T], selection_vector: &[u32], pool: &mut Pool) -> Buf<T> {
            let mut out: Vec<T> = pool.take(selection_vector.len());
            gather::take(data, selection_vector, &mut out);
            out.into()
        }
        let View::Selected(positions) = &value.view else {
            return value;
        };
        let pool = &mut *self.pool;
        let data = match &value.data {
            Data::Bool(data) => Data::Bool(copy(data, positions, pool)),
            Data::I32(data) => Data::I32(copy(data, positions, pool)),
            Data::I64(data) => Data::I64(copy(data, positions, pool)),
            Data::U8(data) => Data::U8(copy(data, positions, pool)),
            Data::U32(data) => Data::U32(copy(data, positions, pool)),
            Data::U64(data) => Data::U64(copy(data, positions, pool)),
            Data::F32(data) => Data::F32(copy(data, positions, pool)),
            Data::F64(data) => Data::F64(copy(data, positions, pool)),
            Data::I8(_) | Data::I16(_) | Data::U16(_) | Data::Str(_) => return value,
        };
        Value {
            view: View::Direct,
            data,
            ..value
        }
    }

    /// A value through a selection vector.
    pub(super) fn selected(&mut self, value: &Value, selection_vector: &Buf<u32>) -> Value {
        let valid = value.valid.as_ref().map(|valid| {
            if value.is_scalar() {
                return valid.clone();
            }
            let mut out: Vec<u8> = self.pool.take(selection_vector.len());
            gather::take(valid, selection_vector, &mut out);
            out.into()
        });
        let view = match &value.view {
            View::Scalar => View::Scalar,
            View::Direct => View::Selected(selection_vector.clone()),
            View::Selected(first) => View::Selected(self.through(first, selection_vector)),
        };
        Value {
            data: value.data.clone(),
            view,
            valid,
        }
    }

    /// The composition of two selection vectors, `first[selection_vector[i]]`, made once for each pair.
    pub(super) fn through(&mut self, first: &Buf<u32>, selection_vector: &Buf<u32>) -> Buf<u32> {
        let key = (first.as_ptr() as usize, selection_vector.as_ptr() as usize);
        if let Some([_, _, known]) = self.composed.get(&key)
            && known.len() == selection_vector.len()
        {
            return known.clone();
        }
        let mut both: Vec<u32> = self.pool.take(selection_vector.len());
        gather::take(first, selection_vector, &mut both);
        let both: Buf<u32> = both.into();
        let kept = [first.clone(), selection_vector.clone(), both.clone()];
        self.composed.insert(key, kept);
        both
    }

    /// All of a value, widened, as one slice. It is the value's own buffer or a copy, and must be given back.
    pub(super) fn whole<T: Wide + Pooled>(&mut self, value: &Value, n: usize) -> Buf<T> {
        if let Some(own) = T::shared(value).filter(|own| own.len() == n) {
            return own;
        }
        let mut out: Vec<T> = self.pool.take(n);
        T::read(value, 0, &mut out);
        out.into()
    }
}
