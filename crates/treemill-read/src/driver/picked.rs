//! A branch's cursor, asked for single entries: baskets without any of them are neither read nor
//! decompressed, and of the others only those entries are decoded.

use super::Cursor;
use crate::decode::{Column, append_picked};
use crate::reader::Context;
use crate::{ReadError, TreeFile};
use arrow_array::ArrayRef;
use std::ops::Range;

impl Cursor {
    /// The entries at `rows` of `range`, which ascend and lie within it, as an Arrow array.
    pub(crate) fn array_at(
        &mut self,
        context: &mut Context<'_, TreeFile>,
        range: Range<u64>,
        rows: &[u32],
    ) -> Result<ArrayRef, ReadError> {
        let branch = context.file.readable(self.branch)?;
        let name = context.file.source().name();
        self.spares.foresee(0);
        let mut column = Column::plain(&mut self.spares, &branch.layout, rows.len(), context.bytes)
            .map_err(|e| ReadError::format(&e, name, None))?;
        let mut places: Vec<u32> = Vec::new();
        let mut gathered = std::mem::take(&mut self.gathered);
        let mut rest = rows;
        while let Some(&row) = rest.first() {
            let entry = |row: u32| range.start.saturating_add(u64::from(row));
            self.load(context, branch, entry(row))?;
            let Some(loaded) = &self.loaded else { break };
            let held = &loaded.entries;
            let (here, later) = rest.split_at(rest.partition_point(|&row| entry(row) < held.end));
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
            append_picked(
                &mut column,
                &branch.layout,
                self.data(branch, &loaded.place),
                &self.starts,
                &places,
                &mut gathered,
            )
            .map_err(|e| loaded.wrong(&e, name, branch))?;
        }
        self.gathered = gathered;
        let array = column.finish_into(&mut self.spares, &branch.layout);
        if !context.again {
            self.spares.clear();
        }
        array.map_err(|e| ReadError::format(&e, name, None).within(&branch.name, range, None))
    }
}

/// The rows, which ascend, as a range, where they follow one another.
fn consecutive(rows: &[u32]) -> Option<Range<u32>> {
    let (&first, &last) = (rows.first()?, rows.last()?);
    let end = last.checked_add(1)?;
    (end.checked_sub(first)? as usize == rows.len()).then_some(first..end)
}
