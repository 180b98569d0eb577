//! A column while it grows: one builder per node of a shape, and the Arrow array at the end.

use super::types::{alternative_fields, field, member_fields};
use crate::arrays;
use crate::expand::expand;
use crate::faults::{broken, malformed, mismatch};
use crate::memory::Spares;
use crate::numbers::{self, Booleans, each};
use arrow_array::{ArrayRef, NullArray, UnionArray};
use arrow_buffer::{BooleanBuffer, BooleanBufferBuilder};
use std::sync::Arc;
use treemill_format::error::Result;
use treemill_format::rntuple::decode::{Decode, Run};
use treemill_format::rntuple::{Element, Encoding, Native, Shape};

/// A growing column. Made for one shape; every append must be of the same.
#[derive(Debug)]
pub(super) enum Column {
    /// [`Shape::Number`] and [`Shape::Cardinality`].
    Numbers(Numbers),
    /// [`Shape::String`].
    Strings { offsets: Vec<i32>, bytes: Vec<u8> },
    /// [`Shape::List`].
    List {
        offsets: Vec<i32>,
        item: Box<Column>,
    },
    /// [`Shape::Optional`]: the items that are there, without gaps.
    Optional {
        present: BooleanBufferBuilder,
        item: Box<Column>,
    },
    /// [`Shape::Array`].
    Array { rows: usize, item: Box<Column> },
    /// [`Shape::Record`].
    Record { rows: usize, members: Vec<Column> },
    /// [`Shape::Variant`].
    Variant {
        tags: Vec<i8>,
        offsets: Vec<i32>,
        none: usize,
        alternatives: Vec<Column>,
    },
}

/// Numbers of pages.
pub(super) type Numbers = numbers::Numbers<BooleanBufferBuilder>;

impl Booleans for BooleanBufferBuilder {
    fn new(room: usize, _: &mut Spares) -> Self {
        BooleanBufferBuilder::new(room)
    }

    fn len(&self) -> usize {
        self.len()
    }

    fn pack(mut self, _: &mut Spares) -> BooleanBuffer {
        self.finish()
    }
}

impl Numbers {
    /// Appends zeros.
    pub(super) fn zeros(&mut self, n: usize) {
        each!(self, bits => bits.append_n(n, false), values => {
            values.resize(values.len().saturating_add(n), Default::default());
        });
    }

    /// Appends elements of a page.
    pub(super) fn decode(&mut self, encoding: &Encoding, run: &Run<'_>) -> Result<()> {
        each!(self, bits => decode_bits(encoding, run, bits), values => {
            Decode::decode(encoding, run, values)
        })
    }

    /// Appends a number of items. Columns of 32 bits belong to clusters with fewer than 2^31.
    pub(super) fn count(&mut self, n: u64) -> Result<()> {
        let is_pushed = match self {
            Numbers::I32(values) => i32::try_from(n).map(|n| values.push(n)),
            Numbers::I64(values) => i64::try_from(n).map(|n| values.push(n)),
            _ => return Err(mismatch()),
        };
        is_pushed.map_err(|_| malformed(0, "a collection's items end before they begin"))
    }
}

/// Bits lie in pages as they do in Arrow.
fn decode_bits(encoding: &Encoding, run: &Run<'_>, out: &mut BooleanBufferBuilder) -> Result<()> {
    let needed = run.wanted.end.div_ceil(8);
    if encoding.element != Element::Bit || run.wanted.is_empty() {
        return match encoding.element {
            Element::Bit => Ok(()),
            _ => Err(mismatch()),
        };
    }
    let bytes = run
        .bytes
        .get(..needed)
        .ok_or_else(|| malformed(0, "a page of bits is too short"))?;
    out.append_packed_range(run.wanted.clone(), bytes);
    Ok(())
}

impl Column {
    /// An empty column with room for `rows` values at its top (not for their items, whose number
    /// is known only from verified bytes), on memory that an earlier column of the shape has left.
    pub(super) fn new(shape: &Shape, rows: usize, spares: &mut Spares) -> Self {
        let offsets = |spares: &mut Spares| {
            let mut offsets = spares.vec(rows.saturating_add(1));
            offsets.push(0);
            offsets
        };
        let empty = |item: &Shape, spares: &mut Spares| Box::new(Column::new(item, 0, spares));
        match shape {
            Shape::Number { native, .. } => Column::Numbers(Numbers::new(*native, rows, spares)),
            Shape::Cardinality { is_wide, .. } => {
                let native = if *is_wide { Native::I64 } else { Native::I32 };
                Column::Numbers(Numbers::new(native, rows, spares))
            }
            Shape::String { .. } => Column::Strings {
                offsets: offsets(spares),
                bytes: spares.vec(0),
            },
            Shape::List { item, .. } => Column::List {
                offsets: offsets(spares),
                item: empty(item, spares),
            },
            Shape::Optional { item, .. } => Column::Optional {
                present: BooleanBufferBuilder::new(rows),
                item: empty(item, spares),
            },
            Shape::Array { item, .. } => Column::Array {
                rows: 0,
                item: empty(item, spares),
            },
            Shape::Record { members, .. } => Column::Record {
                rows: 0,
                members: members
                    .iter()
                    .map(|(_, member)| Column::new(member, rows, spares))
                    .collect(),
            },
            Shape::Variant { alternatives, .. } => Column::Variant {
                tags: Vec::with_capacity(rows),
                offsets: Vec::with_capacity(rows),
                none: 0,
                alternatives: alternatives
                    .iter()
                    .map(|a| Column::new(a, 0, spares))
                    .collect(),
            },
        }
    }

    /// How many values there are.
    pub(super) fn len(&self) -> usize {
        match self {
            Column::Numbers(numbers) => numbers.len(),
            Column::Strings { offsets, .. } | Column::List { offsets, .. } => {
                offsets.len().saturating_sub(1)
            }
            Column::Optional { present, .. } => present.len(),
            Column::Array { rows, .. } | Column::Record { rows, .. } => *rows,
            Column::Variant { tags, .. } => tags.len(),
        }
    }

    /// The finished Arrow array; `shape` as in [`Column::new`]. Its memory is remembered in `spares`.
    ///
    /// # Errors
    /// `Malformed` if the pieces do not fit together, which would be a mistake of this crate.
    pub(super) fn finish(self, shape: &Shape, spares: &mut Spares) -> Result<ArrayRef> {
        Ok(match (self, shape) {
            (Column::Numbers(numbers), _) => numbers.finish(spares),
            (Column::Strings { offsets, bytes }, _) => arrays::binary(offsets, bytes, spares)?,
            (Column::List { offsets, item }, Shape::List { item: of, .. }) => {
                let items = |spares: &mut Spares| item.finish(of, spares);
                arrays::list(field("item", of)?, offsets, items, spares)?
            }
            (Column::Optional { mut present, item }, Shape::Optional { item: of, .. }) => {
                expand(&item.finish(of, spares)?, &present.finish())?
            }
            (Column::Array { rows, item }, Shape::Array { len, item: of }) => {
                arrays::fixed_list(field("item", of)?, *len, item.finish(of, spares)?, rows)?
            }
            (Column::Record { rows, members }, Shape::Record { members: of, .. }) => {
                let members = members
                    .into_iter()
                    .zip(of)
                    .map(|(column, (_, member))| column.finish(member, spares))
                    .collect::<Result<Vec<_>>>()?;
                arrays::record(member_fields(of)?, members, rows)?
            }
            (
                Column::Variant {
                    tags,
                    offsets,
                    none,
                    alternatives,
                },
                Shape::Variant {
                    alternatives: of, ..
                },
            ) => {
                let mut children: Vec<ArrayRef> = vec![Arc::new(NullArray::new(none))];
                for (column, alternative) in alternatives.into_iter().zip(of) {
                    children.push(column.finish(alternative, spares)?);
                }
                let fields = alternative_fields(of)?;
                Arc::new(
                    UnionArray::try_new(fields, tags.into(), Some(offsets.into()), children)
                        .map_err(broken)?,
                )
            }
            _ => return Err(mismatch()),
        })
    }
}
