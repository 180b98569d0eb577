//! Combinations in pieces, for programs that need no selection vector of combinations.

use super::tasks::Made;
use super::{Batch, SelectionId};
use crate::compile::combination_items::Item;
use crate::compile::{LevelId, LevelKind};
use crate::error::QueryError;
use crate::kernel::numbered;
use crate::kernel::pieces::{Pieces, ROOM};
use crate::pool::Pool;
use crate::value::Buf;
use std::sync::Arc;

impl Batch<'_> {
    /// The pieces of a level of combinations, and the number of items that are combined.
    pub(super) fn pieces(&mut self, s: SelectionId, level: LevelId) -> Made<(Arc<Pieces>, usize)> {
        let LevelKind::Combinations { of, size } = &self.plan.graph.level(level).kind else {
            return Err(QueryError::mistake("this level has no combinations").into());
        };
        let inner = self.offsets(s, *of)?;
        let items = inner.last().map_or(0, |last| *last as usize);
        if let Some(known) = self.selections[s].pieces.get(&level) {
            return Ok((known.clone(), items));
        }
        // The bound of the level holds here: each piece has at least one combination.
        self.offsets(s, level)?;
        let count = Pieces::count(&inner, *size);
        let room = count + ROOM;
        let fixed = (1..*size).map(|_| self.pool.take(room)).collect();
        let (at, moving) = (self.pool.take(room + 1), self.pool.take(room));
        let made = Arc::new(Pieces::new(&inner, at, fixed, moving));
        self.selections[s].pieces.insert(level, made.clone());
        Ok((made, items))
    }

    /// Positions of the combinations that cuts have left, among all. `None` if nothing was cut.
    pub(super) fn kept_of(&mut self, s: SelectionId, level: LevelId) -> Made<Option<Buf<u32>>> {
        let plan = self.plan;
        let (mut walk, mut kept) = (level, None);
        loop {
            match &plan.graph.level(walk).kind {
                LevelKind::Same { of, .. } => walk = *of,
                LevelKind::Filtered { of, .. } => {
                    let selection_vector = self.selection_vector(s, walk, 0)?;
                    kept = Some(match kept {
                        None => selection_vector,
                        Some(upper) => self.through(&selection_vector, &upper),
                    });
                    walk = *of;
                }
                _ => return Ok(kept),
            }
        }
    }

    /// Numbers of single combinations of each list among all combinations. For a list without, it means nothing.
    pub(super) fn uncut_places(
        &mut self,
        s: SelectionId,
        level: LevelId,
        places: Buf<u32>,
    ) -> Made<Buf<u32>> {
        Ok(match self.kept_of(s, level)? {
            // If nothing was left, there is no item to read.
            Some(kept) if !kept.is_empty() => self.through(&kept, &places),
            _ => places,
        })
    }

    /// Positions of an item of one combination of each list. For a list without, it means nothing.
    pub(super) fn items_at(
        &mut self,
        s: SelectionId,
        item: Item,
        places: &Buf<u32>,
        present: &[u8],
    ) -> Made<Buf<u32>> {
        let which = usize::from(item.which);
        let key = (item.level, places.as_ptr() as usize);
        if let Some((_, known)) = self.selections[s].chosen.get(&key)
            && let Some(known) = known.get(which)
        {
            return Ok(known.clone());
        }
        let LevelKind::Combinations { of, size } = &self.plan.graph.level(item.level).kind else {
            return Err(QueryError::mistake("this level has no combinations").into());
        };
        let inner = self.offsets(s, *of)?;
        let outer = self.offsets(s, item.level)?;
        let mut found: Vec<Vec<u32>> = (0..*size).map(|_| self.pool.take(places.len())).collect();
        numbered::items_of(places, present, [&inner, &outer], &mut found);
        let found: Vec<Buf<u32>> = found.into_iter().map(Buf::from).collect();
        let wanted = found.get(which).cloned();
        self.selections[s]
            .chosen
            .insert(key, (places.clone(), found));
        wanted.ok_or_else(|| QueryError::mistake("a combination has no such item").into())
    }
}

/// Gives buffers back, if this was their last owner.
pub(super) fn give(pieces: Arc<Pieces>, pool: &mut Pool) {
    if let Ok(pieces) = Arc::try_unwrap(pieces) {
        pool.give_vec(pieces.at);
        pool.give_vec(pieces.moving);
        for list in pieces.fixed {
            pool.give_vec(list);
        }
    }
}
