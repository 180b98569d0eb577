//! Filters: which events of a batch pass them, and for which events columns are read (late
//! materialisation).

use super::tasks::Task;
use super::{Batch, Selection, SelectionId};
use crate::chunk::Wide;
use crate::compile::{EVENT, LevelId, NodeId};
use crate::error::ProcessError;
use crate::kernel::masks;
use crate::limits::{FEW_EVENTS, NARROW_EVENTS};
use crate::value::{Buf, Value};

/// Whether these ascending positions are few of `n`, or close together.
fn are_few(positions: &[u32], n: usize) -> bool {
    let span = match (positions.first(), positions.last()) {
        (Some(first), Some(last)) => (last - first) as usize + 1,
        _ => 0,
    };
    positions.len() <= n / FEW_EVENTS || span <= n / NARROW_EVENTS
}

/// A filter, and what its events are for.
#[derive(Clone, Copy)]
pub(crate) struct Condition {
    pub mask: NodeId,
    /// Whether a booking or a definition uses these events, not only another condition.
    pub is_end: bool,
    /// Whether several selections are made of these events.
    pub is_shared: bool,
}

/// The events that passed the filters so far.
#[derive(Default)]
pub(super) struct Passed {
    /// The events that each cut has left, by its number. Cut 0 is the whole batch.
    cuts: Vec<Option<Reached>>,
    /// Whether list columns come for whole batches.
    pub has_whole_lists: bool,
}

/// Events that a cut has left.
#[derive(Clone)]
struct Reached {
    selection: SelectionId,
    /// A flag for each event of the selection: as long as most events are left, no new selection is made.
    among: Option<Buf<u8>>,
}

impl Batch<'_> {
    /// Forgets all cuts; `cuts` cuts are to come. Cut 0 becomes `root`.
    pub fn start(&mut self, root: SelectionId, cuts: usize) {
        let reached = Reached {
            selection: root,
            among: None,
        };
        let some = self.selections[root].events > 0;
        for reached in self.passed.cuts.drain(..).flatten() {
            if let Some(among) = reached.among {
                self.pool.give(among);
            }
        }
        self.passed.cuts.push(some.then_some(reached));
        self.passed.cuts.resize(cuts + 1, None);
    }

    /// The selection of the events of a cut that `is_end`, or `None` if no event has passed.
    pub fn reached(&self, cut: usize) -> Option<SelectionId> {
        let reached = self.passed.cuts.get(cut)?.as_ref()?;
        Some(reached.selection)
    }

    /// Adds the cut of this number, which passes all that the cut `above` does.
    pub fn as_above(&mut self, number: usize, above: usize) {
        let reached = self.passed.cuts.get(above).cloned().flatten();
        self.set(number, reached);
    }

    fn set(&mut self, number: usize, reached: Option<Reached>) {
        if let Some(to) = self.passed.cuts.get_mut(number) {
            *to = reached;
        }
    }

    /// The places of a selection's events in the batch; `None` if columns are read for all events because these are
    /// many.
    pub fn few_places(&mut self, selection: SelectionId) -> Option<Vec<u32>> {
        if selection == 0 {
            return None;
        }
        self.run(selection, Task::Items(EVENT, 0)).ok()?;
        let found = self.selections.get(selection)?.items.get(&(EVENT, 0))?;
        are_few(found, self.rows).then(|| found.to_vec())
    }

    /// Adds the cut of this number: the events that passed the cut `above`, and for which a condition holds.
    pub fn cut(
        &mut self,
        number: usize,
        above: usize,
        condition: Condition,
    ) -> Result<(), ProcessError> {
        let reached = match self.passed.cuts.get(above).cloned().flatten() {
            None => None,
            Some(above) => self.passing(&above, condition)?,
        };
        self.set(number, reached);
        Ok(())
    }

    fn passing(
        &mut self,
        above: &Reached,
        condition: Condition,
    ) -> Result<Option<Reached>, ProcessError> {
        let from = above.selection;
        let value = self.value(from, condition.mask)?;
        let n = self.selections[from].events;
        let flags = self.holds(&value, above.among.as_ref(), n);
        let mut positions: Vec<u32> = self.pool.take(n);
        let count = masks::positions(&flags, &mut positions);
        let positions = self.pool.first(positions, count);
        if count == 0 || count == n || !(condition.is_end || are_few(&positions, n)) {
            self.pool.give_vec(positions);
            let all = count == n;
            return Ok((count > 0).then(|| Reached {
                selection: from,
                among: (!all).then(|| flags.into()),
            }));
        }
        self.pool.give_vec(flags);
        let mut selection = Selection::new(Some(from), positions.len());
        selection.is_shared = condition.is_shared;
        selection.items.insert((EVENT, from), positions.into());
        self.selections.push(selection);
        Ok(Some(Reached {
            selection: self.selections.len() - 1,
            among: None,
        }))
    }

    /// A mask of `n` events: 1 if the condition is true and not missing, and the event is among some.
    fn holds(&mut self, mask: &Value, among: Option<&Buf<u8>>, n: usize) -> Vec<u8> {
        let mut flags: Vec<u8> = self.pool.take(n);
        u8::read(mask, 0, &mut flags);
        match &mask.valid {
            Some(present) if mask.is_scalar() => {
                let present = present[0];
                flags.iter_mut().for_each(|flag| *flag &= present);
            }
            Some(present) => both(&mut flags, present),
            None => (),
        }
        if let Some(among) = among {
            both(&mut flags, among);
        }
        flags
    }

    /// The selection for which a column is read that is wanted at `s`.
    pub(super) fn selection_of_column(&self, s: SelectionId, column: usize) -> SelectionId {
        let is_whole = match self.plan.fields[column].column_type.is_list() {
            true => self.passed.has_whole_lists,
            false => !self.columns.can_select(column),
        };
        match self.plan.placement.columns.get(column) {
            Some(cut) if !is_whole => self.selection_of_cut(s, *cut),
            _ => 0,
        }
    }

    /// The selection for which the lengths of lists are read that are wanted at `s`.
    pub(super) fn selection_of_level(&self, s: SelectionId, level: LevelId) -> SelectionId {
        match self.plan.placement.levels.get(&level) {
            Some(cut) if !self.passed.has_whole_lists => self.selection_of_cut(s, *cut),
            _ => 0,
        }
    }

    /// The selection of a cut if it has left few events and `s` is within it, else the batch.
    fn selection_of_cut(&self, s: SelectionId, cut: usize) -> SelectionId {
        let Some(place) = self.reached(cut).filter(|_| cut > 0) else {
            return 0;
        };
        let selection = &self.selections[place];
        let few = match selection.items.get(&(EVENT, 0)) {
            Some(positions) => are_few(positions, self.rows),
            None => selection.events <= self.rows / FEW_EVENTS,
        };
        if !few {
            return 0;
        }
        let mut walk = Some(s);
        while let Some(selection) = walk {
            if selection == place {
                return place;
            }
            walk = self.selections[selection].parent;
        }
        0
    }

    /// Whether some list column comes for whole batches. Then all do, because they share their lengths.
    pub(super) fn has_whole_lists(&self) -> bool {
        let fields = self.plan.fields.iter().enumerate();
        let mut lists = fields.filter(|(_, field)| field.column_type.is_list());
        lists.any(|(column, _)| !self.columns.can_select(column))
    }
}

fn both(flags: &mut [u8], others: &[u8]) {
    for (flag, other) in flags.iter_mut().zip(others) {
        *flag &= other;
    }
}
