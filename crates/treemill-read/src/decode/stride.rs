//! Objects that all have as many bytes, their members always at the same places: headers are compared
//! with those that the class must have, members taken out column by column. Pure.

use super::Entries;
use super::column::{Column, mismatch};
use super::object::{BYTE_COUNT, IS_REFERENCED, MEMBER_WISE};
use super::size::{Size, size_of};
use treemill_format::error::Result;
use treemill_format::layout::{Class, Form, Hidden, Layout, Object, Part};

/// Bytes that are compared at a time.
const PATTERN: usize = 512;

/// Whether objects of the class can all have as many bytes.
pub(super) fn is_possible(of: &Object) -> bool {
    let fixed = |part: &Part| match part {
        Part::Base(base) | Part::Field(_, Layout::Object(base)) => is_possible(base),
        Part::Field(_, layout) => matches!(layout, Layout::Number(_) | Layout::Array { .. }),
        Part::Hidden(Hidden::RootVersion | Hidden::Pointer | Hidden::Framed) => false,
        Part::Hidden(_) => true,
    };
    of.form != Form::Shared && of.parts.iter().all(fixed)
}

/// Where what is in such an object.
pub(super) struct Stride {
    /// What an object's bytes must be, where `mask` has bits.
    expected: Vec<u8>,
    mask: Vec<u8>,
    /// Where the fields begin, in the order of the parts.
    fields: Vec<usize>,
}

impl Stride {
    /// As the `first` object lies, which says how its classes are versioned. `None` where objects
    /// of the class may differ in size, or this one is not as it must be.
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
            // To the end, without a look at each: vector code.
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
        // Many at a time, by a pattern that is repeated: vector code, which one object is too short for.
        let many = PATTERN.div_ceil(size);
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
        fields: &mut impl Iterator<Item = usize>,
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
                    let at = fields.next().ok_or_else(mismatch)?;
                    column.append_strided(layout, bytes, self.size(), at)?;
                }
            }
        }
        Ok(())
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
        for part in &of.parts {
            match part {
                Part::Base(base) | Part::Field(_, Layout::Object(base)) => {
                    self.object(base, first)?;
                }
                Part::Field(_, layout @ (Layout::Number(_) | Layout::Array { .. })) => {
                    let Ok(Size::Fixed(size)) = size_of(layout) else {
                        return None;
                    };
                    // Only as many as there are in the first object: lengths in the file are not
                    // believed.
                    first.get(self.size()..)?.get(..size)?;
                    self.fields.push(self.size());
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

    /// The next bytes must be these.
    fn must(&mut self, bytes: &[u8]) {
        self.expected.extend_from_slice(bytes);
        self.mask.resize(self.expected.len(), 0xff);
    }

    /// Of the next bytes none of these bits may be set.
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
