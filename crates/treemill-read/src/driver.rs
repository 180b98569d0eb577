//! A branch's cursor: the one place where plan, source, decompression and decoding meet. It keeps
//! one basket ready (and its buffers for the next), and makes columns of runs of entries.

mod counted;
mod picked;

use crate::checks::{agreed, check_fixed, run};
use crate::counts::{Ends, Role};
use crate::decode::{Column, Gathered, Spares, append, leaves, size_of, starts};
use crate::plan;
use crate::reader::Context;
use crate::shelf;
use crate::window::Window;
use crate::{ErrorKind, ReadError, TreeFile};
use arrow_array::ArrayRef;
use std::ops::Range;
use treemill_format::basket::{BasketHeader, ascending};
use treemill_format::error::FormatError;
use treemill_format::layout::Layout;
use treemill_format::tree::{BasketRef, Branch, EmbeddedBasket};

/// The most values that memory is taken for before their bytes have been seen, ...
const MOST_RESERVED: u64 = 1 << 20;
/// ... unless the file has so many bytes of them: what they may come to, over what is stored.
const MOST_PACKED: u64 = 4;

/// Where the entries' bytes of the basket at hand are.
#[derive(Debug, Clone)]
enum Place {
    /// Decompressed, in the cursor's buffer.
    Unpacked(usize),
    /// As they were read: this range of the file, in the window.
    Window(Range<u64>),
    /// In the tree's metadata.
    Embedded(usize),
}

/// The basket at hand.
#[derive(Debug, Clone)]
struct Loaded {
    entries: Range<u64>,
    place: Place,
    /// Where the basket begins in the file.
    offset: Option<u64>,
}

impl Loaded {
    /// What is wrong in it, with all that is known of the place.
    fn wrong(&self, error: &FormatError, file: &str, branch: &Branch) -> ReadError {
        let base = match &self.place {
            Place::Window(bytes) => Some(bytes.start),
            _ => None,
        };
        ReadError::format(error, file, base).within(&branch.name, self.entries.clone(), self.offset)
    }
}

/// Reads one branch.
#[derive(Debug)]
pub(crate) struct Cursor {
    branch: usize,
    role: Role,
    window: Window,
    unpacked: Vec<u8>,
    /// Of the entries of the basket at hand: in bytes, or their items' ends, where others know them.
    starts: Vec<u32>,
    known: Option<Ends>,
    counts: Vec<u32>,
    loaded: Option<Loaded>,
    spares: Spares,
    gathered: Gathered,
    /// Reads the counter branch, for baskets without entry offsets.
    counter: Option<Box<Cursor>>,
}

impl Drop for Cursor {
    fn drop(&mut self) {
        shelf::BYTES.give(std::mem::take(&mut self.unpacked));
    }
}

impl Cursor {
    pub(crate) fn new(branch: usize, role: Role) -> Self {
        Cursor {
            branch,
            role,
            window: Window::default(),
            unpacked: Vec::new(),
            starts: Vec::new(),
            known: None,
            counts: Vec::new(),
            loaded: None,
            spares: Spares::default(),
            gathered: Gathered::default(),
            counter: None,
        }
    }

    /// The entries of `range`, as an Arrow array.
    pub(crate) fn array(
        &mut self,
        context: &mut Context<'_, TreeFile>,
        range: Range<u64>,
    ) -> Result<ArrayRef, ReadError> {
        let file = context.file;
        let branch = file.readable(self.branch)?;
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
            self.append_run(&mut column, branch, loaded, at..stop)
                .map_err(|e| loaded.wrong(&e, name, branch))?;
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
        let data = self.data(branch, &loaded.place);
        let entries = run(&branch.layout, data, &self.starts, &loaded.entries, wanted);
        append(column, &branch.layout, entries)
    }

    /// A column with room for the entries of `range`, as far as the file's bytes bear them out.
    fn empty(
        &mut self,
        context: &Context<'_, TreeFile>,
        branch: &Branch,
        range: &Range<u64>,
    ) -> Result<Column, FormatError> {
        let layout = &branch.layout;
        let stored = self.foresee(context, branch, range);
        let least = size_of(layout)?.least().max(1) as u64;
        let borne_out = stored.saturating_mul(MOST_PACKED).checked_div(least);
        let most = borne_out.unwrap_or(0).max(MOST_RESERVED);
        let rows = range.end.saturating_sub(range.start).min(most);
        let room = usize::try_from(rows).unwrap_or(0);
        Column::plain(&mut self.spares, layout, room, context.bytes)
    }

    /// Bytes that the file has of the entries of `range`; memory for them is looked for.
    fn foresee(
        &mut self,
        context: &Context<'_, TreeFile>,
        branch: &Branch,
        range: &Range<u64>,
    ) -> u64 {
        let stored = plan::stored_bytes(branch, range).min(context.file.source().size());
        let each = stored.checked_div(leaves(&branch.layout) as u64);
        let each = each.filter(|_| !context.again).unwrap_or(0);
        self.spares.foresee(usize::try_from(each).unwrap_or(0));
        stored
    }

    /// Makes the basket that holds `entry` the one at hand.
    fn load(
        &mut self,
        context: &mut Context<'_, TreeFile>,
        branch: &Branch,
        entry: u64,
    ) -> Result<(), ReadError> {
        if let Some(loaded) = &self.loaded
            && loaded.entries.contains(&entry)
        {
            return Ok(());
        }
        self.loaded = None;
        self.known = None;
        let index = plan::basket_of(branch, entry).ok_or_else(|| ReadError {
            kind: ErrorKind::Format,
            message: match branch.entries {
                all if all <= entry => format!("the branch has only {all} entries"),
                _ => "no basket holds these entries".to_owned(),
            },
            file: context.file.source().name().to_owned(),
            branch: Some(branch.name.clone()),
            entries: Some(entry..entry.saturating_add(1)),
            offset: None,
        })?;
        let loaded = match branch.baskets.get(index) {
            Some(basket) => self
                .load_stored(context, branch, index, basket)
                .map_err(|e| {
                    e.within(
                        &branch.name,
                        basket.entries.clone(),
                        Some(basket.bytes.start),
                    )
                })?,
            None => {
                let embedded = plan::embedded_index(branch, index).unwrap_or(0);
                self.load_embedded(context, branch, embedded)?
            }
        };
        self.tell_counts(context, branch, &loaded);
        self.loaded = Some(loaded);
        Ok(())
    }

    /// Reads and unpacks a basket of the file.
    fn load_stored(
        &mut self,
        context: &mut Context<'_, TreeFile>,
        branch: &Branch,
        index: usize,
        basket: &BasketRef,
    ) -> Result<Loaded, ReadError> {
        let source = context.file.source().as_ref();
        let name = source.name();
        let start = basket.bytes.start;
        let read = self
            .window
            .bring(
                source,
                &branch.baskets,
                index,
                context.stop,
                context.options,
            )
            .map_err(ReadError::source)?;
        context.counters.add_bytes_read(read);
        let record = self.window.bytes(&basket.bytes);
        let header =
            BasketHeader::parse(record).map_err(|e| ReadError::format(&e, name, Some(start)))?;
        let packed_at = start.saturating_add(header.key_len as u64);
        let packed = agreed(&header, record, basket)
            .map_err(|e| ReadError::format(&e, name, Some(start)))?;
        let is_stored = packed.len() >= header.uncompressed_len;
        if self.unpacked.capacity() == 0 && !is_stored {
            self.unpacked = shelf::BYTES.take();
        }
        self.known = self.known_ends(context, &basket.entries, header.border);
        // Entry offsets that say what is known are left alone.
        let wanted = match self.known {
            Some(_) => header.border,
            None => header.uncompressed_len,
        };
        let payload = context
            .decompressor
            .unpack_front(packed, header.uncompressed_len, wanted, &mut self.unpacked)
            .map_err(|e| ReadError::format(&e, name, Some(packed_at)))?;
        context
            .counters
            .add_bytes_decompressed(payload.len() as u64);
        let place = if is_stored {
            Place::Window(packed_at..packed_at.saturating_add(header.border as u64))
        } else {
            Place::Unpacked(header.border)
        };
        let base = is_stored.then_some(packed_at);
        let in_payload = |e| ReadError::format(&e, name, base);
        let data = header.data(payload).map_err(in_payload)?;
        let known = self.known.is_some();
        if !known && !check_fixed(&branch.layout, data.len(), header.entries).map_err(in_payload)? {
            let parts = header.split(payload).map_err(in_payload)?;
            if parts.stored_offsets.is_empty() {
                let data_len = data.len();
                if matches!(branch.layout, Layout::Counted { .. }) {
                    self.starts_from_counter(context, branch, &basket.entries, data_len)?;
                } else {
                    starts::by_reading(&branch.layout, data, header.entries, &mut self.starts)
                        .map_err(in_payload)?;
                }
            } else {
                header
                    .entry_starts(parts, &mut self.starts)
                    .map_err(in_payload)?;
            }
            self.settle_ends(context, &basket.entries);
        }
        Ok(Loaded {
            entries: basket.entries.clone(),
            place,
            offset: Some(start),
        })
    }

    /// Takes a basket of the tree's own record.
    fn load_embedded(
        &mut self,
        context: &mut Context<'_, TreeFile>,
        branch: &Branch,
        index: usize,
    ) -> Result<Loaded, ReadError> {
        let Some(EmbeddedBasket {
            entries,
            data,
            offsets,
        }) = branch.embedded.get(index)
        else {
            return Err(ReadError::not_found(
                "no such basket".to_owned(),
                context.file.source().name(),
            ));
        };
        let name = context.file.source().name();
        let wrong =
            |e| ReadError::format(&e, name, None).within(&branch.name, entries.clone(), None);
        let count = entries.end.saturating_sub(entries.start);
        let count = usize::try_from(count).unwrap_or(usize::MAX);
        if !check_fixed(&branch.layout, data.len(), count).map_err(wrong)? {
            match offsets {
                Some(offsets) => {
                    let within = offsets.last().is_none_or(|&end| end as usize <= data.len());
                    if offsets.len() != count.saturating_add(1) || !within || !ascending(offsets) {
                        return Err(wrong(FormatError::Malformed {
                            what: "embedded basket's entry offsets do not ascend within its data"
                                .to_owned(),
                            at: 0,
                        }));
                    }
                    self.starts.clear();
                    self.starts.extend_from_slice(offsets);
                }
                None if matches!(branch.layout, Layout::Counted { .. }) => {
                    self.starts_from_counter(context, branch, entries, data.len())?;
                }
                None => {
                    starts::by_reading(&branch.layout, data, count, &mut self.starts)
                        .map_err(wrong)?;
                }
            }
            self.settle_ends(context, entries);
        }
        Ok(Loaded {
            entries: entries.clone(),
            place: Place::Embedded(index),
            offset: None,
        })
    }

    /// The bytes of the basket at hand.
    fn data<'a>(&'a self, branch: &'a Branch, place: &Place) -> &'a [u8] {
        match place {
            Place::Unpacked(border) => self.unpacked.get(..*border).unwrap_or_default(),
            Place::Window(bytes) => self.window.bytes(bytes),
            Place::Embedded(index) => branch
                .embedded
                .get(*index)
                .map_or(&[], |basket| basket.data.as_slice()),
        }
    }
}
