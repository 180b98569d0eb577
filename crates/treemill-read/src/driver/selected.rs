//! Reads single entries by a branch's cursor (late materialisation): baskets without any of them are neither
//! read nor decompressed, and from the others only those entries are decoded.

use super::Cursor;
use crate::context::Context;
use crate::decode::{Column, Items, append_selected, consecutive, join_offsets};
use crate::{ReadError, TreeFile};
use arrow_array::ArrayRef;
use std::ops::Range;
use treemill_format::layout::Layout;
use treemill_format::tree::Branch;

impl Cursor {
    /// The entries at `rows` of `range`, which ascend and lie within it, as an Arrow array.
    pub(crate) fn array_at(
        &mut self,
        context: &mut Context<'_, TreeFile>,
        range: Range<u64>,
        rows: &[u32],
    ) -> Result<ArrayRef, ReadError> {
        let branch = context.file.readable(self.starts.branch())?;
        if let Some(array) = self.at_known_ends(context, branch, &range, rows)? {
            return Ok(array);
        }
        self.go_alone();
        let name = context.file.source().name();
        self.spares.foresee(0);
        let mut column = Column::plain(&mut self.spares, &branch.layout, rows.len(), context.bytes)
            .map_err(|e| ReadError::format(&e, name, None))?;
        let mut places: Vec<u32> = Vec::new();
        let mut rest = rows;
        while let Some(&row) = rest.first() {
            let entry = |row: u32| range.start.saturating_add(u64::from(row));
            self.load(context, branch, entry(row))?;
            let Some(loaded) = &self.loaded else { break };
            let held = &loaded.entries;
            let (here, later) = split(rest, range.start, held);
            rest = later;
            if let Some(wanted) = consecutive(here) {
                let wanted = entry(wanted.start)..entry(wanted.end);
                self.append_run(&mut column, branch, loaded, wanted)
                    .map_err(|e| loaded.wrong(&e, name, branch))?;
                continue;
            }
            places.clear();
            places.extend(here.iter().map(|&row| {
                // A basket has fewer than 2^32 entries; one beyond would be found absent.
                u32::try_from(entry(row).saturating_sub(held.start)).unwrap_or(u32::MAX)
            }));
            append_selected(
                &mut column,
                &branch.layout,
                loaded.data(&self.window, branch),
                self.starts.in_bytes(),
                &places,
                &mut self.gathered,
            )
            .map_err(|e| loaded.wrong(&e, name, branch))?;
        }
        let array = column.finish_into(&mut self.spares, &branch.layout);
        self.leave_spares(context);
        array.map_err(|e| ReadError::format(&e, name, None).within(&branch.name, range, None))
    }

    /// The entries as lists that share their offsets with the counter's other branches; `None` if they have to be
    /// made of the branch's own entry offsets.
    fn at_known_ends(
        &mut self,
        context: &mut Context<'_, TreeFile>,
        branch: &Branch,
        range: &Range<u64>,
        rows: &[u32],
    ) -> Result<Option<ArrayRef>, ReadError> {
        let (Some(slot), Layout::Counted { item, .. }) =
            (self.starts.shared_slot(), &branch.layout)
        else {
            return Ok(None);
        };
        let name = context.file.source().name();
        let wrong = |e| ReadError::format(&e, name, None);
        self.spares.foresee(0);
        let mut items = Items::new(&mut self.spares, item).map_err(wrong)?;
        let mut offsets = Vec::new();
        let mut rest = rows;
        while let Some(&row) = rest.first() {
            self.load(context, branch, range.start.saturating_add(u64::from(row)))?;
            let (Some(loaded), Some(ends)) = (&self.loaded, self.starts.list_ends()) else {
                return Ok(None);
            };
            let held = &loaded.entries;
            let (here, later) = split(rest, range.start, held);
            rest = later;
            let selected = context.counts.selected(slot, held, ends, range.start, here);
            let Some(selected) = selected else {
                return Ok(None);
            };
            items
                .append_selected(
                    loaded.data(&self.window, branch),
                    &selected.items,
                    &mut self.gathered,
                )
                .map_err(|e| loaded.wrong(&e, name, branch))?;
            offsets.push(selected.offsets.clone());
        }
        let array = join_offsets(offsets).and_then(|all| items.finish(all, &mut self.spares));
        self.leave_spares(context);
        let array = array.map_err(|e| wrong(e).within(&branch.name, range.clone(), None))?;
        Ok(Some(array))
    }
}

/// The rows whose entries are among `held`, and those after them.
fn split<'a>(rows: &'a [u32], first: u64, held: &Range<u64>) -> (&'a [u32], &'a [u32]) {
    rows.split_at(rows.partition_point(|&row| first.saturating_add(u64::from(row)) < held.end))
}
