//! Sizes of layouts in bytes: fixed ones, by which counts are multiplied, and least ones, which bound counts.

use super::shared;
use crate::faults::unsupported;
use treemill_format::error::Result;
use treemill_format::layout::{Form, Hidden, Layout, Number, Object, Part, Truncation};

/// Byte count and version.
const HEADER: usize = 6;

/// Bytes of one value on disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Size {
    /// Always as many.
    Fixed(usize),
    /// A size that varies, and its least number of bytes.
    AtLeast(usize),
}

impl Size {
    /// The least bytes of a value.
    #[must_use]
    pub fn least(self) -> usize {
        match self {
            Size::Fixed(n) | Size::AtLeast(n) => n,
        }
    }
}

/// How many columns of values a layout is decoded to, not counting offsets.
#[must_use]
pub fn leaves(layout: &Layout) -> usize {
    fn of_object(object: &Object) -> usize {
        let of_part = |part: &Part| match part {
            Part::Field(_, layout) => leaves(layout),
            Part::Base(base) => of_object(base),
            Part::Hidden(_) => 0,
        };
        object
            .parts
            .iter()
            .map(of_part)
            .fold(0, usize::saturating_add)
    }
    match layout {
        Layout::Array { item, .. }
        | Layout::Counted { item, .. }
        | Layout::Vector { item, .. }
        | Layout::Sized { item, .. } => leaves(item),
        Layout::Record(members) => {
            let each = members.iter().map(|(_, member)| leaves(member));
            each.fold(0, usize::saturating_add)
        }
        Layout::Object(object) => of_object(object),
        Layout::Pointer(pointer) => leaves(&pointer.to),
        Layout::Objects(objects) => leaves(&objects.item),
        Layout::Clones(clones) => leaves(&clones.item),
        _ => 1,
    }
}

/// Bytes of a number on disk.
#[must_use]
pub fn number_size(number: Number) -> usize {
    match number {
        Number::Bool | Number::I8 | Number::U8 => 1,
        Number::I16 | Number::U16 => 2,
        Number::Float16(Truncation::Mantissa { .. })
        | Number::Double32(Truncation::Mantissa { .. }) => 3,
        Number::I32 | Number::U32 | Number::F32 | Number::Float16(_) | Number::Double32(_) => 4,
        Number::I64 | Number::U64 | Number::F64 => 8,
    }
}

/// Bytes of a value of `layout`.
///
/// # Errors
/// `Unsupported` for layouts that cannot be read: unknown ones, items without bytes (nothing would bound their
/// count), and counted items inside something else.
pub fn size_of(layout: &Layout) -> Result<Size> {
    match layout {
        Layout::Number(number) => Ok(Size::Fixed(number_size(*number))),
        Layout::Array { item, len } => {
            let len = *len as usize;
            Ok(match some_bytes(item)? {
                Size::Fixed(n) => Size::Fixed(n.saturating_mul(len)),
                Size::AtLeast(n) => Size::AtLeast(n.saturating_mul(len)),
            })
        }
        Layout::Counted { item, header } => {
            some_bytes(item)?;
            // Without items there is no header of collections either.
            Ok(Size::AtLeast(if *header > 1 {
                0
            } else {
                usize::from(*header)
            }))
        }
        Layout::Vector { item, header } => {
            some_bytes(item)?;
            Ok(Size::AtLeast(usize::from(*header).saturating_add(4)))
        }
        Layout::String { header } => Ok(Size::AtLeast(usize::from(*header).saturating_add(1))),
        Layout::Record(fields) if fields.is_empty() => {
            Err(unsupported("a branch without data of its own"))
        }
        Layout::Record(fields) => {
            let mut total = Size::Fixed(0);
            for (index, (_, field)) in fields.iter().enumerate() {
                // Only for texts, which are few: it visits all fields after this one.
                let others = || {
                    let behind = fields.get(index.saturating_add(1)..).unwrap_or_default();
                    fixed_sum(behind).map(|sum| sum.saturating_add(total.least()))
                };
                let size = match field {
                    // Nothing is written if it is empty.
                    Layout::String { header: 0 } if others() > Some(0) => Size::AtLeast(0),
                    field => inner(field)?,
                };
                let sum = total.least().saturating_add(size.least());
                total = match (total, size) {
                    (Size::Fixed(_), Size::Fixed(_)) => Size::Fixed(sum),
                    _ => Size::AtLeast(sum),
                };
            }
            Ok(total)
        }
        Layout::Object(object) => object_least(object).map(Size::AtLeast),
        Layout::Pointer(pointer) => some_bytes(&pointer.to).map(|_| Size::AtLeast(4)),
        Layout::Objects(objects) => some_bytes(&objects.item).map(|_| Size::AtLeast(4)),
        // A pointer to nothing; else more.
        Layout::Clones(clones) => some_bytes(&clones.item).map(|_| Size::AtLeast(4)),
        // One, so that the count of such items is bounded.
        Layout::Absent { .. } => Ok(Size::AtLeast(1)),
        Layout::Bits | Layout::CharStar => Ok(Size::AtLeast(4)),
        Layout::Sized { .. } => Err(unsupported("counted items outside an object")),
        Layout::Unsupported { reason } => Err(unsupported(reason)),
    }
}

/// The bytes of members that all have a fixed size.
pub(super) fn fixed_sum(members: &[(String, Layout)]) -> Option<usize> {
    members.iter().try_fold(0_usize, |sum, (_, member)| {
        #[cfg(test)]
        tests::LOOKS.set(tests::LOOKS.get().saturating_add(1));
        let Ok(Size::Fixed(size)) = size_of(member) else {
            return None;
        };
        Some(sum.saturating_add(size))
    })
}

/// The least bytes of an object.
fn object_least(object: &Object) -> Result<usize> {
    match object.form {
        Form::Framed => Ok(members_least(object, object_least, true)?.saturating_add(HEADER)),
        Form::Shared => shared::check(object).and_then(|()| shared_least(object)),
        Form::Bare => members_least(object, object_least, true),
        Form::Pair => members_least(object, object_least, false),
    }
}

/// The least bytes of an object whose members lie member by member with those of others.
pub(super) fn shared_least(object: &Object) -> Result<usize> {
    members_least(object, shared_least, false)
}

/// The least bytes of an object's members; `base_least` gives those of its bases. `headers` says whether
/// collections have headers.
fn members_least(
    object: &Object,
    base_least: fn(&Object) -> Result<usize>,
    headers: bool,
) -> Result<usize> {
    let mut least = 0_usize;
    for part in &object.parts {
        let size = match part {
            Part::Field(_, Layout::Sized { item, flag, .. }) => {
                some_bytes(item)?;
                usize::from(*flag)
            }
            Part::Field(_, layout) => {
                let header = match layout {
                    Layout::Vector { header, .. } | Layout::String { header } if !headers => {
                        *header
                    }
                    _ => 0,
                };
                inner(layout)?.least().saturating_sub(usize::from(header))
            }
            Part::Base(base) => base_least(base)?,
            Part::Hidden(Hidden::RootObject) => 10,
            Part::Hidden(Hidden::RootVersion) => 2,
            Part::Hidden(Hidden::Clear(_) | Hidden::Pointer) => 4,
            Part::Hidden(Hidden::Framed) => HEADER,
            Part::Hidden(Hidden::Bytes(n)) => usize::from(*n),
            Part::Hidden(Hidden::Exactly(bytes)) => bytes.len(),
        };
        least = least.saturating_add(size);
    }
    Ok(least)
}

/// Size of a layout inside another.
fn inner(layout: &Layout) -> Result<Size> {
    if matches!(layout, Layout::Counted { .. }) {
        return Err(unsupported("counted items inside another value"));
    }
    size_of(layout)
}

/// Size of something that is repeated: never 0.
fn some_bytes(layout: &Layout) -> Result<Size> {
    let size = inner(layout)?;
    if size.least() == 0 {
        return Err(unsupported("items without bytes"));
    }
    Ok(size)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    thread_local! {
        /// How many members `fixed_sum` has looked at.
        pub(super) static LOOKS: Cell<usize> = const { Cell::new(0) };
    }

    /// Only a text needs to know the fields after it. If all fields asked for them, a damaged record with
    /// 100,000 leaves would take minutes.
    #[test]
    fn the_fields_after_a_number_are_not_looked_at() {
        let number = |i: usize| (i.to_string(), Layout::Number(Number::F32));
        let mut fields: Vec<_> = (0..1000).map(number).collect();
        let size = |fields: &[_]| size_of(&Layout::Record(fields.to_vec()));
        LOOKS.set(0);
        assert_eq!(size(&fields), Ok(Size::Fixed(4000)));
        assert_eq!(LOOKS.get(), 0);
        fields.insert(500, ("text".to_owned(), Layout::String { header: 0 }));
        assert_eq!(size(&fields), Ok(Size::AtLeast(4000)));
        assert_eq!(LOOKS.get(), 500);
    }
}
