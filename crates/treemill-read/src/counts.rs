//! Lengths of lists, shared by all branches of a reader that have the same counter. The first branch that reads
//! a basket records the lengths; the others' entry offsets say the same and need not be decompressed.
//!
//! Knows neither bytes nor files. That the branches of a counter agree is a promise of the file, and is
//! verified: a branch's first basket must show it ([`Proofs`]), and each basket must have as many bytes as its
//! items need.

mod ends;
mod kept;
mod slot;

pub(crate) use ends::{Ends, ends_of_counts, ends_of_starts};
pub(crate) use kept::Kept;

use crate::limits::{COUNTED_ENTRIES, COUNTED_SELECTIONS};
use arrow_buffer::{OffsetBuffer, ScalarBuffer};
use ends::{SelectedItems, select};
use slot::{Run, Slot};
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

/// How a reader's branch is related to the counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// It shares them with no branch: no other has its counts, or they contradict it.
    Alone,
    /// Its entries have as many items of `size` bytes as the counter of this slot says.
    Items { slot: usize, size: usize },
    /// It is the counter of this slot.
    Counter { slot: usize },
}

/// Records which branches of a file have entries as long as their counter's other branches, and which counters
/// are contradicted. Shared by all readers of the file.
#[derive(Debug, Default)]
pub(crate) struct Proofs(Vec<AtomicU8>);

const SHOWN: u8 = 1;
const REFUTED: u8 = 2;

impl Proofs {
    pub(crate) fn new(branches: usize) -> Self {
        Proofs((0..branches).map(|_| AtomicU8::new(0)).collect())
    }

    fn has(&self, branch: usize, mark: u8) -> bool {
        let marks = self.0.get(branch);
        marks.is_some_and(|marks| marks.load(Ordering::Relaxed) & mark != 0)
    }

    fn set(&self, branch: usize, mark: u8) {
        if let Some(marks) = self.0.get(branch) {
            marks.fetch_or(mark, Ordering::Relaxed);
        }
    }

    /// A basket of this branch agreed with the counts.
    pub(crate) fn show(&self, branch: usize) {
        self.set(branch, SHOWN);
    }

    pub(crate) fn is_shown(&self, branch: usize) -> bool {
        self.has(branch, SHOWN)
    }
}

/// The counts of a reader's counters.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    slots: Vec<Slot>,
}

impl Counts {
    /// Empty counts for a reader of these branches, and each branch's role. `counted` gives the counter and the
    /// item size of a branch whose entries are only items of a fixed size.
    pub(crate) fn new(
        proofs: &Proofs,
        branches: &[usize],
        counted: impl Fn(usize) -> Option<(usize, usize)>,
    ) -> (Self, Vec<Role>) {
        let items: Vec<_> = branches.iter().map(|&branch| counted(branch)).collect();
        let mut users: HashMap<usize, usize> = HashMap::new();
        for &(counter, _) in items.iter().flatten() {
            let of = users.entry(counter).or_default();
            *of = of.saturating_add(1);
        }
        for branch in branches {
            // A counter that is read itself gives the counts, too.
            users
                .entry(*branch)
                .and_modify(|n| *n = n.saturating_add(1));
        }
        let mut slots: Vec<Slot> = Vec::new();
        let mut slot_of = HashMap::new();
        let mut slot = |counter: usize| {
            let shared = users.get(&counter).is_some_and(|&n| n > 1);
            let obeyed = !proofs.has(counter, REFUTED);
            (shared && obeyed).then(|| {
                *slot_of.entry(counter).or_insert_with(|| {
                    slots.push(Slot::new(counter));
                    slots.len().saturating_sub(1)
                })
            })
        };
        let roles = branches.iter().zip(&items).map(|(&branch, items)| {
            let role = match *items {
                Some((counter, size)) => slot(counter).map(|slot| Role::Items { slot, size }),
                None => slot(branch).map(|slot| Role::Counter { slot }),
            };
            role.unwrap_or(Role::Alone)
        });
        let roles = roles.collect();
        (Counts { slots }, roles)
    }

    /// The ends of the items of these entries, if they are known.
    pub(crate) fn known(&self, slot: usize, entries: &Range<u64>) -> Option<Ends> {
        let slot = self.slots.get(slot)?;
        let part = slot.run(entries.start).and_then(|run| run.part(entries));
        let ends = match part {
            Some(part) => part,
            None => slot.join(entries, Vec::new())?.into(),
        };
        let by = slot.common_source(entries);
        Some(Ends { ends, by })
    }

    /// Takes the ends of these entries from earlier readers of the file.
    pub(crate) fn recall(&mut self, slot: usize, entries: &Range<u64>, kept: &Kept) {
        if self.known(slot, entries).is_some() {
            return;
        }
        let Some(slot) = self.slots.get_mut(slot) else {
            return;
        };
        for run in kept.of(slot.counter, entries) {
            let first = run.entries.start;
            slot.insert(run);
            slot.forget(COUNTED_ENTRIES, first);
        }
    }

    /// Records the ends of the items of these entries, which the branch `by` has. With `kept`, later readers get
    /// them, too.
    pub(crate) fn learn(
        &mut self,
        slot: usize,
        by: usize,
        entries: Range<u64>,
        ends: Vec<i32>,
        kept: Option<&Kept>,
    ) {
        let Some(slot) = self.slots.get_mut(slot) else {
            return;
        };
        let first = entries.start;
        let ends = ends.into();
        let run = Run {
            entries,
            ends,
            by: Some(by),
        };
        if !run.is_whole() {
            return;
        }
        if let Some(kept) = kept {
            kept.keep(slot.counter, &run);
            slot.insert(run);
            slot.forget(COUNTED_ENTRIES, first);
        } else {
            slot.insert(run);
        }
    }

    /// List offsets of these entries, from 0 on, in a buffer that all callers share; `None` if they are not
    /// known. `all` as in [`Counts::learn`].
    pub(crate) fn offsets(
        &mut self,
        slot: usize,
        entries: &Range<u64>,
        all: bool,
    ) -> Option<OffsetBuffer<i32>> {
        let slot = self.slots.get_mut(slot)?;
        if let Some((of, offsets)) = &slot.offsets
            && of == entries
        {
            return Some(offsets.clone());
        }
        slot.offsets = None;
        let exact = slot
            .run(entries.start)
            .filter(|run| run.entries == *entries);
        let found = match exact {
            Some(run) => run.ends.clone(),
            None => {
                // Memory is taken for what is there only.
                let count = slot.count(entries)?;
                let room = slot.spares.vec(count.checked_add(1)?);
                let made = ScalarBuffer::from(slot.join(entries, room)?);
                if all {
                    // The results hold them; what they were made of is not needed beside them.
                    let by = slot.common_source(entries);
                    let (entries, ends) = (entries.clone(), made.clone());
                    slot.insert(Run { entries, ends, by });
                } else {
                    slot.spares.hold(made.inner());
                }
                made
            }
        };
        let offsets = treemill_native::offsets::ascending(found)?;
        slot.offsets = Some((entries.clone(), offsets.clone()));
        Some(offsets)
    }

    /// The items of the entries at `rows`, which count from entry `first`, in a basket with the entries `held`
    /// and the list ends `ends`. `None` if the basket has no such entry.
    pub(crate) fn selected(
        &mut self,
        slot: usize,
        held: &Range<u64>,
        ends: &Ends,
        first: u64,
        rows: &[u32],
    ) -> Option<Arc<SelectedItems>> {
        let slot = self.slots.get_mut(slot)?;
        let is_known = |selected: &&Arc<SelectedItems>| {
            (&selected.held, selected.first) == (held, first) && selected.rows == rows
        };
        if let Some(selected) = slot.selected.iter().find(is_known) {
            return Some(Arc::clone(selected));
        }
        let selected = Arc::new(select(held, ends, first, rows)?);
        if slot.selected.len() >= COUNTED_SELECTIONS {
            slot.selected.remove(0);
        }
        slot.selected.push(Arc::clone(&selected));
        Some(selected)
    }

    /// Records that a branch contradicts the counts: from now on no reader of this file uses this counter's.
    pub(crate) fn refute(&self, slot: usize, proofs: &Proofs) {
        if let Some(slot) = self.slots.get(slot) {
            proofs.set(slot.counter, REFUTED);
        }
    }

    /// Whether no branch contradicted this counter's others.
    pub(crate) fn are_obeyed(&self, slot: usize, proofs: &Proofs) -> bool {
        let slot = self.slots.get(slot);
        slot.is_some_and(|slot| !proofs.has(slot.counter, REFUTED))
    }
}

#[cfg(test)]
mod tests;
