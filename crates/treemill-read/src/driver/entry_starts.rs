//! Where the entries of a cursor's current basket begin: from the basket's own offsets, from the values of the
//! branch's counter, by reading them one after another, or from the list ends that branches of one counter share
//! (`counts.rs`). Knows payloads, and neither the cache nor the source.

use super::Cursor;
use crate::checks::{are_starts, check_fixed, run};
use crate::context::Context;
use crate::counts::{Ends, Role, ends_of_counts, ends_of_starts};
use crate::decode::{Column, append, starts};
use crate::faults::malformed;
use crate::memory::Spares;
use crate::{ReadError, TreeFile};
use std::ops::Range;
use treemill_format::basket::BasketHeader;
use treemill_format::error::FormatError;
use treemill_format::layout::Layout;
use treemill_format::tree::{Branch, EmbeddedBasket};

/// The starts of the entries of one branch's current basket. A layout of a fixed size needs none.
#[derive(Debug)]
pub(super) struct EntryStarts {
    branch: usize,
    role: Role,
    /// Starts of entries in bytes, and the end of the last. They are not this basket's if its list ends are known.
    starts: Vec<u32>,
    /// The list ends, if the branch is known to have those of its counter.
    list_ends: Option<Ends>,
    /// Memory for the counts of a basket.
    counts: Vec<u32>,
    /// Reads the counter branch, for baskets without entry offsets.
    counter: Option<Box<Cursor>>,
}

impl EntryStarts {
    pub(super) fn new(branch: usize, role: Role) -> Self {
        EntryStarts {
            branch,
            role,
            starts: Vec::new(),
            list_ends: None,
            counts: Vec::new(),
            counter: None,
        }
    }

    /// The branch's number in the tree.
    pub(super) fn branch(&self) -> usize {
        self.branch
    }

    /// The starts in bytes, if they were needed.
    pub(super) fn in_bytes(&self) -> &[u32] {
        &self.starts
    }

    /// The list ends, if they are known.
    pub(super) fn list_ends(&self) -> Option<&Ends> {
        self.list_ends.as_ref()
    }

    /// The counter whose list ends the branch shares.
    pub(super) fn shared_slot(&self) -> Option<usize> {
        match self.role {
            Role::Items { slot, .. } => Some(slot),
            _ => None,
        }
    }

    /// Uses the branch's own entry offsets from now on. Returns whether this is a change.
    pub(super) fn go_alone(&mut self) -> bool {
        let shared = self.shared_slot().is_some();
        if shared {
            self.role = Role::Alone;
        }
        shared
    }

    /// Forgets what is known of the current basket.
    pub(super) fn forget(&mut self) {
        self.list_ends = None;
    }

    /// Takes over what earlier readers of the file know of a basket's entries.
    pub(super) fn recall(&self, context: &mut Context<'_, TreeFile>, entries: &Range<u64>) {
        if let Role::Items { slot, .. } | Role::Counter { slot } = self.role {
            context.counts.recall(slot, entries, context.file.ends());
        }
    }

    /// How many bytes of a payload are needed: all but the entry offsets, if the list ends are known.
    pub(super) fn wanted(
        &mut self,
        context: &Context<'_, TreeFile>,
        entries: &Range<u64>,
        header: &BasketHeader,
    ) -> usize {
        self.list_ends = self.known_ends(context, entries, header.data_end);
        match self.list_ends {
            Some(_) => header.data_end,
            None => header.uncompressed_len,
        }
    }

    /// Finds the starts in the payload of a stored basket, unless its list ends are known. `base` is where the
    /// payload begins in the file, if it is stored uncompressed.
    pub(super) fn find(
        &mut self,
        context: &mut Context<'_, TreeFile>,
        branch: &Branch,
        entries: &Range<u64>,
        header: &BasketHeader,
        payload: &[u8],
        base: Option<u64>,
    ) -> Result<(), ReadError> {
        let name = context.file.source().name();
        let wrong = |e| ReadError::format(&e, name, base);
        let data = header.data(payload).map_err(wrong)?;
        if self.list_ends.is_some()
            || check_fixed(&branch.layout, data.len(), header.entries).map_err(wrong)?
        {
            return Ok(());
        }
        let parts = header.split(payload).map_err(wrong)?;
        if parts.stored_offsets.is_empty() {
            self.compute(context, branch, entries, data, header.entries, wrong)?;
        } else {
            header
                .entry_starts(parts, &mut self.starts)
                .map_err(wrong)?;
        }
        self.settle_ends(context, entries);
        Ok(())
    }

    /// Finds the starts in a basket of the tree's own record.
    pub(super) fn find_embedded(
        &mut self,
        context: &mut Context<'_, TreeFile>,
        branch: &Branch,
        basket: &EmbeddedBasket,
    ) -> Result<(), ReadError> {
        let EmbeddedBasket {
            entries,
            data,
            offsets,
        } = basket;
        let name = context.file.source().name();
        let wrong =
            |e| ReadError::format(&e, name, None).within(&branch.name, entries.clone(), None);
        let count = entries.end.saturating_sub(entries.start);
        let count = usize::try_from(count).unwrap_or(usize::MAX);
        if check_fixed(&branch.layout, data.len(), count).map_err(wrong)? {
            return Ok(());
        }
        match offsets {
            Some(offsets) => {
                if offsets.len() != count.saturating_add(1) || !are_starts(offsets, data) {
                    return Err(wrong(malformed(
                        0,
                        "the embedded basket's entry offsets do not ascend within its data",
                    )));
                }
                self.starts.clear();
                self.starts.extend_from_slice(offsets);
            }
            None => self.compute(context, branch, entries, data, count, wrong)?,
        }
        self.settle_ends(context, entries);
        Ok(())
    }

    /// The starts of `count` entries in `data`, of a basket that stores no offsets.
    fn compute(
        &mut self,
        context: &mut Context<'_, TreeFile>,
        branch: &Branch,
        entries: &Range<u64>,
        data: &[u8],
        count: usize,
        wrong: impl Fn(FormatError) -> ReadError,
    ) -> Result<(), ReadError> {
        if matches!(branch.layout, Layout::Counted { .. }) {
            return self.by_counter(context, branch, entries, data.len());
        }
        starts::by_reading(&branch.layout, data, count, &mut self.starts).map_err(wrong)
    }

    /// The starts by the values of the branch's counter.
    fn by_counter(
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
                "the basket has no entry offsets, and the branch has no counter".to_owned(),
            ));
        };
        let counter_branch = file.readable(counter_index)?;
        if !matches!(counter_branch.layout, Layout::Number(_)) {
            return Err(wrong(format!(
                "the counter {} is not a number",
                counter_branch.name
            )));
        }
        let cursor = match &mut self.counter {
            Some(cursor) => cursor,
            none => none.insert(Box::new(Cursor::new(counter_index, Role::Alone))),
        };
        let values = cursor.column(context, counter_branch, entries.clone())?;
        let counts = match &values {
            Column::Numbers(stored) => stored.numbers().to_counts(&mut self.counts),
            _ => None,
        };
        if counts.is_none() {
            return Err(wrong(format!(
                "the counter {} has values that are no counts",
                counter_branch.name
            )));
        }
        starts::from_counts(item, *header, &self.counts, data_len, &mut self.starts).map_err(|e| {
            ReadError::format(&e, name, None).within(&branch.name, entries.clone(), None)
        })
    }

    /// The ends of the items of a basket's entries, if they are known and the branch has shown that its own
    /// are the same. `data_end`: how many bytes the items have.
    fn known_ends(
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

    /// Compares the starts of a basket's entries, just found, to what is known. If nothing is known, the
    /// counter's other branches learn them.
    fn settle_ends(&mut self, context: &mut Context<'_, TreeFile>, entries: &Range<u64>) {
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
                self.list_ends = Some(ends);
            } else {
                context.counts.refute(slot, context.file.proofs());
                self.role = Role::Alone;
            }
        } else if let Some(ends) = ends_of_starts(&self.starts, size) {
            let kept = context.again.then(|| context.file.ends());
            context
                .counts
                .learn(slot, self.branch, entries.clone(), ends, kept);
            self.list_ends = context.counts.known(slot, entries);
        } else {
            self.role = Role::Alone;
        }
    }

    /// Lets the branches that this one counts know the counts of a basket, if it is a counter that is read
    /// beside them. `data`: the basket's values.
    pub(super) fn tell_counts(
        &mut self,
        context: &mut Context<'_, TreeFile>,
        branch: &Branch,
        entries: &Range<u64>,
        data: &[u8],
    ) {
        let (Role::Counter { slot }, Layout::Number(_)) = (self.role, &branch.layout) else {
            return;
        };
        if context.counts.known(slot, entries).is_some() {
            return;
        }
        let values = run(&branch.layout, data, &[], entries, entries.clone());
        let Ok(mut column) = Column::with(&mut Spares::default(), &branch.layout, values.count)
        else {
            return;
        };
        // An error in the values is reported when they are read.
        let read = append(&mut column, &branch.layout, values);
        if read.is_ok()
            && let Column::Numbers(stored) = &column
            && stored.numbers().to_counts(&mut self.counts).is_some()
            && let Some(ends) = ends_of_counts(&self.counts)
        {
            let kept = context.again.then(|| context.file.ends());
            context
                .counts
                .learn(slot, self.branch, entries.clone(), ends, kept);
        }
    }
}
