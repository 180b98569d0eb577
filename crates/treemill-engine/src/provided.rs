//! Columns that do not come from the table: what their provider says of them, and their values, asked
//! for in blocks of many entries and cut to batches. Knows no table and no query.

use crate::arrow_types::column_type;
use crate::error::{Cause, EngineError};
use crate::limits::PROVIDED_ENTRIES;
use crate::plain::plain;
use arrow_array::{
    Array, ArrayRef, BooleanArray, Float64Array, Int64Array, LargeStringArray, UInt64Array,
};
use arrow_schema::{ArrowError, DataType, SchemaRef};
use std::ops::Range;
use std::sync::Arc;
use treemill_query::Field;

/// Key of a field's metadata: the name of the column that counts a list's items.
pub(crate) const COUNTER: &str = "treemill.counter";

/// Gives values of columns that the core does not read itself. Called by any number of threads.
pub trait Provider: Send + Sync {
    /// The values of column `name` for these entries, as one array.
    ///
    /// # Errors
    /// The provider's own, which reach the caller of [`crate::Bound::run`] as they are.
    fn read(&self, name: &str, entries: Range<u64>) -> Result<ArrayRef, Cause>;
}

/// Columns that a provider adds to those of a table.
pub struct Foreign {
    provider: Box<dyn Provider>,
    schema: SchemaRef,
}

/// What all entries of a file have in a column.
#[derive(Debug, Clone, PartialEq)]
pub enum Constant {
    /// True or false.
    Bool(bool),
    /// A whole number.
    Signed(i64),
    /// A whole number that no signed one of 64 bits is.
    Unsigned(u64),
    /// A number.
    Real(f64),
    /// A string.
    Text(String),
}

/// One column as it was read last: values, and the entry that they start at.
#[derive(Default)]
pub(crate) struct Block(Option<(u64, ArrayRef)>);

impl Foreign {
    /// The columns of `schema`, whose values `provider` gives. A field's metadata may name the column
    /// that counts a list's items as `treemill.counter`.
    #[must_use]
    pub fn new(provider: Box<dyn Provider>, schema: SchemaRef) -> Self {
        Self { provider, schema }
    }

    /// The columns, in the schema's order.
    pub(crate) fn fields(&self) -> impl Iterator<Item = Field> {
        self.schema.fields().iter().map(|field| {
            let counter = field.metadata().get(COUNTER).cloned();
            let nullable = field.is_nullable() || matches!(field.data_type(), DataType::Null);
            Field::new(field.name(), column_type(field.data_type(), counter)).nullable(nullable)
        })
    }

    /// Entries `wanted` of the column at that place in the schema, as [`Block::read`].
    pub(crate) fn read(
        &self,
        column: usize,
        block: &mut Block,
        wanted: Range<u64>,
        stop: u64,
    ) -> Result<ArrayRef, EngineError> {
        let Some(field) = self.schema.fields().get(column) else {
            return Err(EngineError::Misfit(format!(
                "there is no foreign column {column}"
            )));
        };
        block.read(self.provider.as_ref(), field.name(), wanted, stop)
    }
}

impl Constant {
    /// One entry.
    pub(crate) fn array(&self) -> ArrayRef {
        match self {
            Constant::Bool(value) => Arc::new(BooleanArray::from(vec![*value])),
            Constant::Signed(value) => Arc::new(Int64Array::from_value(*value, 1)),
            Constant::Unsigned(value) => Arc::new(UInt64Array::from_value(*value, 1)),
            Constant::Real(value) => Arc::new(Float64Array::from_value(*value, 1)),
            Constant::Text(value) => Arc::new(LargeStringArray::from_iter_values([value])),
        }
    }
}

impl Block {
    /// Entries `wanted` of a column, cut from this block, which is read anew if it has not got
    /// them: as far as `stop`, for the batches to come.
    pub(crate) fn read(
        &mut self,
        provider: &dyn Provider,
        name: &str,
        wanted: Range<u64>,
        stop: u64,
    ) -> Result<ArrayRef, EngineError> {
        if let Some((start, array)) = &self.0
            && let Some(cut) = cut(*start, array, &wanted)
        {
            return Ok(cut);
        }
        let last = stop
            .min(wanted.start.saturating_add(PROVIDED_ENTRIES))
            .max(wanted.end);
        let array = ask(provider, name, wanted.start..last)?;
        let (start, array) = self.0.insert((wanted.start, array));
        let missing = || EngineError::Misfit(format!("{name}: entries {wanted:?} are missing"));
        cut(*start, array, &wanted).ok_or_else(missing)
    }
}

/// The entries `wanted` of an array that starts at an entry, if it has all of them.
fn cut(start: u64, array: &ArrayRef, wanted: &Range<u64>) -> Option<ArrayRef> {
    let from = usize::try_from(wanted.start.checked_sub(start)?).ok()?;
    let rows = usize::try_from(wanted.end.checked_sub(wanted.start)?).ok()?;
    (from.checked_add(rows)? <= array.len()).then(|| array.slice(from, rows))
}

/// The values that were asked for, all of them, in the form that the query takes.
fn ask(provider: &dyn Provider, name: &str, range: Range<u64>) -> Result<ArrayRef, EngineError> {
    let given = provider
        .read(name, range.clone())
        .map_err(EngineError::Provider)?;
    let array = plain(given).map_err(misfit)?;
    let (expected, came) = (range.end.saturating_sub(range.start), array.len() as u64);
    if came != expected {
        return Err(EngineError::Misfit(format!(
            "{name}: {came} values came for entries {}..{}, which are {expected}",
            range.start, range.end
        )));
    }
    Ok(array)
}

fn misfit(error: ArrowError) -> EngineError {
    EngineError::Misfit(format!("a foreign column cannot be used: {error}"))
}
