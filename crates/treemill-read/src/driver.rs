//! A branch's cursor: the one place where plan, source, decompression and decoding meet. It keeps one basket
//! ready (and its buffers for the next), and makes columns from runs of entries.

mod counted;
mod entry_starts;
mod load;
mod selected;

use crate::cache::Basket;
use crate::checks::run;
use crate::context::Context;
use crate::counters::Stage;
use crate::counts::Role;
use crate::decode::{Column, Gathered, append, leaves, size_of};
use crate::limits::{RESERVED_RATIO, RESERVED_VALUES};
use crate::memory::Spares;
use crate::memory::buffer_pool;
use crate::plan;
use crate::window::Window;
use crate::{ReadError, TreeFile};
use arrow_array::ArrayRef;
use entry_starts::EntryStarts;
use std::ops::Range;
use std::sync::Arc;
use tracing::trace_span;
use treemill_format::error::FormatError;
use treemill_format::tree::Branch;

/// The payload of the current basket.
#[derive(Debug)]
enum Payload {
    /// Decompressed, by this cursor or by another one before.
    Decompressed(Arc<Basket>),
    /// Bytes as they were read: this range of the file, in the window.
    Stored(Range<u64>),
    /// A basket in the tree's metadata.
    Embedded(usize),
}

impl Payload {
    /// The first `data_end` bytes of a payload.
    fn up_to(self, data_end: usize) -> Self {
        match self {
            Payload::Stored(bytes) => {
                let end = bytes.start.saturating_add(data_end as u64);
                Payload::Stored(bytes.start..end)
            }
            other => other,
        }
    }
}

/// The current basket.
#[derive(Debug)]
struct Loaded {
    entries: Range<u64>,
    payload: Payload,
    /// Where the basket begins in the file.
    offset: Option<u64>,
}

impl Loaded {
    /// The bytes of its entries.
    fn data<'a>(&'a self, window: &'a Window, branch: &'a Branch) -> &'a [u8] {
        match &self.payload {
            Payload::Decompressed(basket) => basket.data(),
            Payload::Stored(bytes) => window.bytes(bytes).unwrap_or_default(),
            Payload::Embedded(index) => branch
                .embedded
                .get(*index)
                .map_or(&[], |basket| basket.data.as_slice()),
        }
    }

    /// An error in it, with all that is known of the place.
    fn wrong(&self, error: &FormatError, file: &str, branch: &Branch) -> ReadError {
        let base = match &self.payload {
            Payload::Stored(bytes) => Some(bytes.start),
            _ => None,
        };
        ReadError::format(error, file, base).within(&branch.name, self.entries.clone(), self.offset)
    }
}

/// Reads one branch.
#[derive(Debug)]
pub(crate) struct Cursor {
    starts: EntryStarts,
    window: Window,
    /// Memory for the next basket.
    spare: Vec<u8>,
    loaded: Option<Loaded>,
    spares: Spares,
    gathered: Gathered,
}

impl Drop for Cursor {
    fn drop(&mut self) {
        self.let_go();
        buffer_pool::BYTES.give(std::mem::take(&mut self.spare));
        self.spares.clear();
    }
}

impl Cursor {
    pub(crate) fn new(branch: usize, role: Role) -> Self {
        Cursor {
            starts: EntryStarts::new(branch, role),
            window: Window::default(),
            spare: Vec::new(),
            loaded: None,
            spares: Spares::default(),
            gathered: Gathered::default(),
        }
    }

    /// The entries of `range`, as an Arrow array.
    pub(crate) fn array(
        &mut self,
        context: &mut Context<'_, TreeFile>,
        range: Range<u64>,
    ) -> Result<ArrayRef, ReadError> {
        let file = context.file;
        let branch = file.readable(self.starts.branch())?;
        if let Some(array) = self.shared(context, branch, &range)? {
            return Ok(array);
        }
        let column = self.column(context, branch, range.clone())?;
        let array = column.finish_into(&mut self.spares, &branch.layout);
        self.leave_spares(context);
        array.map_err(|e| {
            ReadError::format(&e, file.source().name(), None).within(&branch.name, range, None)
        })
    }

    /// Gives memory away that no later batch of this reader wants.
    fn leave_spares(&mut self, context: &Context<'_, TreeFile>) {
        if !context.again {
            self.spares.clear();
        }
    }

    fn column(
        &mut self,
        context: &mut Context<'_, TreeFile>,
        branch: &Branch,
        range: Range<u64>,
    ) -> Result<Column, ReadError> {
        let name = context.file.source().name();
        let mut column = self
            .empty(context, branch, &range)
            .map_err(|e| ReadError::format(&e, name, None))?;
        let mut at = range.start;
        while at < range.end {
            self.load(context, branch, at)?;
            let Some(loaded) = &self.loaded else { break };
            let stop = loaded.entries.end.min(range.end);
            let decoded = self.append_run(&mut column, branch, loaded, at..stop);
            decoded.map_err(|e| loaded.wrong(&e, name, branch))?;
            context.end(Stage::Decode, stop.saturating_sub(at), None);
            at = stop;
        }
        Ok(column)
    }

    /// Appends the entries `wanted` of the basket at hand.
    fn append_run(
        &self,
        column: &mut Column,
        branch: &Branch,
        loaded: &Loaded,
        wanted: Range<u64>,
    ) -> Result<(), FormatError> {
        let _span = trace_span!("decode", branch = branch.name).entered();
        let data = loaded.data(&self.window, branch);
        let starts = self.starts.in_bytes();
        let entries = run(&branch.layout, data, starts, &loaded.entries, wanted);
        append(column, &branch.layout, entries)
    }

    /// A column with room for the entries of `range`, as far as the file has bytes for them.
    fn empty(
        &mut self,
        context: &Context<'_, TreeFile>,
        branch: &Branch,
        range: &Range<u64>,
    ) -> Result<Column, FormatError> {
        let layout = &branch.layout;
        let stored = self.foresee(context, branch, range);
        let least = size_of(layout)?.least().max(1) as u64;
        let borne_out = stored.saturating_mul(RESERVED_RATIO).checked_div(least);
        let most = borne_out.unwrap_or(0).max(RESERVED_VALUES);
        let rows = range.end.saturating_sub(range.start).min(most);
        let room = usize::try_from(rows).unwrap_or(0);
        Column::plain(&mut self.spares, layout, room, context.bytes)
    }

    /// Bytes that the file has for the entries of `range`, with the whole baskets that they lie in. Reserves
    /// memory for them.
    fn foresee(
        &mut self,
        context: &Context<'_, TreeFile>,
        branch: &Branch,
        range: &Range<u64>,
    ) -> u64 {
        let stored = plan::stored_bytes(branch, range).min(context.file.source().size());
        let each = stored.checked_div(leaves(&branch.layout) as u64);
        let mut each = each.unwrap_or(0);
        if context.again {
            // Many batches come from one basket.
            each = each.min(plan::share_of(branch, range, each));
        }
        self.spares.foresee(usize::try_from(each).unwrap_or(0));
        stored
    }
}
