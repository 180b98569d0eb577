//! The cursor of one field: the one place where plan, source, decompression and page decoding meet. Keeps one
//! page of each column ready.

mod load;

use super::assemble::{Elements, Ends, Stretch, Visit, append};
use super::column::Column;
use super::ntuple_file::NTupleFile;
use super::plan::{self, Part};
use crate::ReadError;
use crate::cache::Page;
use crate::context::Context;
use crate::counters::Stage;
use crate::faults::unsupported;
use crate::limits::{GAP_ROWS, RESERVED_VALUES};
use crate::memory::Spares;
use crate::memory::buffer_pool;
use crate::window::Window;
use arrow_array::{ArrayRef, UInt32Array};
use arrow_select::take::take;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;
use tracing::trace_span;
use treemill_format::error::FormatError;
use treemill_format::rntuple::decode::Run;
use treemill_format::rntuple::{Cluster, Columns, Shape};

/// Reads one field.
#[derive(Debug)]
pub(crate) struct Cursor {
    name: String,
    shape: Shape,
    columns: BTreeMap<usize, Loaded>,
    spares: Spares,
}

/// A column's current page, and the memory for it.
#[derive(Debug, Default)]
struct Loaded {
    /// The page's number in the tree, with its elements; none before the first page and after an error.
    current: Option<(PageNumber, PageData)>,
    /// Memory for elements that were compressed.
    bytes: Vec<u8>,
    /// Memory for the ends of items, of index columns: each less the first.
    ends: Vec<u32>,
    /// The page's stored bytes.
    window: Window,
}

/// Number of a cluster, and of a page of one column in it.
type PageNumber = (usize, usize);

/// Where a page's elements are.
#[derive(Debug)]
enum PageData {
    /// Decompressed bytes, in [`Loaded::bytes`].
    Decompressed,
    /// Ends of items, in [`Loaded::ends`], with what was taken from each.
    Ends(u64),
    /// Bytes as they were read, in the window: this range of the file.
    Stored(Range<u64>),
    /// A page in the cache, which other passes share.
    Cached(Arc<Page>),
}

impl Loaded {
    /// The elements of the page at hand, unless the window has other bytes by now.
    fn bytes(&self) -> Option<&[u8]> {
        match &self.current.as_ref()?.1 {
            PageData::Decompressed => Some(&self.bytes),
            PageData::Ends(_) => Some(&[]),
            PageData::Stored(range) => self.window.bytes(range),
            PageData::Cached(page) => Some(page.encoded()),
        }
    }

    /// The elements of the page at hand as ends.
    fn ends(&self) -> (u64, &[u32]) {
        match &self.current {
            Some((_, PageData::Ends(first))) => (*first, &self.ends),
            Some((_, PageData::Cached(page))) => page.ends(),
            _ => (0, &[]),
        }
    }
}

impl Drop for Loaded {
    fn drop(&mut self) {
        buffer_pool::BYTES.give(std::mem::take(&mut self.bytes));
        buffer_pool::ENDS.give(std::mem::take(&mut self.ends));
    }
}

impl Cursor {
    /// The pages of the field at `index`.
    ///
    /// # Errors
    /// `Unsupported`, by its name and with the reason, if it cannot be read.
    pub(crate) fn new(file: &NTupleFile, index: usize) -> Result<Self, ReadError> {
        let name = file.arrow_field(index)?.name().clone();
        Ok(Cursor {
            name,
            shape: file.shape(index)?,
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
        let (stretches, indices) = plan::stretches(range.start, rows, GAP_ROWS);
        let array = self.together(context, range.clone(), &stretches)?;
        take(&array, &UInt32Array::from(indices), None).map_err(|e| {
            let error = unsupported(format!("single entries of this type ({e})"));
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
        let rows = range.end.saturating_sub(range.start).min(RESERVED_VALUES);
        let rows = usize::try_from(rows).unwrap_or(0);
        let mut column = Column::new(&self.shape, rows, &mut self.spares);
        let clusters = ranges
            .iter()
            .flat_map(|range| plan::clusters(ntuple, range));
        for (index, entries) in clusters {
            let Some(cluster) = ntuple.clusters.get(index) else {
                continue;
            };
            let began = context.clock.since();
            let mut elements = InCluster {
                context: &mut *context,
                cluster,
                index,
                columns: &mut self.columns,
            };
            let _span = trace_span!("decode", field = self.name).entered();
            let rows = entries.end.saturating_sub(entries.start);
            let decoded = append(&mut column, &self.shape, entries, &mut elements);
            context.end(Stage::Decode, rows, Some(began));
            decoded.map_err(|e| e.within(&self.name, cluster.entries.clone(), None))?;
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
                        true => {
                            let (first, above) = loaded.ends();
                            let above = above.get(wanted).unwrap_or_default();
                            visit(Stretch::Ends(Ends { first, above }))
                        }
                        false => visit(Stretch::Page(
                            encoding,
                            Run {
                                bytes: loaded.bytes().unwrap_or_default(),
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
