//! Offsets of levels: where each list starts among all items.

use super::tasks::{Halt, Made, Task};
use super::{Batch, SelectionId};
use crate::chunk::Wide;
use crate::compile::{EVENT, LevelId, LevelKind};
use crate::error::{ProcessError, QueryError};
use crate::kernel::{arrangements, gather, masks, tuples};
use crate::limits::{EXPANDED_OF_ONE, EXPANDED_TOGETHER, LEVEL_ITEMS};
use crate::value::{Buf, Data, Value, View};

impl Batch<'_> {
    pub(super) fn make_offsets(&mut self, s: SelectionId, level: LevelId) -> Made<Buf<i32>> {
        let plan = self.plan;
        // Known for a wider selection of events.
        let mut outer = self.selections[s].parent;
        while let Some(from) = outer {
            if let Some(offsets) = self.selections[from].offsets.get(&level).cloned() {
                return self.offsets_within(s, level, from, &offsets);
            }
            outer = self.selections[from].parent;
        }
        let kind = &plan.graph.level(level).kind;
        match kind {
            LevelKind::Event => {
                let events = self.selections[s].events;
                Ok(vec![0, i32::try_from(events).unwrap_or(i32::MAX)].into())
            }
            LevelKind::Items { .. } => {
                let place = self.selection_of_level(s, level);
                if place != s {
                    return Err(Halt::Need(place, Task::Offsets(level)));
                }
                self.offsets_of_items(s, level)
            }
            LevelKind::Inner { column } if s == 0 => {
                let column = plan.column_of.get(column);
                let node = column.and_then(|column| plan.node_of(*column));
                let Some(node) = node else {
                    return Err(QueryError::mistake("a list's length cannot be known").into());
                };
                // Loading it gives the offsets.
                self.node(0, node)?;
                self.offsets(0, level)
            }
            LevelKind::Inner { .. } => Err(Halt::Need(0, Task::Offsets(level))),
            LevelKind::Fixed(len) => {
                let lists = self.positions(s, plan.graph.parent(level))?;
                let total = lists.checked_mul(*len as usize);
                if total.is_none_or(|total| total > LEVEL_ITEMS) {
                    return Err(too_many().into());
                }
                let mut offsets: Vec<i32> = self.pool.take(lists + 1);
                for (i, to) in offsets.iter_mut().enumerate() {
                    *to = (i * *len as usize) as i32;
                }
                Ok(offsets.into())
            }
            LevelKind::Filtered { of, mask } => {
                if let Some(offsets) = self.kept_offsets(s, level, *of, *mask)? {
                    return Ok(offsets);
                }
                let inner = self.offsets(s, *of)?;
                let mask = self.node(s, *mask)?;
                let items = inner.last().map_or(0, |last| *last as usize);
                let mut offsets: Vec<i32> = self.pool.take(inner.len());
                match u8::direct(&mask) {
                    Some(bytes) => {
                        masks::kept_offsets(&bytes[..items], &inner, &mut offsets);
                    }
                    None => {
                        let mut bytes: Vec<u8> = self.pool.take(items);
                        u8::read(&mask, 0, &mut bytes);
                        masks::kept_offsets(&bytes, &inner, &mut offsets);
                        self.pool.give_vec(bytes);
                    }
                }
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
                    // A slice has no more items than its list.
                    sum += count as i32;
                    *to = sum;
                }
                Ok(offsets.into())
            }
            LevelKind::Same { of, .. } | LevelKind::Sorted { of, .. } => self.offsets(s, *of),
            LevelKind::Flat { of } => self.flat_offsets(s, level, *of),
            LevelKind::Returned { lengths } => {
                let lengths = self.node(s, *lengths)?;
                let lists = self.positions(s, plan.graph.parent(level))?;
                let lengths = self.whole::<i64>(&lengths, lists);
                let mut offsets: Vec<i32> = self.pool.take(lists + 1);
                let mut sum = 0_i64;
                offsets[0] = 0;
                for (to, length) in offsets[1..].iter_mut().zip(lengths.iter()) {
                    // Lengths are checked where they come from.
                    sum += length;
                    *to = i32::try_from(sum).map_err(|_| too_many())?;
                }
                Ok(offsets.into())
            }
            LevelKind::Product { of, list } => {
                let inner = self.offsets(s, *of)?;
                let lists = self.node(s, *list)?;
                let n = self.positions(s, plan.graph.parent(level))?;
                let selection_vector = Self::row_numbers(&lists)?;
                let mut offsets: Vec<i32> = self.pool.take(n + 1);
                let present = lists.valid.as_deref();
                let total =
                    tuples::repeated_offsets(&inner, &selection_vector, present, &mut offsets);
                self.bounded(s, level, n, total)?;
                Ok(offsets.into())
            }
            LevelKind::Counted { count } => {
                let n = self.positions(s, plan.graph.parent(level))?;
                let counts = self.node(s, *count)?;
                let present = self.presence(&counts, n);
                let counts: Buf<i64> = self.whole(&counts, n);
                let mut offsets: Vec<i32> = self.pool.take(n + 1);
                let total = tuples::counted_offsets(&counts, present.as_deref(), &mut offsets);
                self.pool.give(counts);
                self.bounded(s, level, n, total)?;
                Ok(offsets.into())
            }
            LevelKind::Referring { of, index } => self.offsets_of_referring(s, *of, *index),
            LevelKind::Combinations { of, size } => {
                let inner = self.offsets(s, *of)?;
                let mut offsets: Vec<i32> = self.pool.take(inner.len());
                let total = tuples::combination_offsets(&inner, *size, &mut offsets);
                self.bounded(s, level, inner.len() - 1, total)?;
                Ok(offsets.into())
            }
            LevelKind::Arrangements { of, size, ordered } => {
                let inner = self.offsets(s, *of)?;
                let mut offsets: Vec<i32> = self.pool.take(inner.len());
                let total = arrangements::offsets(&inner, *size, *ordered, &mut offsets);
                self.bounded(s, level, inner.len() - 1, total)?;
                Ok(offsets.into())
            }
            LevelKind::Joined { parts } => {
                let mut lists = Vec::with_capacity(parts.len());
                for part in parts {
                    lists.push(self.offsets(s, *part)?);
                }
                let mut offsets: Vec<i32> = self.pool.take(lists[0].len());
                offsets.fill(0);
                for list in &lists {
                    for (to, offset) in offsets.iter_mut().zip(list.iter()) {
                        *to = to.checked_add(*offset).ok_or_else(too_many)?;
                    }
                }
                Ok(offsets.into())
            }
            LevelKind::Zipped { parts } => {
                let mut lists = Vec::with_capacity(parts.len());
                for part in parts {
                    lists.push(self.offsets(s, *part)?);
                }
                let mut offsets: Vec<i32> = self.pool.take(lists[0].len());
                offsets[0] = 0;
                for i in 1..offsets.len() {
                    let lengths = lists.iter().map(|list| list[i] - list[i - 1]);
                    offsets[i] = offsets[i - 1] + lengths.min().unwrap_or(0);
                }
                Ok(offsets.into())
            }
        }
    }

    /// Nested lists as single lists, from the level up to below the parent of `level`.
    fn flat_offsets(&mut self, s: SelectionId, level: LevelId, of: LevelId) -> Made<Buf<i32>> {
        let parent = self.plan.graph.parent(level);
        let mut flat = self.offsets(s, of)?;
        let mut walk = self.plan.graph.parent(of);
        while walk != parent && walk != EVENT {
            let outer = self.offsets(s, walk)?;
            let mut offsets: Vec<i32> = self.pool.take(outer.len());
            for (to, offset) in offsets.iter_mut().zip(outer.iter()) {
                *to = flat[*offset as usize];
            }
            flat = offsets.into();
            walk = self.plan.graph.parent(walk);
        }
        Ok(flat)
    }

    /// Levels that multiply items are bounded, for many events together and for one event.
    fn bounded(&self, s: SelectionId, level: LevelId, lists: usize, total: u64) -> Made<()> {
        let events = self.selections[s].events;
        if total <= EXPANDED_TOGETHER || (events == 1 && total <= EXPANDED_OF_ONE) {
            return Ok(());
        }
        let what = self.plan.describe(level).to_owned();
        let message = format!(
            "{total} {what}, from {lists} lists; at most {EXPANDED_OF_ONE} are made of one event: \
             cut on the items before they are combined"
        );
        Err(Halt::Error(ProcessError::TooMany { message }))
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
        gather::selected_offsets(offsets, &lists, &mut out);
        Ok(out.into())
    }

    /// The numbers of positions, from `Op::Row` and its moves.
    pub(super) fn row_numbers(rows: &Value) -> Made<Buf<u32>> {
        match (&rows.view, &rows.data) {
            // Rows are numbered from 0: through a selection vector, they are the vector itself.
            (View::Selected(selection_vector), _) => Ok(selection_vector.clone()),
            (View::Direct, Data::U32(rows)) => Ok(rows.clone()),
            _ => Err(QueryError::mistake("the lengths of lists are no numbers").into()),
        }
    }

    /// Offsets of list columns for the events that they are read for: from a column that is there, else from the
    /// counter, else from the first column that the query needs.
    fn offsets_of_items(&mut self, s: SelectionId, level: LevelId) -> Made<Buf<i32>> {
        let plan = self.plan;
        let Some(source) = plan.sources.get(&level) else {
            return Err(QueryError::mistake("a list's length cannot be known").into());
        };
        if let Some(counter) = source.counter {
            let counts = match plan.node_of(counter) {
                Some(node) => self.node(s, node)?,
                None => self.load_column(s, counter)?,
            };
            let events = self.selections[s].events;
            let mut sum = 0_i64;
            let mut offsets: Vec<i32> = self.pool.take(events + 1);
            offsets[0] = 0;
            let mut numbers: Vec<i64> = self.pool.take(events);
            i64::read(&counts, 0, &mut numbers);
            // A count that is missing counts nothing.
            if let Some(present) = &counts.valid {
                for (n, present) in numbers.iter_mut().zip(present.iter()) {
                    *n *= i64::from(*present);
                }
            }
            for (to, n) in offsets[1..].iter_mut().zip(&numbers) {
                if *n < 0 || *n > LEVEL_ITEMS as i64 {
                    let name = &plan.fields[counter].name;
                    let message = format!("{name} counts {n} items in an event");
                    return Err(QueryError::data(message).into());
                }
                sum += n;
                *to = i32::try_from(sum).map_err(|_| too_many())?;
            }
            self.pool.give_vec(numbers);
            return Ok(offsets.into());
        }
        let Some(member) = source.members.first().copied() else {
            return Err(QueryError::mistake("a list's length cannot be known").into());
        };
        // Loading it gives the offsets. Its values are kept if they are wanted, too.
        if let Some(node) = plan.node_of(member) {
            self.node(s, node)?;
        } else {
            self.load_column(s, member)?;
        }
        self.offsets(s, level)
    }
}

fn too_many() -> QueryError {
    QueryError::limit(format!(
        "the lists of one batch have more than {LEVEL_ITEMS} items"
    ))
}
