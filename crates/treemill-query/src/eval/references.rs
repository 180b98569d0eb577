//! Items that refer to items of their own lists.

use super::tasks::Made;
use super::{Batch, SelectionId};
use crate::compile::{LevelId, Node, NodeId};
use crate::kernel::references;
use crate::value::{Buf, Data, Value};

impl Batch<'_> {
    /// The offsets of a level of those that refer to each item of another level.
    pub(super) fn offsets_of_referring(
        &mut self,
        s: SelectionId,
        of: LevelId,
        index: NodeId,
    ) -> Made<Buf<i32>> {
        let (offsets, index) = self.indices(s, of, index)?;
        let mut out: Vec<i32> = self.pool.take(index.len() + 1);
        references::referring_offsets(&offsets, &index, &mut out);
        self.pool.give(index);
        Ok(out.into())
    }

    /// Their positions, for the level's own offsets.
    pub(super) fn selection_vector_of_referring(
        &mut self,
        s: SelectionId,
        of: LevelId,
        index: NodeId,
        lists: &[i32],
    ) -> Made<Buf<u32>> {
        let (offsets, index) = self.indices(s, of, index)?;
        let mut out: Vec<u32> = self
            .pool
            .take(lists.last().map_or(0, |last| *last as usize));
        references::referring(&offsets, &index, lists, &mut out);
        self.pool.give(index);
        Ok(out.into())
    }

    /// See `Op::Ancestor`.
    pub(super) fn ancestor(&mut self, s: SelectionId, node: &Node) -> Made<Value> {
        let (offsets, parent) = self.indices(s, node.level, node.inputs[0])?;
        let kind = self.node(s, node.inputs[1])?;
        let kind: Buf<i64> = self.whole(&kind, parent.len());
        let mut out: Vec<i64> = self.pool.take(parent.len());
        references::ancestors(&offsets, &parent, &kind, &mut out);
        self.pool.give(parent);
        self.pool.give(kind);
        Ok(Value::direct(Data::I64(out.into())))
    }

    /// See `Op::Identified`.
    pub(super) fn identified(&mut self, s: SelectionId, node: &Node) -> Made<Value> {
        let offsets = self.offsets(s, self.plan.graph.node(node.inputs[0]).level)?;
        let items = offsets.last().map_or(0, |last| *last as usize);
        let ids = self.node(s, node.inputs[0])?;
        let ids: Buf<i64> = self.whole(&ids, items);
        let n = self.positions(s, node.level)?;
        let wanted = self.node(s, node.inputs[1])?;
        let rows = self.node(s, node.inputs[2])?;
        let present = [self.presence(&wanted, n), self.presence(&rows, n)];
        let (wanted, rows): (Buf<i64>, _) = (self.whole(&wanted, n), Self::row_numbers(&rows)?);
        let mut out: Vec<i64> = self.pool.take(n);
        references::identified(&offsets, &ids, &wanted, &rows, &mut out);
        for flags in present.into_iter().flatten() {
            for (to, flag) in out.iter_mut().zip(flags.iter()) {
                if *flag == 0 {
                    *to = -1;
                }
            }
        }
        self.pool.give(ids);
        self.pool.give(wanted);
        Ok(Value::direct(Data::I64(out.into())))
    }

    /// A level's offsets, and the numbers at it, where those that are missing are -1.
    fn indices(
        &mut self,
        s: SelectionId,
        level: LevelId,
        index: NodeId,
    ) -> Made<(Buf<i32>, Buf<i64>)> {
        let offsets = self.offsets(s, level)?;
        let index = self.node(s, index)?;
        let items = offsets.last().map_or(0, |last| *last as usize);
        let Some(present) = self.presence(&index, items) else {
            return Ok((offsets, self.whole(&index, items)));
        };
        let mut numbers: Vec<i64> = self.pool.take(items);
        <i64 as crate::chunk::Wide>::read(&index, 0, &mut numbers);
        for (number, present) in numbers.iter_mut().zip(present.iter()) {
            if *present == 0 {
                *number = -1;
            }
        }
        Ok((offsets, numbers.into()))
    }
}
