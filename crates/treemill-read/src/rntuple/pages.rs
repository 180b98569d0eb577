//! The pages of one field: the one place where plan, source, decompression and page decoding meet.
//! Keeps one page of each column ready, and the bytes that were brought ahead of time.

use super::assemble::{Elements, Ends, Stretch, Visit, append};
use super::column::Column;
use super::ntuple_file::NTupleFile;
use super::plan::{self, Part};
use super::window::Window;
use crate::ReadError;
use crate::decode::Spares;
use crate::reader::Context;
use crate::shelf;
use arrow_array::{ArrayRef, UInt32Array};
use arrow_select::take::take;
use std::collections::BTreeMap;
use std::ops::Range;
use treemill_format::error::FormatError;
use treemill_format::rntuple::decode::{Run, decode_ends};
use treemill_format::rntuple::{Cluster, Columns, Encoding, Located, Page, Shape, check_page};
use treemill_source::Latency;

/// The most values that memory is taken for before their bytes have been seen.
const MOST_RESERVED: u64 = 1 << 20;

/// Entries that are wanted and less than this apart are decoded with those between them: cheaper than
/// to begin anew.
const STRETCH_GAP: u32 = 256;

/// Reads one field.
#[derive(Debug)]
pub(crate) struct Cursor {
    name: String,
    shape: Shape,
    /// Pages of all columns, where they were asked for at once.
    ahead: Window,
    columns: BTreeMap<usize, Loaded>,
    spares: Spares,
}

/// The page of a column that is at hand.
#[derive(Debug, Default)]
struct Loaded {
    /// Cluster and page, where one is at hand.
    place: Option<(usize, usize)>,
    /// Where the page's elements are.
    elements: At,
    /// The page's elements, uncompressed, where they were compressed.
    bytes: Vec<u8>,
    /// The page's elements as ends of items, of columns that are such: the first, and what each is
    /// above it.
    first_end: u64,
    ends: Vec<u32>,
    /// Pages of this column alone.
    window: Window,
}

/// Where a page's elements are.
#[derive(Debug, Default)]
enum At {
    /// Decompressed, or decoded as ends.
    #[default]
    Unpacked,
    /// As they were read, in a window: this range of the file.
    Stored(Range<u64>),
}

impl Loaded {
    /// The elements of the page at hand, unless the windows have other bytes by now.
    fn bytes<'a>(&'a self, ahead: &'a Window) -> Option<&'a [u8]> {
        match &self.elements {
            At::Unpacked => Some(&self.bytes),
            At::Stored(range) => ahead.bytes(range).or_else(|| self.window.bytes(range)),
        }
    }
}

impl Drop for Loaded {
    fn drop(&mut self) {
        shelf::BYTES.give(std::mem::take(&mut self.bytes));
        shelf::ENDS.give(std::mem::take(&mut self.ends));
    }
}

impl Cursor {
    /// For the field at `index`.
    ///
    /// # Errors
    /// `Unsupported`, by its name and with the reason, where it cannot be read.
    pub(crate) fn new(file: &NTupleFile, index: usize) -> Result<Self, ReadError> {
        let name = file.arrow_field(index)?.name().clone();
        Ok(Cursor {
            name,
            shape: file.shape(index)?,
            ahead: Window::default(),
            columns: BTreeMap::new(),
            spares: Spares::default(),
        })
    }

    /// The entries of `range`, as an Arrow array.
    pub(crate) fn array(
        &mut self,
        context: &mut Context<'_, NTupleFile>,
        range: Range<u64>,
    ) -> Result<ArrayRef, ReadError> {
        self.together(context, range.clone(), &[range])
    }

    /// The entries at `rows` of `range`, which ascend and lie within it: pages without any of them are
    /// not read.
    pub(crate) fn array_at(
        &mut self,
        context: &mut Context<'_, NTupleFile>,
        range: Range<u64>,
        rows: &[u32],
    ) -> Result<ArrayRef, ReadError> {
        let gap = match context.file.source().latency() {
            Latency::Local => STRETCH_GAP,
            // All in one round trip.
            Latency::Remote => u32::MAX,
        };
        let (stretches, indices) = plan::stretches(range.start, rows, gap);
        let array = self.together(context, range.clone(), &stretches)?;
        take(&array, &UInt32Array::from(indices), None).map_err(|e| {
            let error = FormatError::Unsupported {
                what: format!("single entries of this type: {e}"),
            };
            ReadError::format(&error, context.file.source().name(), None)
                .within(&self.name, range, None)
        })
    }

    /// The entries of some ranges within `range`, one after another.
    fn together(
        &mut self,
        context: &mut Context<'_, NTupleFile>,
        range: Range<u64>,
        ranges: &[Range<u64>],
    ) -> Result<ArrayRef, ReadError> {
        let ntuple = context.file.ntuple();
        let rows = range.end.saturating_sub(range.start).min(MOST_RESERVED);
        let rows = usize::try_from(rows).unwrap_or(0);
        let mut column = Column::new(&self.shape, rows, &mut self.spares);
        let clusters = ranges
            .iter()
            .flat_map(|range| plan::clusters(ntuple, range));
        for (index, entries) in clusters {
            let Some(cluster) = ntuple.clusters.get(index) else {
                continue;
            };
            let mut elements = InCluster {
                context,
                cluster,
                index,
                shape: &self.shape,
                ahead: &mut self.ahead,
                columns: &mut self.columns,
            };
            append(&mut column, &self.shape, entries, &mut elements)
                .map_err(|e| e.within(&self.name, cluster.entries.clone(), None))?;
        }
        let file = context.file.source().name();
        let array = column.finish(&self.shape, &mut self.spares);
        if !context.again {
            self.spares.clear();
        }
        array.map_err(|e| ReadError::format(&e, file, None).within(&self.name, range, None))
    }
}

/// The elements of a field's columns in one cluster.
struct InCluster<'a, 'c> {
    context: &'a mut Context<'c, NTupleFile>,
    cluster: &'a Cluster,
    index: usize,
    shape: &'a Shape,
    ahead: &'a mut Window,
    columns: &'a mut BTreeMap<usize, Loaded>,
}

impl Elements for InCluster<'_, '_> {
    type Error = ReadError;

    fn visit(
        &mut self,
        columns: &Columns,
        nth: usize,
        range: Range<u64>,
        visit: Visit<'_>,
    ) -> Result<(), ReadError> {
        let ntuple = self.context.file.ntuple();
        let located = ntuple
            .locate(columns, nth, self.cluster)
            .map_err(|e| self.wrong(e))?;
        let size = self.context.file.source().size();
        let parts = plan::parts(&located, &range, size).map_err(|e| self.wrong(e))?;
        let column = ntuple.metadata.schema.columns.get(located.column);
        let encoding = match column.map(|column| column.encoding.clone()) {
            Some(encoding) => encoding.map_err(|e| self.wrong(e))?,
            None => return Ok(()), // `locate` found it
        };
        for part in parts {
            let result = match part {
                Part::Zeros(n) => visit(Stretch::Zeros(n)),
                Part::Page { page, wanted } => {
                    self.load(&located, &encoding, page)?;
                    let loaded = self.columns.entry(located.column).or_default();
                    let count = located.pages.get(page).map_or(0, |p| p.elements as usize);
                    match encoding.is_index() {
                        true => visit(Stretch::Ends(Ends {
                            first: loaded.first_end,
                            above: loaded.ends.get(wanted).unwrap_or_default(),
                        })),
                        false => visit(Stretch::Page(
                            encoding,
                            Run {
                                bytes: loaded.bytes(self.ahead).unwrap_or_default(),
                                count,
                                wanted,
                            },
                        )),
                    }
                }
            };
            result.map_err(|e| self.wrong(e))?;
        }
        Ok(())
    }

    fn wrong(&self, error: FormatError) -> ReadError {
        ReadError::format(&error, self.context.file.source().name(), None)
    }
}

impl InCluster<'_, '_> {
    /// Makes page number `index` of a column the one at hand.
    fn load(
        &mut self,
        located: &Located<'_>,
        encoding: &Encoding,
        index: usize,
    ) -> Result<(), ReadError> {
        let place = Some((self.index, index));
        let is_here = |loaded: &Loaded| loaded.place == place && loaded.bytes(self.ahead).is_some();
        if self.columns.get(&located.column).is_some_and(is_here) {
            return Ok(());
        }
        let Some(page) = located.pages.get(index) else {
            return Ok(()); // the plan names only pages that are there
        };
        self.bring(located, page, index)?;
        let loaded = self.columns.entry(located.column).or_default();
        loaded.place = None;
        let range = page.bytes();
        let alone = || loaded.window.bytes(&range);
        let stored = self.ahead.bytes(&range).or_else(alone).unwrap_or_default();
        let file = self.context.file.source().name();
        let wrong = |e| ReadError::format(&e, file, Some(range.start));
        let length = encoding.page_bytes(page.elements);
        let packed = check_page(page, stored, length).map_err(wrong)?;
        if loaded.bytes.capacity() == 0 && packed.len() < length {
            loaded.bytes = shelf::BYTES.take();
        }
        let decompressor = &mut self.context.decompressor;
        let elements = match page.has_checksum {
            true => decompressor.unpack_verified(packed, length, &mut loaded.bytes),
            false => decompressor.unpack(packed, length, &mut loaded.bytes),
        };
        let elements = elements.map_err(wrong)?;
        self.context.counters.add_bytes_decompressed(length as u64);
        loaded.elements = At::Unpacked;
        if encoding.is_index() {
            if loaded.ends.capacity() == 0 {
                loaded.ends = shelf::ENDS.take();
            }
            let count = usize::try_from(page.elements).unwrap_or(usize::MAX);
            loaded.first_end =
                decode_ends(encoding, elements, count, &mut loaded.ends).map_err(wrong)?;
        } else if packed.len() == length {
            loaded.elements = At::Stored(page.locator.bytes());
        }
        loaded.place = place;
        Ok(())
    }

    /// Brings a page's stored bytes: from a near source just them, from a distant one with them
    /// whatever will be needed next, of all of the field's columns where the budget allows.
    fn bring(&mut self, located: &Located<'_>, page: &Page, index: usize) -> Result<(), ReadError> {
        let range = page.bytes();
        let loaded = self.columns.entry(located.column).or_default();
        if self.ahead.bytes(&range).is_some() || loaded.window.bytes(&range).is_some() {
            return Ok(());
        }
        let Context {
            file,
            counters,
            options,
            stop,
            ..
        } = &mut *self.context;
        let source = file.source().as_ref();
        let (gap, budget) = (options.gap_bytes, options.window_bytes);
        let mut fields = Vec::new();
        self.shape
            .visit_columns(&mut |columns| fields.push(columns));
        let read = match source.latency() {
            Latency::Local => loaded.window.bring(source, vec![range], gap, budget),
            Latency::Remote => {
                match plan::ahead(file.ntuple(), &fields, self.index, *stop, budget) {
                    Some(ranges) => self.ahead.bring(source, ranges, gap, budget),
                    None => {
                        let share = budget.checked_div(fields.len() as u64).unwrap_or(budget);
                        let ranges = plan::few(located, index, share);
                        loaded.window.bring(source, ranges, gap, budget)
                    }
                }
            }
        };
        counters.add_bytes_read(read.map_err(ReadError::source)?);
        Ok(())
    }
}
