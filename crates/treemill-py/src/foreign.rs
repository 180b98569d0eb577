//! Columns that a Python object provides (`treemill.foreign.Foreign`): what it says of them, and
//! their values, asked for in blocks of many entries and cut to batches. Knows no tree and no query.

use crate::arrow::Column;
use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, FixedSizeListArray, Float64Array, LargeListArray, ListArray};
use arrow_buffer::{NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow_ipc::reader::StreamReader;
use arrow_schema::{ArrowError, DataType, FieldRef, SchemaRef};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use std::io::Cursor;
use std::ops::Range;
use std::sync::Arc;
use treemill_query::{ColumnType, DType, Field};

/// Entries that are asked for at once: so many that a call of Python costs nothing beside them, so
/// few that memory stays bounded in long packets.
const BLOCK: u64 = 1 << 17;

/// Key of a field's metadata: the name of the column that counts a list's items.
const COUNTER: &str = "treemill.counter";

/// The module whose `packed` and `packed_schema` write Arrow's IPC format.
const PACKER: &str = "treemill.foreign";

/// Foreign columns of one tree.
pub struct Foreign {
    provider: Provider,
    schema: SchemaRef,
}

/// A Python object whose `read(name, start, stop)` gives values of columns.
pub struct Provider(Py<PyAny>);

/// Column number of a query's, as it was read last: a block, and the entry that it starts at.
#[derive(Default)]
pub struct Block(Option<(u64, ArrayRef)>);

impl Foreign {
    /// Asks `provider` for its schema.
    pub fn new(provider: Bound<'_, PyAny>) -> PyResult<Self> {
        let py = provider.py();
        let schema = provider.call_method0("schema")?;
        let packed = py
            .import(PACKER)?
            .call_method1("packed_schema", (schema,))?
            .extract::<PyBackedBytes>()?;
        let reader = StreamReader::try_new(Cursor::new(&*packed), None).map_err(wrong)?;
        Ok(Self {
            provider: Provider::new(provider),
            schema: reader.schema(),
        })
    }

    /// The columns, in the provider's order.
    pub fn fields(&self) -> impl Iterator<Item = Field> {
        self.schema.fields().iter().map(|field| {
            let counter = field.metadata().get(COUNTER).cloned();
            let nullable = field.is_nullable() || matches!(field.data_type(), DataType::Null);
            Field::new(field.name(), column_type(field.data_type(), counter)).nullable(nullable)
        })
    }

    /// Entries `wanted` of the column at that place in the schema, as `Provider::read`.
    pub fn read(
        &self,
        column: usize,
        block: &mut Block,
        wanted: Range<u64>,
        stop: u64,
    ) -> PyResult<ArrayRef> {
        let name = self.schema.field(column).name();
        self.provider.read(name, block, wanted, stop)
    }
}

impl Provider {
    /// Of this object.
    pub fn new(object: Bound<'_, PyAny>) -> Self {
        Self(object.unbind())
    }

    /// Entries `wanted` of a column, cut from `block`, which is read anew where it has not got
    /// them: as far as `stop`, for the batches to come.
    pub fn read(
        &self,
        name: &str,
        block: &mut Block,
        wanted: Range<u64>,
        stop: u64,
    ) -> PyResult<ArrayRef> {
        let rows = (wanted.end - wanted.start) as usize;
        if let Some((start, array)) = &block.0
            && let Some(from) = wanted.start.checked_sub(*start)
            && from + rows as u64 <= array.len() as u64
        {
            return Ok(array.slice(from as usize, rows));
        }
        let last = stop.min(wanted.start + BLOCK).max(wanted.end);
        let array = self.ask(name, wanted.start..last)?;
        let (start, array) = block.0.insert((wanted.start, array));
        Ok(array.slice((wanted.start - *start) as usize, rows))
    }

    fn ask(&self, name: &str, range: Range<u64>) -> PyResult<ArrayRef> {
        let array = Python::attach(|py| {
            let arguments = (name, range.start, range.end);
            let given = self.0.bind(py).call_method1("read", arguments)?;
            if let Ok(ours) = given.cast::<Column>() {
                return Ok(ours.get().array());
            }
            let packer = py.import(PACKER)?;
            let packed = packer.call_method1("packed", (given,))?;
            unpack(&packed.extract::<PyBackedBytes>()?)
        })?;
        let array = plain(array).map_err(wrong)?;
        let (expected, came) = (range.end - range.start, array.len() as u64);
        if came != expected {
            let message = format!(
                "{name}: {came} values came for entries {}..{}, which are {expected}",
                range.start, range.end
            );
            return Err(PyValueError::new_err(message));
        }
        Ok(array)
    }
}

/// The only column of the only batch.
fn unpack(packed: &[u8]) -> PyResult<ArrayRef> {
    let mut reader = StreamReader::try_new(Cursor::new(packed), None).map_err(wrong)?;
    let batch = reader.next().transpose().map_err(wrong)?;
    batch
        .filter(|batch| batch.num_columns() == 1)
        .map(|batch| Arc::clone(batch.column(0)))
        .ok_or_else(|| PyValueError::new_err("a foreign column came without values"))
}

/// In the form that the query takes: lists with 32-bit offsets, nulls of a number's type.
fn plain(array: ArrayRef) -> Result<ArrayRef, ArrowError> {
    match array.data_type() {
        DataType::Null => Ok(Arc::new(Float64Array::new_null(array.len()))),
        DataType::LargeList(item) => short_list(item, array.as_list::<i64>()),
        DataType::FixedSizeList(item, len) if item.data_type().is_nested() => {
            let list = array.as_fixed_size_list();
            let values = plain(Arc::clone(list.values()))?;
            let item = like(item, &values);
            let made = FixedSizeListArray::try_new(item, *len, values, list.nulls().cloned());
            Ok(Arc::new(made?))
        }
        DataType::List(item) if item.data_type().is_nested() => {
            let list = array.as_list::<i32>();
            let values = plain(Arc::clone(list.values()))?;
            list_of(item, list.offsets().clone(), values, list.nulls().cloned())
        }
        _ => Ok(array),
    }
}

fn short_list(item: &FieldRef, list: &LargeListArray) -> Result<ArrayRef, ArrowError> {
    let first = list.offsets().first();
    let last = list.offsets().last();
    let short = |offset: &i64| i32::try_from(offset - first);
    let offsets: Result<Vec<i32>, _> = list.offsets().iter().map(short).collect();
    let offsets = offsets.map_err(|_| {
        ArrowError::OffsetOverflowError(usize::try_from(last - first).unwrap_or(usize::MAX))
    })?;
    let values = list.values();
    let values = plain(values.slice(first as usize, (last - first) as usize))?;
    let offsets = OffsetBuffer::new(ScalarBuffer::from(offsets));
    list_of(item, offsets, values, list.nulls().cloned())
}

/// A list of values that may be of another form than the item's field says.
fn list_of(
    item: &FieldRef,
    offsets: OffsetBuffer<i32>,
    values: ArrayRef,
    nulls: Option<NullBuffer>,
) -> Result<ArrayRef, ArrowError> {
    let item = like(item, &values);
    Ok(Arc::new(ListArray::try_new(item, offsets, values, nulls)?))
}

/// The field of items that may be of another form than it says.
fn like(item: &FieldRef, values: &ArrayRef) -> FieldRef {
    let kind = values.data_type().clone();
    Arc::new(item.as_ref().clone().with_data_type(kind))
}

/// What the query makes of an Arrow type.
pub fn column_type(arrow: &DataType, counter: Option<String>) -> ColumnType {
    let other = || ColumnType::Other(arrow.to_string());
    match arrow {
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Binary | DataType::LargeBinary => {
            ColumnType::Str
        }
        DataType::List(item) | DataType::LargeList(item) if !item.data_type().is_null() => {
            let listed = column_type(item.data_type(), None).listed(counter);
            listed.unwrap_or_else(other)
        }
        DataType::FixedSizeList(item, len) => {
            let len = u32::try_from(*len).ok();
            let arrayed = len.and_then(|len| column_type(item.data_type(), None).arrayed(len));
            arrayed.unwrap_or_else(other)
        }
        DataType::Null => ColumnType::Scalar(DType::F64),
        _ => dtype(arrow).map_or_else(other, ColumnType::Scalar),
    }
}

fn dtype(arrow: &DataType) -> Option<DType> {
    Some(match arrow {
        DataType::Boolean => DType::Bool,
        DataType::Int8 => DType::I8,
        DataType::Int16 => DType::I16,
        DataType::Int32 => DType::I32,
        DataType::Int64 => DType::I64,
        DataType::UInt8 => DType::U8,
        DataType::UInt16 => DType::U16,
        DataType::UInt32 => DType::U32,
        DataType::UInt64 => DType::U64,
        DataType::Float32 => DType::F32,
        DataType::Float64 => DType::F64,
        _ => return None,
    })
}

fn wrong(error: ArrowError) -> PyErr {
    PyValueError::new_err(format!("a foreign column: {error}"))
}
