//! Arrow arrays as text, and reading with different batches and sources.

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, types as t};
use arrow_schema::DataType as T;
use std::sync::Arc;
use treemill_format::key::Key;
use treemill_read::rntuple::NTupleFile;
use treemill_read::{Options, ReadError, Reader};
use treemill_source::{Costs, Memory};

/// Value `i` of an array: `[1, 2.5, {pt: 3, name: "x"}, null]`.
pub fn text(array: &ArrayRef, i: usize) -> String {
    if array.is_null(i) {
        return "null".to_owned();
    }
    let list = |items: &ArrayRef| format!("[{}]", all(items).join(", "));
    macro_rules! number {
        ($type:ty) => {
            format!("{}", array.as_primitive::<$type>().value(i))
        };
    }
    match array.data_type() {
        T::Null => "none".to_owned(),
        T::Boolean => format!("{}", array.as_boolean().value(i)),
        T::Int8 => number!(t::Int8Type),
        T::UInt8 => number!(t::UInt8Type),
        T::Int16 => number!(t::Int16Type),
        T::UInt16 => number!(t::UInt16Type),
        T::Int32 => number!(t::Int32Type),
        T::UInt32 => number!(t::UInt32Type),
        T::Int64 => number!(t::Int64Type),
        T::UInt64 => number!(t::UInt64Type),
        T::Float32 => number!(t::Float32Type),
        T::Float64 => number!(t::Float64Type),
        T::Binary => format!(
            "{:?}",
            String::from_utf8_lossy(array.as_binary::<i32>().value(i))
        ),
        T::List(_) => list(&array.as_list::<i32>().value(i)),
        T::FixedSizeList(..) => list(&array.as_fixed_size_list().value(i)),
        T::Struct(fields) => {
            let members = fields.iter().zip(array.as_struct().columns());
            let members: Vec<String> = members
                .map(|(field, member)| format!("{}: {}", field.name(), text(member, i)))
                .collect();
            format!("{{{}}}", members.join(", "))
        }
        T::Union(..) => text(&array.as_union().value(i), 0),
        other => panic!("no field becomes {other}"),
    }
}

/// All values of an array.
pub fn all(array: &ArrayRef) -> Vec<String> {
    (0..array.len()).map(|i| text(array, i)).collect()
}

pub fn open(bytes: Vec<u8>, key: &Key, costs: Costs) -> Result<Arc<NTupleFile>, ReadError> {
    NTupleFile::open(Arc::new(Memory::new("m", bytes, costs)), key).map(Arc::new)
}

/// All values of a field, read in batches as `options` say.
pub fn read(
    file: &Arc<NTupleFile>,
    field: usize,
    options: Options,
) -> Result<Vec<String>, ReadError> {
    let announced = file.arrow_field(field)?;
    let mut reader = Reader::new(Arc::clone(file), &[field])?;
    let mut batches = reader.batches(0..file.ntuple().entries, options)?;
    let mut values = Vec::new();
    while let Some(mut batch) = batches.next_batch() {
        let array = batch.column(0)?;
        assert_eq!(array.len(), batch.rows());
        assert_eq!(array.data_type(), announced.data_type());
        values.extend(all(&array));
    }
    Ok(values)
}

/// Batches of `entries`.
pub fn by(entries: u64) -> Options {
    Options {
        batch_entries: entries,
        least_entries: entries,
    }
}
