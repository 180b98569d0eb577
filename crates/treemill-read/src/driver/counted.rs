//! A branch's cursor and its counter: entry starts from the counter's values, and list ends that branches of
//! one counter share (`counts.rs`).

use super::{Cursor, Loaded};
use crate::checks::run;
use crate::context::Context;
use crate::counts::{Ends, Role, ends_of_counts, ends_of_starts};
use crate::decode::{Column, Items, append, starts};
use crate::faults::malformed;
use crate::memory::Spares;
use crate::{ReadError, TreeFile};
use arrow_array::ArrayRef;
use std::ops::Range;
use tracing::trace_span;
use treemill_format::layout::Layout;
use treemill_format::tree::Branch;

impl Cursor {
    /// The entries of `range` as lists that share their offsets with the counter's other branches; `None` if
    /// the branch's own entry offsets are needed.
    pub(super) fn shared(
        &mut self,
        context: &mut Context<'_, TreeFile>,
        branch: &Branch,
        range: &Range<u64>,
    ) -> Result<Option<ArrayRef>, ReadError> {
        let found = self.by_known_ends(context, branch, range)?;
        if found.is_none() {
            self.go_alone();
        }
        Ok(found)
    }

    /// From now on, goes by the branch's own entry offsets.
    pub(super) fn go_alone(&mut self) {
        if let Role::Items { .. } = self.role {
            self.role = Role::Alone;
            // It may have been decompressed without them.
            self.let_go();
        }
    }

    fn by_known_ends(
        &mut self,
        context: &mut Context<'_, TreeFile>,
        branch: &Branch,
        range: &Range<u64>,
    ) -> Result<Option<ArrayRef>, ReadError> {
        let (Role::Items { slot, .. }, Layout::Counted { item, .. }) = (self.role, &branch.layout)
        else {
            return Ok(None);
        };
        let name = context.file.source().name();
        let wrong = |e| ReadError::format(&e, name, None);
        self.foresee(context, branch, range);
        let mut items = Items::new(&mut self.spares, item).map_err(wrong)?;
        let mut at = range.start;
        while at < range.end {
            self.load(context, branch, at)?;
            let (Some(loaded), Some(ends)) = (&self.loaded, &self.known) else {
                return Ok(None);
            };
            let stop = loaded.entries.end.min(range.end);
            let before = |entry: u64| {
                let place = usize::try_from(entry.checked_sub(loaded.entries.start)?).ok()?;
                ends.before(place)
            };
            let (Some(from), Some(to)) = (before(at), before(stop)) else {
                return Ok(None);
            };
            let _span = trace_span!("decode", branch = branch.name).entered();
            let data = self.data(branch, &loaded.place);
            items
                .append(data, from..to)
                .map_err(|e| loaded.wrong(&e, name, branch))?;
            at = stop;
        }
        let Some(offsets) = context.counts.offsets(slot, range, !context.again) else {
            return Ok(None);
        };
        let array = items.finish(offsets, &mut self.spares);
        self.leave_spares(context);
        let array = array.map_err(|e| wrong(e).within(&branch.name, range.clone(), None))?;
        Ok(Some(array))
    }

    /// Takes over what earlier readers of the file know of a basket's entries.
    pub(super) fn recall_ends(&self, context: &mut Context<'_, TreeFile>, entries: &Range<u64>) {
        if let Role::Items { slot, .. } | Role::Counter { slot } = self.role {
            context.counts.recall(slot, entries, context.file.ends());
        }
    }

    /// The ends of the items of a basket's entries, if they are known and the branch has shown that its own
    /// are the same. `data_end`: how many bytes the items have.
    pub(super) fn known_ends(
        &self,
        context: &Context<'_, TreeFile>,
        entries: &Range<u64>,
        data_end: usize,
    ) -> Option<Ends> {
        let Role::Items { slot, size } = self.role else {
            return None;
        };
        if !context.counts.are_obeyed(slot, context.file.proofs()) {
            return None;
        }
        let ends = context.counts.known(slot, entries)?;
        if ends.are_of_others(self.branch) && !context.file.proofs().is_shown(self.branch) {
            return None;
        }
        let bytes = ends.items().and_then(|items| items.checked_mul(size));
        (bytes == Some(data_end)).then_some(ends)
    }

    /// Compares the starts of a basket's entries, just found, to what is known; if nothing is, others
    /// know it now.
    pub(super) fn settle_ends(
        &mut self,
        context: &mut Context<'_, TreeFile>,
        entries: &Range<u64>,
    ) {
        let Role::Items { slot, size } = self.role else {
            return;
        };
        if !context.counts.are_obeyed(slot, context.file.proofs()) {
            self.role = Role::Alone;
        } else if let Some(ends) = context.counts.known(slot, entries) {
            if ends.are(&self.starts, size) {
                if ends.are_of_others(self.branch) {
                    context.file.proofs().show(self.branch);
                }
                self.known = Some(ends);
            } else {
                context.counts.refute(slot, context.file.proofs());
                self.role = Role::Alone;
            }
        } else if let Some(ends) = ends_of_starts(&self.starts, size) {
            let kept = context.again.then(|| context.file.ends());
            context
                .counts
                .learn(slot, self.branch, entries.clone(), ends, kept);
            self.known = context.counts.known(slot, entries);
        } else {
            self.role = Role::Alone;
        }
    }

    /// Lets the branches that this one counts know the counts of a basket, if it is a counter that is read
    /// beside them.
    pub(super) fn tell_counts(
        &mut self,
        context: &mut Context<'_, TreeFile>,
        branch: &Branch,
        loaded: &Loaded,
    ) {
        let (Role::Counter { slot }, Layout::Number(_)) = (self.role, &branch.layout) else {
            return;
        };
        if context.counts.known(slot, &loaded.entries).is_some() {
            return;
        }
        let data = self.data(branch, &loaded.place);
        let all = loaded.entries.clone();
        let entries = run(&branch.layout, data, &[], &all, all.clone());
        let Ok(mut values) = Column::with(&mut Spares::default(), &branch.layout, entries.count)
        else {
            return;
        };
        // What is wrong with them is said when they are read.
        let read = append(&mut values, &branch.layout, entries);
        if read.is_ok()
            && let Column::Numbers(numbers) = &values
            && numbers.to_counts(&mut self.counts).is_some()
            && let Some(ends) = ends_of_counts(&self.counts)
        {
            let kept = context.again.then(|| context.file.ends());
            context.counts.learn(slot, self.branch, all, ends, kept);
        }
    }

    /// Finds the starts of a basket's entries from the values of the branch's counter.
    pub(super) fn starts_from_counter(
        &mut self,
        context: &mut Context<'_, TreeFile>,
        branch: &Branch,
        entries: &Range<u64>,
        data_len: usize,
    ) -> Result<(), ReadError> {
        let file = context.file;
        let name = file.source().name();
        let wrong = |what: String| {
            let error = malformed(0, what);
            ReadError {
                message: error.to_string(),
                ..ReadError::format(&error, name, Some(0))
            }
            .within(&branch.name, entries.clone(), None)
        };
        let Layout::Counted { item, header } = &branch.layout else {
            return Err(wrong("only counted items have a counter".to_owned()));
        };
        let Some(counter_index) = file.counter(self.branch) else {
            return Err(wrong(
                "basket has no entry offsets, and the branch no counter".to_owned(),
            ));
        };
        let counter_branch = file.readable(counter_index)?;
        if !matches!(counter_branch.layout, Layout::Number(_)) {
            return Err(wrong(format!(
                "counter {} is not a number",
                counter_branch.name
            )));
        }
        let cursor = match &mut self.counter {
            Some(cursor) => cursor,
            none => none.insert(Box::new(Cursor::new(counter_index, Role::Alone))),
        };
        let values = cursor.column(context, counter_branch, entries.clone())?;
        let counts = match &values {
            Column::Numbers(numbers) => numbers.to_counts(&mut self.counts),
            _ => None,
        };
        if counts.is_none() {
            return Err(wrong(format!(
                "counter {} has values that are no counts",
                counter_branch.name
            )));
        }
        starts::from_counts(item, *header, &self.counts, data_len, &mut self.starts).map_err(|e| {
            ReadError::format(&e, name, None).within(&branch.name, entries.clone(), None)
        })
    }
}
