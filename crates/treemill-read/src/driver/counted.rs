//! Reads runs of entries of a branch with a counter as lists whose offsets the counter's branches share
//! (`counts.rs`).

use super::Cursor;
use crate::context::Context;
use crate::counters::Stage;
use crate::decode::Items;
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

    /// Uses the branch's own entry offsets from now on.
    pub(super) fn go_alone(&mut self) {
        if self.starts.go_alone() {
            // The current basket may have been decompressed without them.
            self.let_go();
        }
    }

    fn by_known_ends(
        &mut self,
        context: &mut Context<'_, TreeFile>,
        branch: &Branch,
        range: &Range<u64>,
    ) -> Result<Option<ArrayRef>, ReadError> {
        let (Some(slot), Layout::Counted { item, .. }) =
            (self.starts.shared_slot(), &branch.layout)
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
            let (Some(loaded), Some(ends)) = (&self.loaded, self.starts.list_ends()) else {
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
            let data = loaded.data(&self.window, branch);
            let decoded = items.append(data, from..to);
            decoded.map_err(|e| loaded.wrong(&e, name, branch))?;
            context.end(Stage::Decode, stop.saturating_sub(at), None);
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
}
