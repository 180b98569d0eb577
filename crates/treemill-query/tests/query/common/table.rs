//! Columns in memory, as a reader would hand them out batch by batch.

use arrow_array::types::{
    Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type,
    UInt32Type, UInt64Type,
};
use arrow_array::{
    Array, ArrayRef, BooleanArray, FixedSizeListArray, LargeBinaryArray, ListArray, PrimitiveArray,
};
use arrow_buffer::OffsetBuffer;
use std::collections::BTreeMap;
use std::error::Error;
use std::sync::Arc;
use treemill_query::{ColumnType, Columns, DType, Field, Query, Schema};

/// Named columns of equal length.
#[derive(Clone, Default)]
pub struct Table {
    columns: Vec<(Field, ArrayRef)>,
}

impl Table {
    pub fn new() -> Self {
        Self::default()
    }

    pub fn rows(&self) -> usize {
        self.columns.first().map_or(0, |(_, array)| array.len())
    }

    pub fn schema(&self) -> Schema {
        let fields = self.columns.iter().map(|(field, _)| field.clone());
        Schema::new(fields.collect())
    }

    pub fn with(mut self, name: &str, column_type: ColumnType, array: ArrayRef) -> Self {
        self.columns.push((Field::new(name, column_type), array));
        self
    }

    pub fn f32(self, name: &str, values: &[f32]) -> Self {
        let array = PrimitiveArray::<Float32Type>::from(values.to_vec());
        self.with(name, ColumnType::Scalar(DType::F32), Arc::new(array))
    }

    /// Numbers of any type, converted from f64 (exact for those that tests use).
    pub fn scalar(self, name: &str, item: DType, values: &[f64]) -> Self {
        self.with(name, ColumnType::Scalar(item), numbers(item, values))
    }

    pub fn u64(self, name: &str, values: &[u64]) -> Self {
        let array = PrimitiveArray::<UInt64Type>::from(values.to_vec());
        self.with(name, ColumnType::Scalar(DType::U64), Arc::new(array))
    }

    pub fn i64(self, name: &str, values: &[i64]) -> Self {
        let array = PrimitiveArray::<Int64Type>::from(values.to_vec());
        self.with(name, ColumnType::Scalar(DType::I64), Arc::new(array))
    }

    pub fn list(self, name: &str, item: DType, counter: Option<&str>, lists: &[Vec<f64>]) -> Self {
        let flat: Vec<f64> = lists.iter().flatten().copied().collect();
        let values = numbers(item, &flat);
        let offsets = OffsetBuffer::from_lengths(lists.iter().map(Vec::len));
        let field = arrow_schema::Field::new("item", values.data_type().clone(), false);
        let array = ListArray::new(Arc::new(field), offsets, values, None);
        let counter = counter.map(str::to_owned);
        self.with(name, ColumnType::List { item, counter }, Arc::new(array))
    }

    /// Lists of lists of f64.
    pub fn lists(self, name: &str, counter: Option<&str>, lists: &[Vec<Vec<f64>>]) -> Self {
        let flat: Vec<f64> = lists.iter().flatten().flatten().copied().collect();
        let nested = |offsets, values: ArrayRef| {
            let field = arrow_schema::Field::new("item", values.data_type().clone(), false);
            ListArray::new(Arc::new(field), offsets, values, None)
        };
        let lengths = lists.iter().flatten().map(Vec::len);
        let inner = nested(
            OffsetBuffer::from_lengths(lengths),
            numbers(DType::F64, &flat),
        );
        let lengths = lists.iter().map(Vec::len);
        let array = nested(OffsetBuffer::from_lengths(lengths), Arc::new(inner));
        let column_type = ColumnType::Lists {
            item: DType::F64,
            counter: counter.map(str::to_owned),
            below: vec![None],
        };
        self.with(name, column_type, Arc::new(array))
    }

    pub fn array(self, name: &str, item: DType, len: u32, flat: &[f64]) -> Self {
        let values = numbers(item, flat);
        let field = arrow_schema::Field::new("item", values.data_type().clone(), false);
        let array = FixedSizeListArray::new(Arc::new(field), len as i32, values, None);
        self.with(name, ColumnType::Array { item, len }, Arc::new(array))
    }

    pub fn strings(self, name: &str, values: &[&str]) -> Self {
        let array = LargeBinaryArray::from_iter_values(values);
        self.with(name, ColumnType::Str, Arc::new(array))
    }

    /// Entries `start .. stop` of the columns that a query wants.
    pub fn batch(&self, query: &Query, start: usize, stop: usize) -> Batch {
        let columns = query.columns().iter().map(|name| {
            let found = self.columns.iter().find(|(field, _)| field.name == *name);
            found.expect("a column").1.slice(start, stop - start)
        });
        Batch {
            rows: stop - start,
            columns: columns.collect(),
            names: query.columns().to_vec(),
            asked: BTreeMap::new(),
            selected: BTreeMap::new(),
            can_select: true,
        }
    }
}

/// One batch; notes which columns were asked for, and how often.
pub struct Batch {
    rows: usize,
    columns: Vec<ArrayRef>,
    names: Vec<String>,
    pub asked: BTreeMap<String, usize>,
    /// The number of entries that a column was asked for, where it was not all.
    pub selected: BTreeMap<String, usize>,
    /// Whether single entries can be asked for.
    pub can_select: bool,
}

impl Columns for Batch {
    fn rows(&self) -> usize {
        self.rows
    }

    fn column(&mut self, index: usize) -> Result<ArrayRef, Box<dyn Error + Send + Sync>> {
        *self.asked.entry(self.names[index].clone()).or_default() += 1;
        Ok(self.columns[index].clone())
    }

    fn can_select(&self, _index: usize) -> bool {
        self.can_select
    }

    fn column_at(
        &mut self,
        index: usize,
        rows: &[u32],
    ) -> Result<ArrayRef, Box<dyn Error + Send + Sync>> {
        assert!(self.can_select && rows.is_sorted_by(|a, b| a < b));
        *self.selected.entry(self.names[index].clone()).or_default() += rows.len();
        let rows = PrimitiveArray::<UInt32Type>::from(rows.to_vec());
        Ok(arrow_select::take::take(&self.columns[index], &rows, None)?)
    }
}

pub fn numbers(item: DType, values: &[f64]) -> ArrayRef {
    macro_rules! primitive {
        ($arrow:ty, $native:ty) => {
            Arc::new(PrimitiveArray::<$arrow>::from_iter_values(
                values.iter().map(|x| *x as $native),
            ))
        };
    }
    match item {
        DType::Bool => Arc::new(BooleanArray::from_iter(
            values.iter().map(|x| Some(*x != 0.0)),
        )),
        DType::I8 => primitive!(Int8Type, i8),
        DType::I16 => primitive!(Int16Type, i16),
        DType::I32 => primitive!(Int32Type, i32),
        DType::I64 => primitive!(Int64Type, i64),
        DType::U8 => primitive!(UInt8Type, u8),
        DType::U16 => primitive!(UInt16Type, u16),
        DType::U32 => primitive!(UInt32Type, u32),
        DType::U64 => primitive!(UInt64Type, u64),
        DType::F32 => primitive!(Float32Type, f32),
        DType::F64 => primitive!(Float64Type, f64),
        DType::Str => unreachable!("strings are no numbers"),
    }
}
