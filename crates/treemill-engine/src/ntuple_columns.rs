//! An RNTuple's fields as the query compiler sees them: columns with types.

use crate::columns::{Columns, Location};
use std::collections::HashMap;
use treemill_format::rntuple::{self, Native, Shape};
use treemill_query::{ColumnType, DType, Field, Schema};
use treemill_read::rntuple::NTupleFile;

/// The columns, and the location of each. Members of records are `field.member`.
pub(crate) fn columns(file: &NTupleFile) -> Columns {
    let named = file.fields().iter().enumerate();
    let shapes: Vec<Option<Shape>> = named.map(|(i, _)| file.shape(i).ok()).collect();
    // Lists belong together if one column holds the ends of their items; a field that is the
    // number of these items gives them its name. Lists with ends of their own, as RDataFrame writes
    // them, may go together too, if their ends turn out to be equal.
    let mut counters: HashMap<usize, String> = HashMap::new();
    let mut lists: HashMap<usize, usize> = HashMap::new();
    for (field, shape) in file.fields().iter().zip(&shapes) {
        match shape {
            Some(Shape::Cardinality { columns, .. }) => {
                if let Some(id) = ends(columns) {
                    counters.entry(id).or_insert_with(|| field.name.clone());
                }
            }
            Some(Shape::List { columns, .. }) => {
                if let Some(id) = ends(columns) {
                    let count = lists.entry(id).or_default();
                    *count = usize::saturating_add(*count, 1);
                }
            }
            _ => {}
        }
    }
    for (id, _) in lists.into_iter().filter(|(_, count)| *count > 1) {
        // No field may have such a name, so this only ties lists to each other.
        let name = || format!("column #{id} of the RNTuple");
        counters.entry(id).or_insert_with(name);
    }
    let mut fields = Vec::with_capacity(shapes.len());
    let mut locations = Vec::with_capacity(shapes.len());
    for (index, (field, shape)) in file.fields().iter().zip(&shapes).enumerate() {
        let kind = shape
            .as_ref()
            .and_then(|shape| column_type(shape, &counters));
        let kind = kind.unwrap_or_else(|| ColumnType::Other(cpp_type(file, index).to_owned()));
        let nullable = shape.as_ref().is_some_and(has_nulls);
        fields.push(Field::new(field.name.clone(), kind).nullable(nullable));
        locations.push(Location {
            branch: index,
            member: Vec::new(),
        });
    }
    Columns {
        schema: Schema::new(fields),
        locations,
    }
}

/// The C++ type of the field at `index`.
pub(crate) fn cpp_type(file: &NTupleFile, index: usize) -> &str {
    described(file, index).map_or("", |field| field.type_name.as_str())
}

/// The description of the field at `index`.
pub(crate) fn title(file: &NTupleFile, index: usize) -> &str {
    described(file, index).map_or("", |field| field.description.as_str())
}

fn described(file: &NTupleFile, index: usize) -> Option<&rntuple::Field> {
    let id = file.fields().get(index)?.field()?;
    file.ntuple().metadata.schema.fields.get(id)
}

fn column_type(shape: &Shape, counters: &HashMap<usize, String>) -> Option<ColumnType> {
    Some(match shape {
        Shape::Number { .. } | Shape::Cardinality { .. } => ColumnType::Scalar(dtype(shape)?),
        Shape::String { .. } => ColumnType::Str,
        Shape::List { columns, item } => {
            let counter = ends(columns).and_then(|id| counters.get(&id).cloned());
            column_type(item, counters)?.listed(counter)?
        }
        Shape::Array { item, len } => {
            column_type(item, counters)?.arrayed(u32::try_from(*len).ok()?)?
        }
        // What may be missing has the type of what is there.
        Shape::Optional { item, .. } => column_type(item, counters)?,
        Shape::Record { .. } | Shape::Variant { .. } => return None,
    })
}

/// Whether the field's values, or its items, may be missing.
fn has_nulls(shape: &Shape) -> bool {
    match shape {
        Shape::Optional { .. } => true,
        Shape::List { item, .. } | Shape::Array { item, .. } => has_nulls(item),
        _ => false,
    }
}

/// What tells a collection's ends from others': the first of the columns that hold them.
fn ends(columns: &rntuple::Columns) -> Option<usize> {
    columns.representations.first()?.first().copied()
}

/// The type that a number is decoded to; `None` for anything else.
pub(crate) fn dtype(shape: &Shape) -> Option<DType> {
    Some(match shape {
        Shape::Number { native, .. } => match native {
            Native::Bool => DType::Bool,
            Native::I8 => DType::I8,
            Native::U8 => DType::U8,
            Native::I16 => DType::I16,
            Native::U16 => DType::U16,
            Native::I32 => DType::I32,
            Native::U32 => DType::U32,
            Native::I64 => DType::I64,
            Native::U64 => DType::U64,
            Native::F32 => DType::F32,
            Native::F64 => DType::F64,
        },
        Shape::Cardinality { is_wide: true, .. } => DType::I64,
        Shape::Cardinality { is_wide: false, .. } => DType::I32,
        Shape::Optional { item, .. } => return dtype(item),
        _ => return None,
    })
}
