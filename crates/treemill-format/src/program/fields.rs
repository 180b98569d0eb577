//! The places of an object's wanted members, and reads of the integers there. Knows no programs: they fill in
//! the places.

use super::Slot;
use crate::error::{Result, malformed};
use crate::limits::MEMBERS_WANTED;
use crate::object::{header, named, tobject};
use crate::reader::Reader;
use std::slice;

/// The EReadWrite code of a double.
const DOUBLE: i32 = 8;

/// Where a wanted member lies.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Field {
    /// Offset of its first byte (of the items, for counted arrays).
    pub at: usize,
    /// EReadWrite code of a number.
    pub code: i32,
    /// Numbers in a counted array.
    pub count: usize,
}

impl Field {
    /// A member that is no number.
    pub(super) fn at(at: usize) -> Self {
        Field {
            at,
            code: 0,
            count: 0,
        }
    }
}

/// The places of the wanted members of one object.
#[derive(Debug)]
pub(crate) struct Fields<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) fields: [Option<Field>; MEMBERS_WANTED],
}

impl<'a> Fields<'a> {
    /// The place of a member; `None` if this version of the class has no such member.
    pub fn get(&self, wanted: impl Slot) -> Option<Field> {
        self.fields.get(wanted.index()).copied().flatten()
    }

    /// A cursor at a member.
    pub fn reader(&self, wanted: impl Slot) -> Option<Reader<'a>> {
        self.get(wanted)
            .map(|field| Reader::at(self.bytes, field.at))
    }

    /// An integer member, whatever its size (counts were floating-point numbers once).
    pub fn integer(&self, wanted: impl Slot) -> Result<Option<i64>> {
        match self.get(wanted) {
            Some(field) => integer(&mut Reader::at(self.bytes, field.at), field.code).map(Some),
            None => Ok(None),
        }
    }

    /// The first `limit` items of a counted array of integers; empty if there is no such member.
    pub fn integers<S: Slot>(&self, wanted: S, limit: usize) -> Integers<'a> {
        let Some(field) = self.get(wanted) else {
            return Integers::I32([].iter());
        };
        let rest = self.bytes.get(field.at..).unwrap_or_default();
        let count = field.count.min(limit);
        match field.code {
            3 | 6 => Integers::I32(first(rest.as_chunks().0, count)),
            4 | 16 => Integers::I64(first(rest.as_chunks().0, count)),
            code => Integers::Any {
                rest: Reader::at(self.bytes, field.at),
                code,
                left: count,
            },
        }
    }

    /// A TString member.
    pub fn string(&self, wanted: impl Slot) -> Result<&'a [u8]> {
        self.reader(wanted).map_or(Ok(&[]), |mut r| r.string())
    }

    /// A member that is a double.
    pub fn real(&self, wanted: impl Slot) -> Result<Option<f64>> {
        match self.get(wanted) {
            Some(field) if field.code == DOUBLE => Reader::at(self.bytes, field.at).f64().map(Some),
            _ => Ok(None),
        }
    }

    /// The bits of the TObject, where `wanted` is the TNamed base.
    pub fn bits(&self, wanted: impl Slot) -> Result<u32> {
        let Some(mut r) = self.reader(wanted) else {
            return Ok(0);
        };
        header(&mut r)?;
        tobject(&mut r)
    }

    /// Name and title, where `wanted` is the TNamed base.
    pub fn named(&self, wanted: impl Slot) -> Result<(&'a [u8], &'a [u8])> {
        self.reader(wanted)
            .map_or(Ok((&[], &[])), |mut r| named(&mut r))
    }
}

/// Items of a counted array. Trees have tens of thousands of baskets, so the usual types go without a
/// look at the code for each item.
#[derive(Debug)]
pub(crate) enum Integers<'a> {
    I32(slice::Iter<'a, [u8; 4]>),
    I64(slice::Iter<'a, [u8; 8]>),
    Any {
        rest: Reader<'a>,
        code: i32,
        left: usize,
    },
}

impl Iterator for Integers<'_> {
    type Item = Result<i64>;

    fn next(&mut self) -> Option<Self::Item> {
        match self {
            Integers::I32(items) => items.next().map(|b| Ok(i64::from(i32::from_be_bytes(*b)))),
            Integers::I64(items) => items.next().map(|b| Ok(i64::from_be_bytes(*b))),
            Integers::Any { rest, code, left } => {
                *left = left.checked_sub(1)?;
                Some(integer(rest, *code))
            }
        }
    }
}

/// The first `count` of the items: all of them were seen to be there when the member was located.
fn first<const N: usize>(items: &[[u8; N]], count: usize) -> slice::Iter<'_, [u8; N]> {
    items.get(..count).unwrap_or(items).iter()
}

/// Reads a number by its EReadWrite code as an integer.
pub(super) fn integer(r: &mut Reader, code: i32) -> Result<i64> {
    Ok(match code {
        1 => i64::from(r.i8()?),
        2 => i64::from(r.i16()?),
        3 | 6 => i64::from(r.i32()?),
        11 | 18 => i64::from(r.u8()?),
        12 => i64::from(r.u16()?),
        13 => i64::from(r.u32()?),
        4 | 16 => r.i64()?,
        14 | 17 => r.u64()?.cast_signed(),
        5 => r.f32()? as i64,
        8 => r.f64()? as i64,
        _ => {
            return Err(malformed(
                format!("a member that counts has the type code {code}, which is not an integer's"),
                r.position(),
            ));
        }
    })
}
