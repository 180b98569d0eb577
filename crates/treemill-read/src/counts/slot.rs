//! The list ends of one counter, in runs of entries, from whichever branch read them first.

use super::ends::SelectedItems;
use crate::memory::{RESULTS, Spares};
use crate::offsets::append_ends;
use arrow_buffer::{OffsetBuffer, ScalarBuffer};
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

/// Ends of the items of some entries, from 0 on.
#[derive(Debug, Clone)]
pub(super) struct Run {
    pub(super) entries: Range<u64>,
    pub(super) ends: ScalarBuffer<i32>,
    /// The branch that they come from; `None` if they come from several.
    pub(super) by: Option<usize>,
}

impl Run {
    pub(super) fn len(&self) -> u64 {
        self.ends.len() as u64
    }

    /// Whether it has some entries, and an end for each.
    pub(super) fn is_whole(&self) -> bool {
        let entries = self.entries.end.checked_sub(self.entries.start);
        entries.is_some_and(|n| n > 0 && n.checked_add(1) == Some(self.len()))
    }

    /// The selected entries.
    pub(super) fn part(&self, entries: &Range<u64>) -> Option<ScalarBuffer<i32>> {
        if entries.start < self.entries.start || self.entries.end < entries.end {
            return None;
        }
        let from = usize::try_from(entries.start.checked_sub(self.entries.start)?).ok()?;
        let count = usize::try_from(entries.end.checked_sub(entries.start)?).ok()?;
        let len = count.checked_add(1)?;
        (from.checked_add(len)? <= self.ends.len()).then(|| self.ends.slice(from, len))
    }
}

/// The list ends of one counter.
#[derive(Debug)]
pub(super) struct Slot {
    pub(super) counter: usize,
    /// Runs by their first entries.
    pub(super) runs: BTreeMap<u64, Run>,
    /// Entries of all runs.
    pub(super) kept: u64,
    /// The current batch's.
    pub(super) offsets: Option<(Range<u64>, OffsetBuffer<i32>)>,
    pub(super) selected: Vec<Arc<SelectedItems>>,
    pub(super) spares: Spares,
}

impl Drop for Slot {
    /// Leaves memory that nothing else holds to the readers that come later.
    fn drop(&mut self) {
        for (_, run) in std::mem::take(&mut self.runs) {
            let ends = run.ends.into_inner();
            if ends.strong_count() == 1 {
                RESULTS.hold(ends);
            }
        }
        self.spares.clear();
    }
}

impl Slot {
    pub(super) fn new(counter: usize) -> Self {
        Slot {
            counter,
            runs: BTreeMap::new(),
            kept: 0,
            offsets: None,
            selected: Vec::new(),
            spares: Spares::default(),
        }
    }

    /// The run that holds an entry.
    pub(super) fn run(&self, entry: u64) -> Option<&Run> {
        let (_, run) = self.runs.range(..=entry).next_back()?;
        run.entries.contains(&entry).then_some(run)
    }

    /// How many entries these are, if all are known.
    pub(super) fn count(&self, entries: &Range<u64>) -> Option<usize> {
        let mut at = entries.start;
        while at < entries.end {
            at = self.run(at)?.entries.end;
        }
        usize::try_from(entries.end.checked_sub(entries.start)?).ok()
    }

    /// Adds a run, and removes those that lie within it.
    pub(super) fn insert(&mut self, run: Run) {
        let within = self.runs.range(run.entries.clone());
        let within = within.filter(|(_, old)| old.entries.end <= run.entries.end);
        let within: Vec<u64> = within.map(|(&at, _)| at).collect();
        for at in within {
            let old = self.runs.remove(&at).map_or(0, |old| old.len());
            self.kept = self.kept.saturating_sub(old);
        }
        self.kept = self.kept.saturating_add(run.len());
        let hidden = self.runs.insert(run.entries.start, run);
        self.kept = self.kept.saturating_sub(hidden.map_or(0, |old| old.len()));
    }

    /// Keeps about this many entries' ends, and always the run that begins at `kept`.
    pub(super) fn forget(&mut self, most: u64, kept: u64) {
        while self.kept > most && self.runs.len() > 1 {
            let is_first = self
                .runs
                .first_key_value()
                .is_some_and(|(&at, _)| at == kept);
            let gone = match is_first {
                true => self.runs.pop_last(),
                false => self.runs.pop_first(),
            };
            self.kept = self
                .kept
                .saturating_sub(gone.map_or(0, |(_, run)| run.len()));
        }
    }

    /// The branch that all of these entries' ends come from.
    pub(super) fn common_source(&self, entries: &Range<u64>) -> Option<usize> {
        let by = self.run(entries.start)?.by;
        let mut at = entries.start;
        while at < entries.end {
            let run = self.run(at)?;
            by.filter(|_| run.by == by)?;
            at = run.entries.end;
        }
        by
    }

    /// Ends from 0 on, of consecutive runs.
    pub(super) fn join(&self, entries: &Range<u64>, mut joined: Vec<i32>) -> Option<Vec<i32>> {
        joined.push(0);
        let mut at = entries.start;
        while at < entries.end {
            let run = self.run(at)?;
            let stop = run.entries.end.min(entries.end);
            let part = run.part(&(at..stop))?;
            let (&first, later) = part.split_first()?;
            append_ends(&mut joined, first, later)?;
            at = stop;
        }
        Some(joined)
    }
}
