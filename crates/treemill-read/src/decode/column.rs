//! A column while it grows: one builder per node of a layout, and the Arrow array at the end.

use super::number::{self, Stored};
use super::packer::Packer;
use super::size::{Size, size_of};
use super::types::{arrow_type, field};
use crate::arrays;
use crate::expand::expand;
use crate::faults::{mismatch, unsupported};
use crate::memory::Spares;
use arrow_array::{ArrayRef, StructArray};
use arrow_buffer::BooleanBuffer;
use arrow_schema::{DataType, Fields};
use std::sync::Arc;
use treemill_format::error::Result;
use treemill_format::layout::{Layout, Number, Object, Part};
use treemill_format::open::Version;

/// A growing column. Made for one layout; every append must be of the same.
#[derive(Debug)]
pub enum Column {
    /// [`Layout::Number`].
    Numbers(Stored),
    /// [`Layout::Array`].
    Fixed {
        /// How many arrays.
        rows: usize,
        item: Box<Column>,
    },
    /// [`Layout::Counted`] and [`Layout::Vector`].
    List {
        /// Arrow's offsets; the first is 0.
        offsets: Vec<i32>,
        item: Box<Column>,
    },
    /// [`Layout::String`] and [`Layout::CharStar`].
    Bytes { offsets: Vec<i32>, bytes: Vec<u8> },
    /// [`Layout::Record`].
    Record { rows: usize, fields: Vec<Column> },
    /// [`Layout::Object`], a column for each part.
    Object { rows: usize, parts: Vec<Column> },
    /// [`Layout::Pointer`]: which are not null, and the objects that they point to.
    Pointer {
        present: Vec<bool>,
        item: Box<Column>,
    },
    /// A part that is not kept, or [`Layout::Absent`], which has no values.
    Nothing,
    /// [`Layout::Absent`] after the data have said what would be there: the name of its class.
    Met(Vec<u8>),
    /// The first part of objects that turned out to be of another version than their layout.
    Other(Version),
}

impl Column {
    /// An empty column with room for `rows` values at its top (not for their items, whose number
    /// is known only from verified bytes).
    ///
    /// # Errors
    /// `Unsupported` by name if the layout cannot be read.
    pub fn new(layout: &Layout, rows: usize) -> Result<Self> {
        Self::with(&mut Spares::default(), layout, rows)
    }

    /// An empty column like that of [`Column::new`], on memory that an earlier column of the same layout has left.
    ///
    /// # Errors
    /// As [`Column::new`].
    pub fn with(spares: &mut Spares, layout: &Layout, rows: usize) -> Result<Self> {
        size_of(layout)?;
        let offsets = |spares: &mut Spares| {
            // The number of inner lists is not known.
            let room = if rows == 0 { 0 } else { rows.saturating_add(1) };
            let mut offsets = spares.vec(room);
            offsets.push(0);
            offsets
        };
        Ok(match layout {
            Layout::Number(n) => {
                number::check(*n)?;
                Column::Numbers(Stored::new(*n, rows, spares))
            }
            Layout::Array { item, .. } => Column::Fixed {
                rows: 0,
                item: Box::new(Column::with(spares, item, 0)?),
            },
            Layout::Counted { item, .. } | Layout::Vector { item, .. } => Column::List {
                offsets: offsets(spares),
                item: Box::new(Column::with(spares, item, 0)?),
            },
            Layout::String { .. } | Layout::CharStar => Column::Bytes {
                offsets: offsets(spares),
                bytes: spares.vec(0),
            },
            Layout::Record(members) => Column::Record {
                rows: 0,
                fields: members
                    .iter()
                    .map(|(_, member)| Column::with(spares, member, rows))
                    .collect::<Result<_>>()?,
            },
            Layout::Object(object) => Column::object(spares, object)?,
            Layout::Pointer(pointer) => Column::Pointer {
                present: Vec::new(),
                item: Box::new(Column::with(spares, &pointer.to, 0)?),
            },
            Layout::Objects(objects) => Column::List {
                offsets: offsets(spares),
                item: Box::new(Column::with(spares, &objects.item, 0)?),
            },
            Layout::Clones(clones) => Column::List {
                offsets: offsets(spares),
                item: Box::new(Column::with(spares, &clones.item, 0)?),
            },
            Layout::Absent { .. } => Column::Nothing,
            Layout::Sized { .. } => return Err(mismatch()),
            Layout::Bits => Column::Numbers(Stored::new(Number::U32, rows, spares)),
            Layout::Unsupported { reason } => return Err(unsupported(reason)),
        })
    }

    /// An empty column like that of [`Column::with`]. If `bytes` is set, booleans outside lists and objects become
    /// numbers of a byte, 0 or 1.
    ///
    /// # Errors
    /// As [`Column::new`].
    pub fn plain(spares: &mut Spares, layout: &Layout, rows: usize, bytes: bool) -> Result<Self> {
        match layout {
            Layout::Number(Number::Bool) if bytes => {
                Ok(Column::Numbers(Stored::flags(rows, spares)))
            }
            layout => Column::with(spares, layout, rows),
        }
    }

    fn object(spares: &mut Spares, object: &Object) -> Result<Self> {
        let part = |part: &Part| match part {
            Part::Field(_, Layout::Sized { item, .. }) => Ok(Column::List {
                offsets: vec![0],
                item: Box::new(Column::with(spares, item, 0)?),
            }),
            Part::Field(_, layout) => Column::with(spares, layout, 0),
            Part::Base(base) => Column::object(spares, base),
            Part::Hidden(_) => Ok(Column::Nothing),
        };
        let parts = object.parts.iter().map(part).collect::<Result<_>>()?;
        Ok(Column::Object { rows: 0, parts })
    }

    /// How many values there are.
    #[must_use]
    pub fn len(&self) -> usize {
        match self {
            Column::Numbers(stored) => stored.numbers().len(),
            Column::Fixed { rows, .. }
            | Column::Record { rows, .. }
            | Column::Object { rows, .. } => *rows,
            Column::Pointer { present, .. } => present.len(),
            Column::Nothing | Column::Met(_) | Column::Other(_) => 0,
            Column::List { offsets, .. } | Column::Bytes { offsets, .. } => {
                offsets.len().saturating_sub(1)
            }
        }
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Appends `count` values of a fixed size that lie one after another and fill `bytes`.
    pub(super) fn append_packed(
        &mut self,
        layout: &Layout,
        bytes: &[u8],
        count: usize,
    ) -> Result<()> {
        match (self, layout) {
            (Column::Numbers(numbers), Layout::Number(_)) => {
                numbers.extend(bytes);
                Ok(())
            }
            (Column::Fixed { rows, item }, Layout::Array { item: of, len }) => {
                *rows = rows.saturating_add(count);
                item.append_packed(of, bytes, count.saturating_mul(*len as usize))
            }
            (Column::Record { rows, fields }, Layout::Record(members)) => {
                *rows = rows.saturating_add(count);
                let stride = size_of(layout)?.least();
                let mut start = 0_usize;
                for (column, (_, member)) in fields.iter_mut().zip(members) {
                    column.append_strided(member, bytes, stride, start)?;
                    start = start.saturating_add(size_of(member)?.least());
                }
                Ok(())
            }
            _ => Err(mismatch()),
        }
    }

    /// Appends the value of a fixed size at byte `at` of each `stride` bytes.
    pub(super) fn append_strided(
        &mut self,
        layout: &Layout,
        bytes: &[u8],
        stride: usize,
        at: usize,
    ) -> Result<()> {
        if let (Column::Numbers(numbers), Layout::Number(_)) = (&mut *self, layout) {
            numbers.extend_strided(bytes, stride, at);
            return Ok(());
        }
        let size = size_of(layout)?.least();
        let mut packer = Packer::new(self, layout, size);
        for start in (at..bytes.len()).step_by(stride.max(1)) {
            packer.push(bytes.get(start..).unwrap_or_default(), size)?;
        }
        packer.flush()
    }

    /// The finished Arrow array; `layout` as in [`Column::new`].
    ///
    /// # Errors
    /// `Malformed` if the pieces do not fit together, which would be a mistake of this crate.
    pub fn finish(self, layout: &Layout) -> Result<ArrayRef> {
        self.finish_into(&mut Spares::default(), layout)
    }

    /// Finishes like [`Column::finish`]; the memory can be used again when the array is gone.
    ///
    /// # Errors
    /// As [`Column::finish`].
    pub fn finish_into(self, spares: &mut Spares, layout: &Layout) -> Result<ArrayRef> {
        Ok(match (self, layout) {
            (Column::Numbers(numbers), Layout::Number(_) | Layout::Bits) => numbers.finish(spares),
            (Column::Object { rows, parts }, Layout::Object(object)) => {
                finish_object(rows, parts, object, spares, arrow_type(layout)?)?
            }
            (Column::Pointer { present, item }, Layout::Pointer(pointer)) => {
                let items = item.finish_into(spares, &pointer.to)?;
                expand(&items, &BooleanBuffer::from(present))?
            }
            (Column::Nothing | Column::Met(_), Layout::Absent { .. }) => {
                Arc::new(StructArray::new_empty_fields(0, None))
            }
            (Column::Fixed { rows, item }, Layout::Array { item: of, len }) => {
                let values = item.finish_into(spares, of)?;
                arrays::fixed_list(field("item", of)?, *len, values, rows)?
            }
            (Column::List { offsets, item }, layout) => {
                let of = item_of(layout).ok_or_else(mismatch)?;
                let items = |spares: &mut Spares| item.finish_into(spares, of);
                arrays::list(field("item", of)?, offsets, items, spares)?
            }
            (Column::Bytes { offsets, bytes }, Layout::String { .. } | Layout::CharStar) => {
                arrays::binary(offsets, bytes, spares)?
            }
            (Column::Record { rows, fields }, Layout::Record(members)) => {
                let types = members
                    .iter()
                    .map(|(name, member)| field(name, member))
                    .collect::<Result<Fields>>()?;
                let members = fields
                    .into_iter()
                    .zip(members)
                    .map(|(column, (_, member))| column.finish_into(spares, member))
                    .collect::<Result<Vec<_>>>()?;
                arrays::record(types, members, rows)?
            }
            _ => return Err(mismatch()),
        })
    }
}

/// What a list is a list of.
fn item_of(layout: &Layout) -> Option<&Layout> {
    match layout {
        Layout::Counted { item, .. } | Layout::Vector { item, .. } | Layout::Sized { item, .. } => {
            Some(item)
        }
        Layout::Clones(clones) => Some(&clones.item),
        Layout::Objects(objects) => Some(&objects.item),
        _ => None,
    }
}

fn finish_object(
    rows: usize,
    parts: Vec<Column>,
    object: &Object,
    spares: &mut Spares,
    kind: DataType,
) -> Result<ArrayRef> {
    let DataType::Struct(fields) = kind else {
        return Err(mismatch());
    };
    let mut members = Vec::with_capacity(fields.len());
    finish_parts(parts, object, spares, &mut members)?;
    arrays::record(fields, members, rows)
}

/// The arrays of an object's fields, with the fields of its bases first.
fn finish_parts(
    columns: Vec<Column>,
    object: &Object,
    spares: &mut Spares,
    arrays: &mut Vec<ArrayRef>,
) -> Result<()> {
    for (column, part) in columns.into_iter().zip(&object.parts) {
        match (column, part) {
            (column, Part::Field(_, layout)) => arrays.push(column.finish_into(spares, layout)?),
            (Column::Object { parts, .. }, Part::Base(base)) => {
                finish_parts(parts, base, spares, arrays)?;
            }
            (Column::Nothing, Part::Hidden(_)) => {}
            _ => return Err(mismatch()),
        }
    }
    Ok(())
}

/// The fixed size of a layout that callers know to have one.
pub(super) fn fixed_size(layout: &Layout) -> Result<usize> {
    match size_of(layout)? {
        Size::Fixed(size) => Ok(size),
        Size::AtLeast(_) => Err(mismatch()),
    }
}
