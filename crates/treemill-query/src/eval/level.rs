//! Offsets of levels, and positions of what they are made of.

use super::{Batch, Halt, Made, SelectionId, Task};
use crate::chunk::Wide;
use crate::compile::{EVENT, LevelId, LevelKind, NodeId};
use crate::error::{ProcessError, QueryError};
use crate::kernel::gather;
use crate::load::load;
use crate::value::{Buf, Value};

/// Items that a level may have in one batch.
const MOST_ITEMS: usize = i32::MAX as usize;

impl Batch<'_> {
    /// Positions (of `n`) at which a condition is true and not missing.
    pub(super) fn kept(&mut self, mask: &Value, n: usize) -> Vec<u32> {
        let mut positions: Vec<u32> = self.pool.take(n);
        let present = mask.valid.as_deref();
        let count = match (u8::direct(mask), present) {
            (Some(mask), None) => gather::positions(&mask[..n], &mut positions),
            _ => {
                let mut bytes: Vec<u8> = self.pool.take(n);
                u8::read(mask, 0, &mut bytes);
                if let Some(present) = present {
                    for (i, byte) in bytes.iter_mut().enumerate() {
                        *byte &= present[if mask.is_scalar() { 0 } else { i }];
                    }
                }
                let count = gather::positions(&bytes, &mut positions);
                self.pool.give_vec(bytes);
                count
            }
        };
        positions.truncate(count);
        positions
    }

    /// A batch's column, as a whole.
    pub(super) fn load_column(&mut self, column: usize) -> Made<Value> {
        let plan = self.plan;
        let field = &plan.fields[column];
        let array = self
            .columns
            .column(column)
            .map_err(|error| Halt::Error(ProcessError::Column(error)))?;
        let loaded = load(&array, field, self.rows)
            .map_err(|what| QueryError::new(format!("the column {}: {what}", field.name)))?;
        if let Some(offsets) = loaded.offsets {
            let level = plan.level_of(column);
            let known = level.and_then(|level| self.selections[0].offsets.get(&level));
            match (level, known) {
                (Some(_), Some(known)) if !same(known, &offsets) => {
                    let message = format!(
                        "the column {} has lists of other lengths than the columns beside it",
                        field.name
                    );
                    return Err(QueryError::new(message).into());
                }
                (Some(level), None) => {
                    self.selections[0].offsets.insert(level, offsets);
                }
                _ => (),
            }
        }
        Ok(loaded.value)
    }

    pub(super) fn make_offsets(&mut self, s: SelectionId, level: LevelId) -> Made<Buf<i32>> {
        let plan = self.plan;
        // Known for more events.
        let mut outer = self.selections[s].parent;
        while let Some(from) = outer {
            if let Some(offsets) = self.selections[from].offsets.get(&level).cloned() {
                return self.offsets_within(s, level, from, &offsets);
            }
            outer = self.selections[from].parent;
        }
        match &plan.graph.level(level).kind {
            LevelKind::Event => {
                let events = self.selections[s].events;
                Ok(vec![0, i32::try_from(events).unwrap_or(i32::MAX)].into())
            }
            LevelKind::Items { .. } if s == 0 => self.offsets_of_items(level),
            // Whole batches first: columns come for whole batches.
            LevelKind::Items { .. } => Err(Halt::Need(0, Task::Offsets(level))),
            LevelKind::Fixed(len) => {
                let lists = self.positions(s, plan.graph.parent(level))?;
                let total = lists.checked_mul(*len as usize);
                if total.is_none_or(|total| total > MOST_ITEMS) {
                    return Err(too_many().into());
                }
                let mut offsets: Vec<i32> = self.pool.take(lists + 1);
                for (i, to) in offsets.iter_mut().enumerate() {
                    *to = (i * *len as usize) as i32;
                }
                Ok(offsets.into())
            }
            LevelKind::Filtered { of, mask } => {
                let inner = self.offsets(s, *of)?;
                let mask = self.node(s, *mask)?;
                let items = inner.last().map_or(0, |last| *last as usize);
                let mut bytes: Vec<u8> = self.pool.take(items);
                u8::read(&mask, 0, &mut bytes);
                let mut sums: Vec<i32> = self.pool.take(items + 1);
                let mut offsets: Vec<i32> = self.pool.take(inner.len());
                gather::kept_offsets(&bytes, &inner, &mut sums, &mut offsets);
                self.pool.give_vec(bytes);
                self.pool.give_vec(sums);
                Ok(offsets.into())
            }
            LevelKind::Sliced {
                of,
                lower,
                upper,
                step,
            } => {
                let inner = self.offsets(s, *of)?;
                let mut offsets: Vec<i32> = self.pool.take(inner.len());
                let mut sum = 0;
                offsets[0] = 0;
                for (to, ends) in offsets[1..].iter_mut().zip(inner.windows(2)) {
                    let len = i64::from(ends[1] - ends[0]);
                    let (_, count) = gather::slice(len, *lower, *upper, *step);
                    // Not more than there are in the list.
                    sum += count as i32;
                    *to = sum;
                }
                Ok(offsets.into())
            }
        }
    }

    fn offsets_within(
        &mut self,
        s: SelectionId,
        level: LevelId,
        from: SelectionId,
        offsets: &[i32],
    ) -> Made<Buf<i32>> {
        let parent = self.plan.graph.parent(level);
        let lists = self.items(s, parent, from)?;
        let mut out: Vec<i32> = self.pool.take(lists.len() + 1);
        gather::picked_offsets(offsets, &lists, &mut out);
        Ok(out.into())
    }

    /// Offsets of list columns for the whole batch: of a column that is there, else from the
    /// counter, else of the first column that the query needs.
    fn offsets_of_items(&mut self, level: LevelId) -> Made<Buf<i32>> {
        let plan = self.plan;
        let Some(source) = plan.sources.get(&level) else {
            return Err(QueryError::new("a list's length cannot be known").into());
        };
        if let Some(counter) = source.counter {
            let counts = match plan.node_of(counter) {
                Some(node) => self.node(0, node)?,
                None => self.load_column(counter)?,
            };
            let mut sum = 0_i64;
            let mut offsets: Vec<i32> = self.pool.take(self.rows + 1);
            offsets[0] = 0;
            let mut numbers: Vec<i64> = self.pool.take(self.rows);
            i64::read(&counts, 0, &mut numbers);
            // A count that is missing counts nothing.
            if let Some(present) = &counts.valid {
                for (n, present) in numbers.iter_mut().zip(present.iter()) {
                    *n *= i64::from(*present);
                }
            }
            for (to, n) in offsets[1..].iter_mut().zip(&numbers) {
                if *n < 0 || *n > MOST_ITEMS as i64 {
                    let name = &plan.fields[counter].name;
                    let message = format!("{name} counts {n} items in an event");
                    return Err(QueryError::new(message).into());
                }
                sum += n;
                *to = i32::try_from(sum).map_err(|_| too_many())?;
            }
            self.pool.give_vec(numbers);
            return Ok(offsets.into());
        }
        let Some(member) = source.members.first().copied() else {
            return Err(QueryError::new("a list's length cannot be known").into());
        };
        // Loading it tells the offsets; its values are kept where they are wanted as well.
        if let Some(node) = plan.node_of(member) {
            self.node(0, node)?;
        } else {
            self.load_column(member)?;
        }
        self.offsets(0, level)
    }

    pub(super) fn make_picks(&mut self, s: SelectionId, level: LevelId) -> Made<Buf<u32>> {
        match &self.plan.graph.level(level).kind {
            LevelKind::Filtered { of, mask } => {
                let mask = self.node(s, *mask)?;
                let n = if mask.is_scalar() {
                    self.positions(s, *of)?
                } else {
                    mask.len()
                };
                Ok(self.kept(&mask, n).into())
            }
            LevelKind::Sliced {
                of,
                lower,
                upper,
                step,
            } => {
                let inner = self.offsets(s, *of)?;
                let outer = self.offsets(s, level)?;
                let total = outer.last().map_or(0, |last| *last as usize);
                let mut picks: Vec<u32> = self.pool.take(total);
                let mut at = 0;
                for ends in inner.windows(2) {
                    let len = i64::from(ends[1] - ends[0]);
                    let (first, count) = gather::slice(len, *lower, *upper, *step);
                    let mut item = i64::from(ends[0]) + first;
                    for to in &mut picks[at..at + count as usize] {
                        *to = item as u32;
                        item = item.wrapping_add(*step);
                    }
                    at += count as usize;
                }
                Ok(picks.into())
            }
            _ => Err(QueryError::new("this level picks nothing").into()),
        }
    }

    pub(super) fn make_parents(&mut self, s: SelectionId, level: LevelId) -> Made<Buf<u32>> {
        let offsets = self.offsets(s, level)?;
        let items = offsets.last().map_or(0, |last| *last as usize);
        let mut parents: Vec<u32> = self.pool.take(items);
        gather::parents(&offsets, &mut parents);
        Ok(parents.into())
    }

    /// Number of positions of a level.
    pub(super) fn positions(&mut self, s: SelectionId, level: LevelId) -> Made<usize> {
        if level == EVENT {
            return Ok(self.selections[s].events);
        }
        let offsets = self.offsets(s, level)?;
        Ok(offsets.last().map_or(0, |last| *last as usize))
    }
}

impl super::Plan {
    /// The level of a list column, if the query has one for it.
    fn level_of(&self, column: usize) -> Option<LevelId> {
        self.sources
            .iter()
            .find(|(_, source)| source.members.contains(&column))
            .map(|(level, _)| *level)
    }

    /// A level in words.
    pub(super) fn describe(&self, level: LevelId) -> &str {
        let name = self.level_names.get(level as usize);
        name.map_or("some lists", String::as_str)
    }

    /// The node that stands for a column, if expressions use it.
    fn node_of(&self, column: usize) -> Option<NodeId> {
        self.column_nodes.get(&column).copied()
    }
}

pub(super) fn same(a: &Buf<i32>, b: &Buf<i32>) -> bool {
    if let (Buf::Column(a), Buf::Column(b)) = (a, b)
        && a.inner().as_ptr() == b.inner().as_ptr()
        && a.len() == b.len()
    {
        return true;
    }
    a[..] == b[..]
}

fn too_many() -> QueryError {
    QueryError::new(format!("more than {MOST_ITEMS} items in one batch"))
}
