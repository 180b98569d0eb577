//! What filters keep of lists, for events that passed a cut: where the condition is known for more events, what it keeps is
//! found there in one go, and values are looked up there. So no list is made of all items of these events.

use super::tasks::Made;
use super::{Batch, SelectionId};
use crate::chunk::Wide;
use crate::compile::{LevelId, LevelKind, Node, NodeId};
use crate::kernel::masks;
use crate::value::{Buf, Value};

impl Batch<'_> {
    /// A value at a filtered level, from an outer selection; `None` if it is not known there, or not what is kept.
    pub(super) fn kept_outside(&mut self, s: SelectionId, node: &Node) -> Made<Option<Value>> {
        let plan = self.plan;
        let (LevelKind::Filtered { of, mask }, [input]) =
            (&plan.graph.level(node.level).kind, node.inputs.as_slice())
        else {
            return Ok(None);
        };
        let Some(from) = self.with_mask(s, *of, *mask) else {
            return Ok(None);
        };
        let found = self.outside(Some(from), *input, |_| true);
        if found.is_none() || plan.graph.node(*input).level != *of {
            return Ok(None);
        }
        // From a selection that is wider still, it is taken over.
        let value = self.node(from, *input)?;
        let Some(selection_vector) = self.keep(s, node.level, *of, *mask)? else {
            return Ok(None);
        };
        Ok(Some(self.selected(&value, &selection_vector)))
    }

    /// Offsets of a filtered level's lists; `None` if the condition is not known in an outer selection.
    pub(super) fn kept_offsets(
        &mut self,
        s: SelectionId,
        level: LevelId,
        of: LevelId,
        mask: NodeId,
    ) -> Made<Option<Buf<i32>>> {
        self.keep(s, level, of, mask)?;
        Ok(self.selections[s].offsets.get(&level).cloned())
    }

    /// Positions of what the condition keeps, in the outer selection where it is known. Notes the offsets as well.
    fn keep(
        &mut self,
        s: SelectionId,
        level: LevelId,
        of: LevelId,
        mask: NodeId,
    ) -> Made<Option<Buf<u32>>> {
        let Some(from) = self.with_mask(s, of, mask) else {
            return Ok(None);
        };
        if let Some((known, selection_vector)) = self.selections[s].kept.get(&level) {
            return Ok((*known == from).then(|| selection_vector.clone()));
        }
        let lists = self.items(s, self.plan.graph.parent(of), from)?;
        let outer = self.offsets(from, of)?;
        let mask = self.node(from, mask)?;
        let Some(mask) = u8::direct(&mask) else {
            return Ok(None);
        };
        let length = |list: &u32| (outer[*list as usize + 1] - outer[*list as usize]) as usize;
        let items: usize = lists.iter().map(length).sum();
        let mut offsets: Vec<i32> = self.pool.take(lists.len() + 1);
        let mut selection_vector: Vec<u32> = self.pool.take(items + 8);
        let count = masks::kept_of(mask, &outer, &lists, &mut offsets, &mut selection_vector);
        let selection_vector: Buf<u32> = self.pool.first(selection_vector, count).into();
        let selection = &mut self.selections[s];
        selection.offsets.entry(level).or_insert(offsets.into());
        selection
            .kept
            .insert(level, (from, selection_vector.clone()));
        Ok(Some(selection_vector))
    }

    /// The nearest outer selection where the condition is there as bytes, none of them missing, and the lists.
    pub(super) fn with_mask(
        &self,
        s: SelectionId,
        of: LevelId,
        mask: NodeId,
    ) -> Option<SelectionId> {
        let is_mask = |value: &Value| value.valid.is_none() && u8::direct(value).is_some();
        let from = self.outside(self.selections[s].parent, mask, is_mask)?;
        self.selections[from]
            .offsets
            .contains_key(&of)
            .then_some(from)
    }

    /// The nearest selection, from this one outwards, that has such a value of a node.
    pub(super) fn outside(
        &self,
        from: Option<SelectionId>,
        node: NodeId,
        is_such: impl Fn(&Value) -> bool,
    ) -> Option<SelectionId> {
        if self.plan.local.contains(&node) {
            return None;
        }
        let mut outer = from;
        while let Some(from) = outer {
            let value = self.selections[from].values.get(&node);
            if value.is_some_and(&is_such) {
                return Some(from);
            }
            outer = self.selections[from].parent;
        }
        None
    }
}
