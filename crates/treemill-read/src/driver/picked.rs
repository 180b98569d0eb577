//! A branch's cursor, asked for single entries: baskets without any of them are neither read nor
//! decompressed, and of the others only those entries are decoded.

use super::{Cursor, Place};
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
        let mut rest = rows;
        while let Some(&row) = rest.first() {
            let entry = |row: u32| range.start.saturating_add(u64::from(row));
            self.load(context, branch, entry(row))?;
            let Some(loaded) = &self.loaded else { break };
            let held = loaded.entries.clone();
            let (here, later) = rest.split_at(rest.partition_point(|&row| entry(row) < held.end));
            places.clear();
            places.extend(here.iter().map(|&row| {
                // A basket has fewer than 2^32 entries; one beyond would be found absent.
                u32::try_from(entry(row).saturating_sub(held.start)).unwrap_or(u32::MAX)
            }));
            let base = match &loaded.place {
                Place::Window(bytes) => Some(bytes.start),
                _ => None,
            };
            let (place, offset) = (loaded.place.clone(), loaded.offset);
            let mut gathered = std::mem::take(&mut self.gathered);
            let data = self.data(branch, &place);
            let starts = self.starts.as_slice();
            append_picked(
                &mut column,
                &branch.layout,
                data,
                starts,
                &places,
                &mut gathered,
            )
            .map_err(|e| {
                ReadError::format(&e, name, base).within(&branch.name, held.clone(), offset)
            })?;
            self.gathered = gathered;
            rest = later;
        }
        let array = column.finish_into(&mut self.spares, &branch.layout);
        if !context.again {
            self.spares.clear();
        }
        array.map_err(|e| ReadError::format(&e, name, None).within(&branch.name, range, None))
    }
}
