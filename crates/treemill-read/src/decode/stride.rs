//! Objects that all have the size of the first one, with members at the same offsets: headers are compared to
//! those that the class must have, and members are copied column by column. Pure.

use super::Entries;
use super::column::Column;
use super::size::{Size, size_of};
use crate::faults::{mismatch, too_many};
use crate::limits::PATTERN_BYTES;
use treemill_format::error::Result;
use treemill_format::layout::{Class, Form, Hidden, Layout, Number, Object, Part};
use treemill_format::marks::{BYTE_COUNT, IS_REFERENCED, MEMBER_WISE};

/// The length byte that announces a longer length.
const LONG: u8 = 255;

/// Whether all objects of the class have the same size.
pub(super) fn is_possible(of: &Object) -> bool {
    let fixed = |part: &Part| match part {
        Part::Base(base) | Part::Field(_, Layout::Object(base)) => is_possible(base),
        Part::Field(_, layout) => matches!(layout, Layout::Number(_) | Layout::Array { .. }),
        Part::Hidden(Hidden::RootVersion | Hidden::Pointer | Hidden::Framed) => false,
        Part::Hidden(_) => true,
    };
    of.form != Form::Shared && of.parts.iter().all(fixed)
}

/// The offsets of the fields of such an object.
pub(super) struct Stride {
    /// What an object's bytes must be, where `mask` has bits.
    expected: Vec<u8>,
    mask: Vec<u8>,
    /// Where the fields begin, in the order of the parts, and the lengths of strings in bytes and of counted
    /// arrays in items.
    fields: Vec<(usize, usize)>,
}

impl Stride {
    /// The stride of the `first` object, which says how its classes are versioned. `None` if objects of the
    /// class may differ in size, or if this one is not as it must be.
    pub(super) fn of(object: &Object, first: &[u8]) -> Option<Self> {
        let mut stride = Stride {
            expected: Vec::new(),
            mask: Vec::new(),
            fields: Vec::new(),
        };
        stride.object(object, first)?;
        (stride.size() > 0).then_some(stride)
    }

    /// How objects lie that fill their entries with nothing between: one in each, or any number.
    pub(super) fn gapless(object: &Object, entries: Entries<'_>, one: bool) -> Option<Self> {
        let stride = Stride::of(object, entries.bytes())?;
        let size = u32::try_from(stride.size()).ok()?;
        let ends = entries.starts.iter().skip(1);
        let mut lengths = entries
            .starts
            .iter()
            .zip(ends)
            .map(|(start, end)| end.wrapping_sub(*start));
        let whole = match one {
            // All are visited, without an early end, so that this becomes vector code.
            true => lengths.fold(0, |wrong, length| wrong | (length ^ size)) == 0,
            false => lengths.all(|length| length.is_multiple_of(size)),
        };
        (whole && stride.fits(entries.bytes())).then_some(stride)
    }

    /// Bytes of an object.
    pub(super) fn size(&self) -> usize {
        self.mask.len()
    }

    /// Whether all objects in `bytes`, which they fill, are as they must be.
    pub(super) fn fits(&self, bytes: &[u8]) -> bool {
        let size = self.size().max(1);
        // Many objects at a time, by a repeated pattern: one object is too short for vector code.
        let many = PATTERN_BYTES.div_ceil(size);
        let (mask, expected) = (self.mask.repeat(many), self.expected.repeat(many));
        bytes.len().is_multiple_of(size)
            && bytes.chunks(mask.len()).all(|objects| {
                let pairs = mask.iter().zip(&expected);
                let wrong = |all, (byte, (mask, expected))| all | (byte & mask ^ expected);
                objects.iter().zip(pairs).fold(0, wrong) == 0
            })
    }

    /// Appends all objects in `bytes`, which fit.
    pub(super) fn append(&self, column: &mut Column, of: &Object, bytes: &[u8]) -> Result<()> {
        let mut fields = self.fields.iter().copied();
        self.append_object(column, of, bytes, &mut fields)
    }

    fn append_object(
        &self,
        column: &mut Column,
        of: &Object,
        bytes: &[u8],
        fields: &mut impl Iterator<Item = (usize, usize)>,
    ) -> Result<()> {
        let Column::Object { rows, parts } = column else {
            return Err(mismatch());
        };
        let count = bytes.len().checked_div(self.size()).unwrap_or(0);
        *rows = rows.saturating_add(count);
        for (column, part) in parts.iter_mut().zip(&of.parts) {
            match part {
                Part::Hidden(_) => {}
                Part::Base(base) | Part::Field(_, Layout::Object(base)) => {
                    self.append_object(column, base, bytes, fields)?;
                }
                Part::Field(_, layout) => {
                    let (at, len) = fields.next().ok_or_else(mismatch)?;
                    match layout {
                        Layout::String { .. } | Layout::Sized { .. } => {
                            self.append_lists(column, layout, bytes, at, len)?;
                        }
                        _ => column.append_strided(layout, bytes, self.size(), at)?,
                    }
                }
            }
        }
        Ok(())
    }

    /// Appends strings, or lists, that all have as many bytes, or items.
    fn append_lists(
        &self,
        column: &mut Column,
        layout: &Layout,
        bytes: &[u8],
        at: usize,
        len: usize,
    ) -> Result<()> {
        let count = bytes.len().checked_div(self.size()).unwrap_or(0);
        let (offsets, size) = match (&mut *column, layout) {
            (Column::Bytes { offsets, .. }, _) => (offsets, 1),
            (Column::List { offsets, .. }, Layout::Sized { item, .. }) => {
                (offsets, size_of(item)?.least())
            }
            _ => return Err(mismatch()),
        };
        let step = i32::try_from(len).map_err(|_| too_many())?;
        let more = i32::try_from(count).ok().and_then(|n| n.checked_mul(step));
        let before = offsets.last().copied().unwrap_or(0);
        more.and_then(|more| before.checked_add(more))
            .ok_or_else(too_many)?;
        offsets.extend(
            (1..)
                .take(count)
                .map(|n: i32| before.wrapping_add(n.wrapping_mul(step))),
        );
        if len == 0 {
            return Ok(());
        }
        let end = at.saturating_add(len.saturating_mul(size));
        let mut values = Vec::new();
        for object in bytes.chunks_exact(self.size().max(1)) {
            values.extend_from_slice(object.get(at..end).ok_or_else(mismatch)?);
        }
        match (column, layout) {
            (Column::Bytes { bytes, .. }, _) => {
                bytes.extend_from_slice(&values);
                Ok(())
            }
            (Column::List { item: to, .. }, Layout::Sized { item, .. }) => {
                to.append_packed(item, &values, count.saturating_mul(len))
            }
            _ => Err(mismatch()),
        }
    }

    fn object(&mut self, of: &Object, first: &[u8]) -> Option<()> {
        let begin = self.size();
        if of.form == Form::Shared {
            return None;
        }
        if of.form == Form::Framed {
            self.must(&[0; 4]);
            self.version(&of.class, first)?;
        }
        let mut places = Vec::with_capacity(of.parts.len());
        for part in &of.parts {
            places.push(self.size());
            match part {
                Part::Base(base) | Part::Field(_, Layout::Object(base)) => {
                    self.object(base, first)?;
                }
                Part::Field(_, Layout::String { header }) if of.form != Form::Pair => {
                    self.any(usize::from(*header));
                    let length = *first.get(self.size())?;
                    if length == LONG {
                        return None;
                    }
                    self.must(&[length]);
                    self.variable(first, 1, usize::from(length))?;
                }
                Part::Field(
                    _,
                    Layout::Sized {
                        item,
                        counter,
                        flag: false,
                    },
                ) => {
                    let counter = counter.own()?;
                    let Some(Part::Field(_, Layout::Number(Number::I32))) = of.parts.get(counter)
                    else {
                        return None;
                    };
                    let Ok(Size::Fixed(size)) = size_of(item) else {
                        return None;
                    };
                    let place = *places.get(counter)?;
                    let said = *first.get(place..)?.first_chunk::<4>()?;
                    *self.expected.get_mut(place..)?.first_chunk_mut::<4>()? = said;
                    *self.mask.get_mut(place..)?.first_chunk_mut::<4>()? = [0xff; 4];
                    let count = usize::try_from(i32::from_be_bytes(said)).ok()?;
                    self.variable(first, size, count)?;
                }
                Part::Field(_, layout @ (Layout::Number(_) | Layout::Array { .. })) => {
                    let Ok(Size::Fixed(size)) = size_of(layout) else {
                        return None;
                    };
                    // Only as many as there are in the first object: lengths in the file are not
                    // believed.
                    first.get(self.size()..)?.get(..size)?;
                    self.fields.push((self.size(), 0));
                    self.any(size);
                }
                Part::Field(..) => return None,
                Part::Hidden(Hidden::RootVersion | Hidden::Pointer | Hidden::Framed) => {
                    return None;
                }
                Part::Hidden(Hidden::Bytes(n)) => self.any(usize::from(*n)),
                Part::Hidden(Hidden::Exactly(bytes)) => self.must(bytes),
                Part::Hidden(Hidden::Clear(mask)) => self.clear(&mask.to_be_bytes()),
                Part::Hidden(Hidden::RootObject) => {
                    self.clear(&MEMBER_WISE.to_be_bytes());
                    self.any(4);
                    self.clear(&IS_REFERENCED.to_be_bytes());
                }
            }
        }
        if of.form == Form::Framed {
            let len = u32::try_from(self.size().checked_sub(begin)?.checked_sub(4)?).ok()?;
            let place = self.expected.get_mut(begin..)?.first_chunk_mut::<4>()?;
            *place = (len | BYTE_COUNT).to_be_bytes();
        }
        Some(())
    }

    /// A class's version, or 0 and the checksum, as the first object has it.
    fn version(&mut self, class: &Class, first: &[u8]) -> Option<()> {
        let version = *first.get(self.size()..)?.first_chunk::<2>()?;
        self.must(&version);
        match u16::from_be_bytes(version) {
            0 if class.checksum == 0 => self.any(4),
            0 => self.must(&class.checksum.to_be_bytes()),
            version if i32::from(version) == class.version => {}
            _ => return None,
        }
        Some(())
    }

    /// `n` values of `size` bytes, as the first object has them.
    fn variable(&mut self, first: &[u8], size: usize, count: usize) -> Option<()> {
        let len = size.checked_mul(count)?;
        first.get(self.size()..)?.get(..len)?;
        self.fields.push((self.size(), count));
        self.any(len);
        Some(())
    }

    /// The next bytes must be these.
    fn must(&mut self, bytes: &[u8]) {
        self.expected.extend_from_slice(bytes);
        self.mask.resize(self.expected.len(), 0xff);
    }

    /// None of these bits may be set in the next bytes.
    fn clear(&mut self, mask: &[u8]) {
        self.mask.extend_from_slice(mask);
        self.expected.resize(self.mask.len(), 0);
    }

    /// The next bytes may be anything.
    fn any(&mut self, len: usize) {
        self.expected
            .resize(self.expected.len().saturating_add(len), 0);
        self.mask.resize(self.expected.len(), 0);
    }
}
