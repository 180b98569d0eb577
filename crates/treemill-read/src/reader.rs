//! Reads a table's entries in batches, whose columns are read when they are asked for. Knows of trees and
//! RNTuples only that their cursors make arrays of entries.

use crate::clock::Clock;
use crate::context::Context;
use crate::counts::{Counts, Role};
use crate::driver::Cursor as BranchCursor;
use crate::inbox::Lease;
use crate::plan::{self, Options};
use crate::rntuple::{Cursor as FieldCursor, NTupleFile};
use crate::wants::wants;
use crate::{Counters, ReadError, Table, TreeFile};
use arrow_array::ArrayRef;
use std::ops::Range;
use std::sync::Arc;
use treemill_format::compress::Decompressor;

/// Reads some columns of one tree or RNTuple. Keeps its buffers between ranges; one per thread.
///
/// ```
/// use arrow_array::{cast::AsArray, types::Float32Type};
/// use std::sync::Arc;
/// use treemill_read::{File, Options, Reader};
/// use treemill_source::Local;
///
/// let file = File::open(Arc::new(Local::open("tests/data/muons.root")?))?;
/// let table = file.table("Events")?;
/// let columns = [table.find("MET_pt")?, table.find("Muon_pt")?];
/// let mut reader = Reader::new(table, &columns)?;
/// let mut batches = reader.batches(0..3, Options::default())?;
/// while let Some(mut batch) = batches.next_batch() {
///     let met = batch.column(0)?;
///     assert_eq!(met.as_primitive::<Float32Type>().values(), &[20.5, 31.0, 7.25]);
///     let muons = batch.column(1)?;
///     assert_eq!(muons.as_list::<i32>().value_offsets(), [0, 2, 2, 3]);
///     // Late materialisation: one entry of the batch.
///     assert_eq!(batch.column_at(1, &[2])?.as_list::<i32>().value_length(0), 1);
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Reader {
    table: Table,
    columns: Vec<usize>,
    cursors: Vec<Cursor>,
    decompressor: Decompressor,
    clock: Clock,
    counters: Arc<Counters>,
    counts: Counts,
    bytes: bool,
    /// Entries of a batch at most, so that large ones do not fill the memory.
    most: u64,
    /// What was asked of a distant source for the range at hand.
    lease: Option<Lease>,
}

/// Reads one column.
enum Cursor {
    Branch(Arc<TreeFile>, Box<BranchCursor>),
    Field(Arc<NTupleFile>, FieldCursor),
}

impl Cursor {
    fn new(table: &Table, column: usize, role: Role) -> Result<Self, ReadError> {
        Ok(match table {
            Table::Tree(file) => {
                file.readable(column)?;
                Cursor::Branch(Arc::clone(file), Box::new(BranchCursor::new(column, role)))
            }
            Table::NTuple(file) => Cursor::Field(Arc::clone(file), FieldCursor::new(file, column)?),
        })
    }

    fn array(
        &mut self,
        context: &mut Context<'_>,
        range: Range<u64>,
    ) -> Result<ArrayRef, ReadError> {
        match self {
            Cursor::Branch(file, cursor) => cursor.array(&mut context.of(file.as_ref()), range),
            Cursor::Field(file, cursor) => cursor.array(&mut context.of(file.as_ref()), range),
        }
    }

    fn array_at(
        &mut self,
        context: &mut Context<'_>,
        range: Range<u64>,
        rows: &[u32],
    ) -> Result<ArrayRef, ReadError> {
        match self {
            Cursor::Branch(file, cursor) => {
                cursor.array_at(&mut context.of(file.as_ref()), range, rows)
            }
            Cursor::Field(file, cursor) => {
                cursor.array_at(&mut context.of(file.as_ref()), range, rows)
            }
        }
    }
}

impl Reader {
    /// A reader of these columns (indices of a tree's branches, or of an RNTuple's fields), which
    /// become columns 0, 1, ….
    ///
    /// # Errors
    /// `Unsupported`, by the column's name and with the reason, if one cannot be read.
    pub fn new(table: impl Into<Table>, columns: &[usize]) -> Result<Self, ReadError> {
        let table = table.into();
        let (counts, roles) = match &table {
            Table::Tree(file) => Counts::new(file.proofs(), columns, |branch| file.counted(branch)),
            // Its fields share their offsets by the format.
            Table::NTuple(_) => (Counts::default(), vec![Role::Alone; columns.len()]),
        };
        let cursors = columns.iter().zip(roles);
        let cursors = cursors.map(|(&column, role)| Cursor::new(&table, column, role));
        let cursors = cursors.collect::<Result<_, _>>()?;
        Ok(Reader {
            most: plan::fitting_entries(table.entries(), table.bytes(columns)),
            table,
            columns: columns.to_vec(),
            cursors,
            decompressor: Decompressor::new(),
            clock: Clock::new(),
            counters: Arc::default(),
            counts,
            bytes: false,
            lease: None,
        })
    }

    /// Takes over what was asked under `lease`, for the next range, and gives what it had before. A reader of a
    /// distant source that has none asks for all of its columns itself.
    pub fn take_over(&mut self, lease: Option<Lease>) -> Option<Lease> {
        std::mem::replace(&mut self.lease, lease)
    }

    /// Asks for the bytes of some columns and entries, if the source is a distant one, without waiting for them.
    ///
    /// # Errors
    /// `NotFound` if there are fewer entries.
    pub fn ask(&mut self, columns: &[usize], range: Range<u64>) -> Result<(), ReadError> {
        self.check(&range)?;
        let Some(inbox) = self.table.inbox() else {
            return Ok(());
        };
        let own = columns
            .iter()
            .filter_map(|&column| self.columns.get(column));
        let own: Vec<usize> = own.copied().collect();
        let wants = wants(&self.table, &own, &[range]);
        let lease = self
            .lease
            .get_or_insert_with(|| inbox.lease(&self.counters));
        lease.ask(wants.into_iter().map(crate::Want::asked));
        Ok(())
    }

    /// Adds to `counters`, which may be shared and watched.
    #[must_use]
    pub fn with_counters(mut self, counters: Arc<Counters>) -> Self {
        self.counters = counters;
        self
    }

    /// Reads booleans of trees, outside lists, as numbers of a byte, 0 or 1, instead of Arrow's bits: for
    /// callers that would unpack the bits.
    #[must_use]
    pub fn with_bytes_for_booleans(mut self) -> Self {
        self.bytes = true;
        self
    }

    /// The entries of `range` in batches, which end where baskets or clusters do if they can. Of large entries
    /// a batch has fewer than `options` allow.
    /// Nothing is read yet.
    ///
    /// # Errors
    /// `NotFound` if there are fewer entries.
    pub fn batches(
        &mut self,
        range: Range<u64>,
        options: Options,
    ) -> Result<Batches<'_>, ReadError> {
        self.check(&range)?;
        if self.lease.is_none() {
            let all: Vec<usize> = (0..self.columns.len()).collect();
            self.ask(&all, range.clone())?;
        }
        let boundaries = self.table.boundaries(&self.columns, &range);
        let batch_entries = options.batch_entries.min(self.most);
        Ok(Batches {
            reader: self,
            next: range.start,
            stop: range.end,
            boundaries,
            options: Options {
                batch_entries,
                ..options
            },
            again: true,
        })
    }

    /// Whether the table has these entries.
    fn check(&self, range: &Range<u64>) -> Result<(), ReadError> {
        let entries = self.table.entries();
        if range.start <= range.end && range.end <= entries {
            return Ok(());
        }
        Err(ReadError::not_found(
            format!(
                "entries {}..{} are asked of {} {}, which has {entries}",
                range.start,
                range.end,
                self.table.kind(),
                self.table.name(),
            ),
            self.table.source().name(),
        ))
    }

    /// One column of `range`, as a single array.
    ///
    /// # Errors
    /// As [`Batch::column`].
    pub fn read(&mut self, column: usize, range: Range<u64>) -> Result<ArrayRef, ReadError> {
        self.ask(&[column], range.clone())?;
        let mut batches = Batches {
            reader: self,
            next: range.start,
            stop: range.end,
            boundaries: Vec::new(), // it is one batch
            options: Options::default(),
            again: false,
        };
        // A batch without entries is still a batch here: its columns have a type.
        batches.batch(range).column(column)
    }
}

/// Whether each is larger than the one before. There is no early end, so that this becomes vector code.
fn ascend(rows: &[u32]) -> bool {
    let later = rows.get(1..).unwrap_or_default();
    let pairs = rows.iter().zip(later);
    pairs.fold(true, |all, (a, b)| all & (a < b))
}

/// The batches of a range, one after another.
pub struct Batches<'a> {
    reader: &'a mut Reader,
    next: u64,
    stop: u64,
    boundaries: Vec<u64>,
    options: Options,
    again: bool,
}

impl Batches<'_> {
    /// The next batch; `None` at the range's end. It borrows the reader's buffers, so it must go
    /// before the one after it comes; its columns may stay.
    pub fn next_batch(&mut self) -> Option<Batch<'_>> {
        let entries = self.next_range()?;
        let length = entries.end.saturating_sub(entries.start);
        self.reader.counters.add_entries(length);
        Some(self.batch(entries))
    }

    /// The batch that [`Batches::next_batch`] gives, for a look at some columns: the entries do not count as read.
    pub fn look_at_next(&mut self) -> Option<Batch<'_>> {
        let entries = self.next_range()?;
        Some(self.batch(entries))
    }

    fn next_range(&mut self) -> Option<Range<u64>> {
        let start = self.next;
        if start >= self.stop {
            return None;
        }
        self.next = plan::batch_end(start, self.stop, &self.boundaries, &self.options);
        Some(start..self.next)
    }

    fn batch(&mut self, entries: Range<u64>) -> Batch<'_> {
        let Reader {
            table,
            cursors,
            decompressor,
            clock,
            counters,
            counts,
            bytes,
            lease,
            ..
        } = &mut *self.reader;
        Batch {
            entries,
            columns: vec![None; cursors.len()],
            file: table.source().name(),
            cursors,
            context: Context {
                file: &(),
                decompressor,
                counters,
                clock,
                counts,
                lease: lease.as_ref(),
                again: self.again,
                bytes: *bytes,
            },
        }
    }
}

/// Some entries, one after another. A column is read and decoded when it is first asked for.
pub struct Batch<'a> {
    entries: Range<u64>,
    columns: Vec<Option<ArrayRef>>,
    file: &'a str,
    cursors: &'a mut [Cursor],
    context: Context<'a>,
}

impl Batch<'_> {
    /// The entries of the table that it holds.
    #[must_use]
    pub fn entries(&self) -> Range<u64> {
        self.entries.clone()
    }

    /// The number of its entries.
    #[must_use]
    pub fn rows(&self) -> usize {
        usize::try_from(self.entries.end.saturating_sub(self.entries.start)).unwrap_or(usize::MAX)
    }

    /// Column `index` of the reader's: one value for each entry, of the type that
    /// [`Table::arrow_field`] gives, but for [`Reader::with_bytes_for_booleans`].
    ///
    /// # Errors
    /// `Source` if bytes could not be had, `Format` if they are damaged; with file, column,
    /// the entries of the basket or cluster, and the place in the file.
    pub fn column(&mut self, index: usize) -> Result<ArrayRef, ReadError> {
        if let Some(Some(array)) = self.columns.get(index) {
            return Ok(Arc::clone(array));
        }
        let (Some(cursor), Some(slot)) = (self.cursors.get_mut(index), self.columns.get_mut(index))
        else {
            let message = format!("the reader has no column {index}");
            return Err(ReadError::not_found(message, self.file));
        };
        self.context.clock.skip();
        let array = cursor.array(&mut self.context, self.entries.clone());
        self.context.clock.tell(self.context.counters);
        let array = array?;
        *slot = Some(Arc::clone(&array));
        Ok(array)
    }

    /// The whole columns that were read so far, for [`Batch::put`].
    #[must_use]
    pub fn into_columns(self) -> Vec<Option<ArrayRef>> {
        self.columns
    }

    /// Takes columns that another batch of the same entries and the same reader's columns has read.
    pub fn put(&mut self, columns: Vec<Option<ArrayRef>>) {
        for (own, found) in self.columns.iter_mut().zip(columns) {
            *own = found;
        }
    }

    /// The column that [`Batch::column`] gives, but only for the batch's entries at `rows`: ascending numbers below
    /// [`Batch::rows`]. What lies between them is not decoded, and baskets or pages without any of them are not
    /// read. The array is not remembered.
    ///
    /// # Errors
    /// As [`Batch::column`]; `NotFound` if `rows` are not as said.
    pub fn column_at(&mut self, index: usize, rows: &[u32]) -> Result<ArrayRef, ReadError> {
        let Some(cursor) = self.cursors.get_mut(index) else {
            let message = format!("the reader has no column {index}");
            return Err(ReadError::not_found(message, self.file));
        };
        let all = self.entries.end.saturating_sub(self.entries.start);
        if !ascend(rows) || rows.last().is_some_and(|&last| u64::from(last) >= all) {
            let message = format!("the rows do not ascend below {all}");
            return Err(ReadError::not_found(message, self.file));
        }
        self.context.clock.skip();
        let array = cursor.array_at(&mut self.context, self.entries.clone(), rows);
        self.context.clock.tell(self.context.counters);
        array
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn readers_move_between_threads_and_tables_are_shared() {
        fn moves<T: Send>() {}
        fn is_shared<T: Send + Sync>() {}
        moves::<Reader>();
        is_shared::<Table>();
        is_shared::<crate::File>();
    }
}
