//! Readers: a tree's entries in batches, whose columns are read when they are asked for.

use crate::driver::{Context, Cursor};
use crate::plan::{self, Options};
use crate::{Counters, ReadError, TreeFile};
use arrow_array::ArrayRef;
use std::ops::Range;
use std::sync::Arc;
use treemill_format::compress::Decompressor;

/// Reads some branches of one tree. Keeps its buffers between ranges; one per thread.
pub struct Reader {
    file: Arc<TreeFile>,
    branches: Vec<usize>,
    cursors: Vec<Cursor>,
    decompressor: Decompressor,
    counters: Arc<Counters>,
}

impl Reader {
    /// A reader of these branches (indices in the tree's `branches`), which become columns 0, 1, ….
    ///
    /// # Errors
    /// `Unsupported`, by the branch's name and with the reason, where one cannot be read.
    pub fn new(file: Arc<TreeFile>, branches: &[usize]) -> Result<Self, ReadError> {
        for &branch in branches {
            file.readable(branch)?;
        }
        Ok(Reader {
            file,
            branches: branches.to_vec(),
            cursors: branches.iter().map(|&b| Cursor::new(b)).collect(),
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

    /// The tree that is read.
    #[must_use]
    pub fn file(&self) -> &Arc<TreeFile> {
        &self.file
    }

    /// The entries of `range` in batches. Nothing is read yet.
    ///
    /// # Errors
    /// `NotFound` where the tree has fewer entries.
    pub fn batches(
        &mut self,
        range: Range<u64>,
        options: Options,
    ) -> Result<Batches<'_>, ReadError> {
        let tree = self.file.tree();
        if range.start > range.end || range.end > tree.entries {
            return Err(ReadError::not_found(
                format!(
                    "entries {}..{} asked of tree {}, which has {}",
                    range.start, range.end, tree.name, tree.entries
                ),
                self.file.source().name(),
            ));
        }
        let branches = self.branches.iter().filter_map(|&b| tree.branches.get(b));
        let borders = plan::borders(branches, &range);
        Ok(Batches {
            reader: self,
            next: range.start,
            stop: range.end,
            borders,
            options,
            again: true,
        })
    }

    /// One column of `range`, as a single array.
    ///
    /// # Errors
    /// As [`Batch::column`].
    pub fn read(&mut self, column: usize, range: Range<u64>) -> Result<ArrayRef, ReadError> {
        let whole = Options {
            batch_entries: u64::MAX,
            ..Options::default()
        };
        let mut batches = self.batches(range.clone(), whole)?;
        batches.again = false;
        // A batch without entries is still a batch here: its columns have a type.
        batches.batch(range).column(column)
    }
}

/// The batches of a range, one after another.
pub struct Batches<'a> {
    reader: &'a mut Reader,
    next: u64,
    stop: u64,
    borders: Vec<u64>,
    options: Options,
    again: bool,
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
            ..
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
                again: self.again,
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
    /// The entries of the tree that it holds.
    #[must_use]
    pub fn entries(&self) -> Range<u64> {
        self.entries.clone()
    }

    /// How many.
    #[must_use]
    pub fn rows(&self) -> usize {
        usize::try_from(self.entries.end.saturating_sub(self.entries.start)).unwrap_or(usize::MAX)
    }

    /// Column `index` of the reader's branches: one value for each entry, of the type that
    /// [`crate::decode::arrow_type`] gives.
    ///
    /// # Errors
    /// `Source` where bytes could not be had, `Format` where they are damaged; with file, branch,
    /// the basket's entries and its place in the file.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn readers_move_between_threads_and_trees_are_shared() {
        fn moves<T: Send>() {}
        fn is_shared<T: Send + Sync>() {}
        moves::<Reader>();
        is_shared::<TreeFile>();
        is_shared::<crate::File>();
    }
}
