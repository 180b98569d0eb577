//! Readers: an RNTuple's entries in batches, whose columns are read when they are asked for. The
//! same face as [`crate::Reader`] has for trees.

use super::ntuple_file::NTupleFile;
use super::pages::{Context, Cursor};
use crate::plan;
use crate::{Counters, Options, ReadError};
use arrow_array::ArrayRef;
use std::ops::Range;
use std::sync::Arc;
use treemill_format::compress::Decompressor;

/// Reads some fields of one RNTuple. Keeps its buffers between ranges; one per thread.
pub struct Reader {
    file: Arc<NTupleFile>,
    cursors: Vec<Cursor>,
    decompressor: Decompressor,
    counters: Arc<Counters>,
}

impl Reader {
    /// A reader of these fields (indices in the file's `fields()`), which become columns 0, 1, ….
    ///
    /// # Errors
    /// `Unsupported`, by the field's name and with the reason, where one cannot be read.
    pub fn new(file: Arc<NTupleFile>, fields: &[usize]) -> Result<Self, ReadError> {
        let cursor = |&index: &usize| {
            file.arrow_field(index)?;
            let name = file.fields().get(index).map_or("", |field| &field.name);
            Ok(Cursor::new(name.to_owned(), file.shape(index)?))
        };
        let cursors = fields
            .iter()
            .map(cursor)
            .collect::<Result<_, ReadError>>()?;
        Ok(Reader {
            file,
            cursors,
            decompressor: Decompressor::new(),
            counters: Arc::default(),
        })
    }

    /// Lets the reader add to `counters`, which others may share and watch.
    #[must_use]
    pub fn with_counters(mut self, counters: Arc<Counters>) -> Self {
        self.counters = counters;
        self
    }

    /// The RNTuple that is read.
    #[must_use]
    pub fn file(&self) -> &Arc<NTupleFile> {
        &self.file
    }

    /// The entries of `range` in batches, which end at clusters' borders where they can. Nothing is
    /// read yet.
    ///
    /// # Errors
    /// `NotFound` where the RNTuple has fewer entries.
    pub fn batches(
        &mut self,
        range: Range<u64>,
        options: Options,
    ) -> Result<Batches<'_>, ReadError> {
        let ntuple = self.file.ntuple();
        if range.start > range.end || range.end > ntuple.entries {
            return Err(ReadError::not_found(
                format!(
                    "entries {}..{} asked of RNTuple {}, which has {}",
                    range.start, range.end, ntuple.metadata.name, ntuple.entries
                ),
                self.file.source().name(),
            ));
        }
        let starts = ntuple.clusters.iter().map(|cluster| cluster.entries.start);
        let borders = starts.filter(|start| range.contains(start)).collect();
        Ok(Batches {
            reader: self,
            next: range.start,
            stop: range.end,
            borders,
            options,
        })
    }

    /// One column of `range`, as a single array.
    ///
    /// # Errors
    /// As [`Batch::column`].
    pub fn read(&mut self, column: usize, range: Range<u64>) -> Result<ArrayRef, ReadError> {
        // A batch without entries is still a batch here: its columns have a type.
        self.batches(range.clone(), Options::default())?
            .batch(range)
            .column(column)
    }
}

/// The batches of a range, one after another.
pub struct Batches<'a> {
    reader: &'a mut Reader,
    next: u64,
    stop: u64,
    borders: Vec<u64>,
    options: Options,
}

impl Batches<'_> {
    /// The next batch; `None` at the range's end. It borrows the reader's buffers, so it must go
    /// before the one after it comes; its columns may stay.
    pub fn next_batch(&mut self) -> Option<Batch<'_>> {
        if self.next >= self.stop {
            return None;
        }
        let start = self.next;
        let end = plan::batch_end(start, self.stop, &self.borders, &self.options);
        self.next = end;
        self.reader.counters.add_entries(end.saturating_sub(start));
        Some(self.batch(start..end))
    }

    fn batch(&mut self, entries: Range<u64>) -> Batch<'_> {
        let Reader {
            file,
            cursors,
            decompressor,
            counters,
        } = &mut *self.reader;
        Batch {
            entries,
            columns: vec![None; cursors.len()],
            cursors,
            context: Context {
                file,
                decompressor,
                counters,
                options: &self.options,
                stop: self.stop,
            },
        }
    }
}

/// Some entries, one after another. A column is read and decoded when it is first asked for.
pub struct Batch<'a> {
    entries: Range<u64>,
    columns: Vec<Option<ArrayRef>>,
    cursors: &'a mut [Cursor],
    context: Context<'a>,
}

impl Batch<'_> {
    /// The entries of the RNTuple that it holds.
    #[must_use]
    pub fn entries(&self) -> Range<u64> {
        self.entries.clone()
    }

    /// How many.
    #[must_use]
    pub fn rows(&self) -> usize {
        usize::try_from(self.entries.end.saturating_sub(self.entries.start)).unwrap_or(usize::MAX)
    }

    /// Column `index` of the reader's fields: one value for each entry, of the type that
    /// [`NTupleFile::arrow_field`] gives.
    ///
    /// # Errors
    /// `Source` where bytes could not be had, `Format` where they are damaged; with file, field,
    /// the cluster's entries and the page's place in the file.
    pub fn column(&mut self, index: usize) -> Result<ArrayRef, ReadError> {
        if let Some(Some(array)) = self.columns.get(index) {
            return Ok(Arc::clone(array));
        }
        let (Some(cursor), Some(slot)) = (self.cursors.get_mut(index), self.columns.get_mut(index))
        else {
            return Err(ReadError::not_found(
                format!("the reader has no column {index}"),
                self.context.file.source().name(),
            ));
        };
        let array = cursor.array(&mut self.context, self.entries.clone())?;
        *slot = Some(Arc::clone(&array));
        Ok(array)
    }
}
