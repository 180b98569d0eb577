//! What small files have beside their own columns: constants, defaults for columns that they lack, and columns of friends.
//! It is the same for all files but for the constants and for where the friends' entries lie.

use crate::error::Cause;
use crate::limits::DEFAULT_ITEMS;
use crate::near_files::NearFiles;
use crate::provided::{COUNTER, Constant, Foreign, Provider};
use arrow_array::cast::AsArray;
use arrow_array::types::{
    Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef, ListArray, UInt32Array};
use arrow_buffer::{OffsetBuffer, ScalarBuffer};
use arrow_schema::{DataType, Field, FieldRef, Schema};
use arrow_select::concat::concat;
use arrow_select::take::take;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;
use treemill_query::Query;
use treemill_read::{Reader, Table};

/// What all files of a run have beside their own columns.
#[derive(Debug, Default)]
pub struct Beside {
    /// Columns that files may lack.
    pub defaults: Vec<DefaultColumn>,
    /// The columns of each friend.
    pub friends: Vec<Vec<FriendColumn>>,
    /// Where the entries of each friend are.
    pub joined: Vec<Joined>,
}

/// The files of a friend, whose entries follow one another as those of the files that it is joined to.
#[derive(Debug)]
pub struct Joined {
    files: NearFiles,
    /// The first entries of the files that it is joined to, and the end of the last one.
    ours: Vec<u64>,
    /// The same of its own.
    theirs: Vec<u64>,
}

/// A column that files may lack.
#[derive(Debug)]
pub struct DefaultColumn {
    /// Its name.
    pub name: String,
    /// What it holds then; `None`: that is not known, and a file that lacks it is the caller's.
    pub value: Option<DefaultValue>,
}

/// What all entries of a file hold.
#[derive(Debug, Clone)]
pub struct DefaultValue {
    /// One entry, or with a counter one item of it.
    pub value: ArrayRef,
    /// Whether values may be missing.
    pub is_nullable: bool,
    /// The file's own column with the number of items of each entry.
    pub counter: Option<String>,
}

/// A column of a friend as the query may name it.
#[derive(Debug)]
pub struct FriendColumn {
    field: FieldRef,
    stored: Arc<Stored>,
}

/// A friend's column in its own files.
#[derive(Debug)]
struct Stored {
    column: String,
    /// What files hold that lack it.
    default: Option<DefaultValue>,
}

/// A part of a friend's file that belongs to entries of a file, one after another.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Piece {
    /// The number of the friend's file.
    pub(crate) number: usize,
    /// The first entry there.
    pub(crate) first: u64,
    /// The entries of the file that it is joined to.
    pub(crate) entries: Range<u64>,
}

/// A piece whose table is open.
pub(crate) struct OpenPiece {
    pub(crate) table: Table,
    /// The first entry of that table.
    pub(crate) first: u64,
    /// The entries of the file that it is joined to.
    pub(crate) entries: Range<u64>,
}

impl FriendColumn {
    /// `name`: in the query, which means this column in all files, also in one that has another column of the name; `column`: in
    /// the friend's tables, which have it as `kind`. `counter`: the name in the query of the column that counts a list's items.
    /// `default`: what those of its tables hold that lack the column; its counter is one of theirs.
    #[must_use]
    pub fn new(
        name: &str,
        column: &str,
        kind: &DataType,
        is_nullable: bool,
        counter: Option<String>,
        default: Option<DefaultValue>,
    ) -> Self {
        let column = column.to_owned();
        Self {
            field: described(name, kind.clone(), is_nullable, counter),
            stored: Arc::new(Stored { column, default }),
        }
    }
}

impl Joined {
    /// `files`: those of the friend, as a pass sees them. `ours`, `theirs`: the first entries of the files that it is joined to and of
    /// its own, and the end of the last ones.
    #[must_use]
    pub fn new(files: NearFiles, ours: Vec<u64>, theirs: Vec<u64>) -> Self {
        Self {
            files,
            ours,
            theirs,
        }
    }

    /// The friend's files.
    pub(crate) fn files(&self) -> &NearFiles {
        &self.files
    }

    /// What is joined to these entries of a file that has so many; `None` if it had another number of them, or if the friend has not
    /// so many.
    pub(crate) fn pieces(
        &self,
        number: usize,
        span: &Range<u64>,
        entries: u64,
    ) -> Option<Vec<Piece>> {
        let begin = *self.ours.get(number)?;
        let end = *self.ours.get(number.checked_add(1)?)?;
        if end.checked_sub(begin)? != entries {
            return None;
        }
        let mut at = begin.checked_add(span.start)?;
        let stop = begin.checked_add(span.end)?.min(end);
        let after = self.theirs.partition_point(|&first| first <= at);
        let mut number = after.checked_sub(1)?;
        let mut pieces = Vec::with_capacity(1);
        while at < stop {
            let first = *self.theirs.get(number)?;
            let last = stop.min(*self.theirs.get(number.checked_add(1)?)?);
            if last > at {
                pieces.push(Piece {
                    number,
                    first: at.checked_sub(first)?,
                    entries: at.checked_sub(begin)?..last.checked_sub(begin)?,
                });
                at = last;
            }
            number = number.checked_add(1)?;
        }
        Some(pieces)
    }
}

/// The values of one column of one file.
enum Values {
    /// All entries have what the one of this array has.
    Same(ArrayRef),
    /// Each entry has this item as often as a column of the table says.
    Counted(ArrayRef, Table, usize),
    /// Those of a friend's column.
    Friend(Arc<[OpenPiece]>, Arc<Stored>),
}

/// The columns that one file has beside its own.
pub(crate) struct Columns {
    schema: Arc<Schema>,
    values: Vec<Values>,
}

impl Beside {
    /// The columns for a file with this table; `None` if one of them needs the caller. `pieces`: of each friend.
    pub(crate) fn columns(
        &self,
        table: &Table,
        constants: &[(String, Constant)],
        pieces: Vec<Arc<[OpenPiece]>>,
    ) -> Option<Columns> {
        let (mut fields, mut values) = (Vec::new(), Vec::new());
        for (friend, pieces) in self.friends.iter().zip(pieces) {
            for each in friend {
                fields.push(Arc::clone(&each.field));
                values.push(Values::Friend(
                    Arc::clone(&pieces),
                    Arc::clone(&each.stored),
                ));
            }
        }
        for (name, value) in constants {
            if fields.iter().any(|field: &FieldRef| field.name() == name) {
                continue;
            }
            let value = value.array();
            fields.push(described(name, value.data_type().clone(), false, None));
            values.push(Values::Same(value));
        }
        for each in &self.defaults {
            let is_there = |field: &FieldRef| *field.name() == each.name;
            if table.find(&each.name).is_ok() || fields.iter().any(is_there) {
                continue;
            }
            let default = each.value.as_ref()?;
            let (kind, value) = match &default.counter {
                None => {
                    let kind = default.value.data_type().clone();
                    (kind, Values::Same(Arc::clone(&default.value)))
                }
                Some(counter) => {
                    let counter = counter_of(table, counter)?;
                    let item = Arc::clone(&default.value);
                    let kind = DataType::List(item_field(&item));
                    (kind, Values::Counted(item, table.clone(), counter))
                }
            };
            let counter = default.counter.clone();
            fields.push(described(&each.name, kind, default.is_nullable, counter));
            values.push(value);
        }
        Some(Columns {
            schema: Arc::new(Schema::new(fields)),
            values,
        })
    }
}

/// The column of a table with this name, if it holds whole numbers.
fn counter_of(table: &Table, name: &str) -> Option<usize> {
    let counter = table.find(name).ok()?;
    let counts = table.arrow_field(counter).ok()?;
    counts.data_type().is_integer().then_some(counter)
}

fn described(name: &str, kind: DataType, is_nullable: bool, counter: Option<String>) -> FieldRef {
    let metadata = counter.map(|counter| (COUNTER.to_owned(), counter));
    let field = Field::new(name, kind, is_nullable);
    Arc::new(field.with_metadata(HashMap::from_iter(metadata)))
}

fn item_field(item: &ArrayRef) -> FieldRef {
    Arc::new(Field::new_list_field(item.data_type().clone(), true))
}

impl Columns {
    /// As what a table is bound with; `None` if there are none.
    pub(crate) fn foreign(self: &Arc<Self>) -> Option<Foreign> {
        let is_there = !self.values.is_empty();
        is_there.then(|| Foreign::new(Box::new(Arc::clone(self)), Arc::clone(&self.schema)))
    }

    /// Whether all that the query reads of friends is in their files, as the friend's first file has it.
    pub(crate) fn fits(&self, query: &Query) -> bool {
        query.columns().iter().all(|name| match self.find(name) {
            Some((field, Values::Friend(pieces, stored))) => pieces
                .iter()
                .all(|piece| piece.kind(stored).as_ref() == Some(field.data_type())),
            _ => true,
        })
    }

    fn find(&self, name: &str) -> Option<(&FieldRef, &Values)> {
        let mut columns = self.schema.fields().iter().zip(&self.values);
        columns.find(|(field, _)| field.name() == name)
    }
}

impl Provider for Arc<Columns> {
    fn read(&self, name: &str, entries: Range<u64>) -> Result<ArrayRef, Cause> {
        let found = self.find(name).map(|(_, values)| values);
        match found.ok_or_else(|| format!("there is no column {name}"))? {
            Values::Same(value) => {
                let count = entries.end.saturating_sub(entries.start);
                Ok(repeated(value, usize::try_from(count)?)?)
            }
            Values::Counted(item, table, counter) => {
                let counts = Reader::new(table.clone(), &[*counter])?.read(0, entries)?;
                counted(item, &counts)
            }
            Values::Friend(pieces, stored) => joined(pieces, stored, &entries),
        }
    }
}

/// The one value of an array, so many times.
fn repeated(value: &ArrayRef, count: usize) -> Result<ArrayRef, Cause> {
    Ok(take(value, &UInt32Array::from(vec![0; count]), None)?)
}

/// Lists of the one value of an array with so many items.
fn counted(item: &ArrayRef, counts: &ArrayRef) -> Result<ArrayRef, Cause> {
    let mut offsets = vec![0_i32];
    let mut total = 0_i32;
    for count in lengths(counts)? {
        let more = i32::try_from(count).ok();
        let sum = more.and_then(|count| total.checked_add(count));
        total = sum
            .filter(|&sum| sum <= DEFAULT_ITEMS)
            .ok_or_else(|| format!("lists of {count} items are too long here"))?;
        offsets.push(total);
    }
    let values = repeated(item, usize::try_from(total)?)?;
    let offsets = OffsetBuffer::new(ScalarBuffer::from(offsets));
    Ok(Arc::new(ListArray::try_new(
        item_field(item),
        offsets,
        values,
        None,
    )?))
}

/// Whole numbers, none of which is negative.
fn lengths(counts: &ArrayRef) -> Result<Vec<usize>, Cause> {
    macro_rules! of {
        ($($kind:ident => $numbers:ident),*) => {
            match counts.data_type() {
                $(DataType::$kind => {
                    let numbers = counts.as_primitive::<$numbers>().values().iter();
                    numbers.map(|&number| usize::try_from(number).map_err(Cause::from)).collect()
                })*
                kind => Err(format!("{kind} counts nothing").into()),
            }
        };
    }
    of!(
        Int8 => Int8Type, Int16 => Int16Type, Int32 => Int32Type, Int64 => Int64Type,
        UInt8 => UInt8Type, UInt16 => UInt16Type, UInt32 => UInt32Type, UInt64 => UInt64Type
    )
}

impl OpenPiece {
    /// The type of a column in this file, or of what it has instead; `None` if it has neither.
    fn kind(&self, stored: &Stored) -> Option<DataType> {
        if let Ok(index) = self.table.find(&stored.column) {
            let field = self.table.arrow_field(index).ok()?;
            return Some(field.data_type().clone());
        }
        let default = stored.default.as_ref()?;
        match &default.counter {
            None => Some(default.value.data_type().clone()),
            Some(counter) => {
                let _ = counter_of(&self.table, counter)?;
                Some(DataType::List(item_field(&default.value)))
            }
        }
    }

    /// A column for these entries of the file.
    fn read(&self, stored: &Stored, entries: Range<u64>) -> Result<ArrayRef, Cause> {
        let lacks = match (self.table.find(&stored.column), &stored.default) {
            (Err(_), Some(default)) => default,
            (found, _) => {
                return Ok(Reader::new(self.table.clone(), &[found?])?.read(0, entries)?);
            }
        };
        let count = entries.end.saturating_sub(entries.start);
        let Some(counter) = &lacks.counter else {
            return repeated(&lacks.value, usize::try_from(count)?);
        };
        let counter = self.table.find(counter)?;
        let counts = Reader::new(self.table.clone(), &[counter])?.read(0, entries)?;
        counted(&lacks.value, &counts)
    }
}

/// A friend's column for these entries.
fn joined(pieces: &[OpenPiece], stored: &Stored, entries: &Range<u64>) -> Result<ArrayRef, Cause> {
    let mut parts = Vec::with_capacity(1);
    for piece in pieces {
        let start = entries.start.max(piece.entries.start);
        let stop = entries.end.min(piece.entries.end);
        if start >= stop {
            continue;
        }
        let place = |entry: u64| {
            let into = entry.saturating_sub(piece.entries.start);
            piece.first.saturating_add(into)
        };
        parts.push(piece.read(stored, place(start)..place(stop))?);
    }
    match parts.as_slice() {
        [one] => Ok(Arc::clone(one)),
        several => {
            let several: Vec<&dyn Array> = several.iter().map(AsRef::as_ref).collect();
            Ok(concat(&several)?)
        }
    }
}

#[cfg(test)]
mod tests;
