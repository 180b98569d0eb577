//! Numbers: big-endian bytes to native values, many at a time. Written so that the compiler makes
//! vector code of it: whole chunks, an exact length known beforehand, no branch inside.

use super::bits::Bits;
use crate::arrays::primitive;
use crate::faults::{malformed, unsupported};
use crate::memory::Spares;
use arrow_array::{ArrayRef, BooleanArray, types as arrow};
use std::sync::Arc;
use treemill_format::error::Result;
use treemill_format::layout::{Number, Truncation};

/// Decoded numbers of one type.
#[derive(Debug)]
pub enum Numbers {
    /// Packed to bits.
    Bool(Bits),
    /// Booleans of a byte each, 0 or 1.
    Flags(Vec<u8>),
    I8(Vec<i8>),
    I16(Vec<i16>),
    I32(Vec<i32>),
    I64(Vec<i64>),
    U8(Vec<u8>),
    U16(Vec<u16>),
    U32(Vec<u32>),
    U64(Vec<u64>),
    F32(Vec<f32>),
    F64(Vec<f64>),
    Float16(Vec<f32>, Truncation),
    Double32(Vec<f64>, Truncation),
}

/// One decoder for each form on disk: `$do!(values, number of bytes, bytes -> value)`.
macro_rules! for_each_form {
    ($numbers:expr, $do:ident) => {
        match $numbers {
            Numbers::Bool(v) => $do!(v, 1, |[b]: [u8; 1]| b),
            Numbers::Flags(v) => $do!(v, 1, |[b]: [u8; 1]| u8::from(b != 0)),
            Numbers::I8(v) => $do!(v, 1, i8::from_be_bytes),
            Numbers::I16(v) => $do!(v, 2, i16::from_be_bytes),
            Numbers::I32(v) => $do!(v, 4, i32::from_be_bytes),
            Numbers::I64(v) => $do!(v, 8, i64::from_be_bytes),
            Numbers::U8(v) => $do!(v, 1, u8::from_be_bytes),
            Numbers::U16(v) => $do!(v, 2, u16::from_be_bytes),
            Numbers::U32(v) => $do!(v, 4, u32::from_be_bytes),
            Numbers::U64(v) => $do!(v, 8, u64::from_be_bytes),
            Numbers::F32(v) => $do!(v, 4, f32::from_be_bytes),
            Numbers::F64(v) => $do!(v, 8, f64::from_be_bytes),
            Numbers::Float16(v, t) => match *t {
                Truncation::AsF32 => $do!(v, 4, f32::from_be_bytes),
                Truncation::Range { min, factor } => {
                    #[allow(clippy::cast_possible_truncation)]
                    {
                        $do!(v, 4, |b| from_range(b, min, factor) as f32)
                    }
                }
                Truncation::Mantissa { bits } => $do!(v, 3, |b| from_mantissa(b, bits)),
            },
            Numbers::Double32(v, t) => match *t {
                Truncation::AsF32 => $do!(v, 4, |b| f64::from(f32::from_be_bytes(b))),
                Truncation::Range { min, factor } => {
                    $do!(v, 4, |b| from_range(b, min, factor))
                }
                Truncation::Mantissa { bits } => {
                    $do!(v, 3, |b| f64::from(from_mantissa(b, bits)))
                }
            },
        }
    };
}

impl Numbers {
    /// An empty column with room for `capacity` numbers.
    pub fn new(number: Number, capacity: usize, spares: &mut Spares) -> Self {
        match number {
            Number::Bool => Numbers::Bool(Bits::new(capacity, spares)),
            Number::I8 => Numbers::I8(spares.vec(capacity)),
            Number::I16 => Numbers::I16(spares.vec(capacity)),
            Number::I32 => Numbers::I32(spares.vec(capacity)),
            Number::I64 => Numbers::I64(spares.vec(capacity)),
            Number::U8 => Numbers::U8(spares.vec(capacity)),
            Number::U16 => Numbers::U16(spares.vec(capacity)),
            Number::U32 => Numbers::U32(spares.vec(capacity)),
            Number::U64 => Numbers::U64(spares.vec(capacity)),
            Number::F32 => Numbers::F32(spares.vec(capacity)),
            Number::F64 => Numbers::F64(spares.vec(capacity)),
            Number::Float16(t) => Numbers::Float16(spares.vec(capacity), t),
            Number::Double32(t) => Numbers::Double32(spares.vec(capacity), t),
        }
    }

    /// An empty column for booleans of a byte each.
    pub fn flags(capacity: usize, spares: &mut Spares) -> Self {
        Numbers::Flags(spares.vec(capacity))
    }

    /// Appends the numbers that lie one after another in `bytes`; a rest shorter than a number is
    /// passed over (callers give whole numbers).
    pub fn extend(&mut self, bytes: &[u8]) {
        if let Numbers::Bool(bits) = self {
            return bits.extend_packed(bytes);
        }
        macro_rules! packed {
            ($values:expr, $size:literal, $from:expr) => {
                $values.extend(bytes.as_chunks::<$size>().0.iter().map(|&b| ($from)(b)))
            };
        }
        for_each_form!(self, packed);
    }

    /// Appends the numbers at `places` of those that lie one after another in `bytes`. Returns `None`, and
    /// appends nothing, if there is no such number.
    pub fn extend_at(&mut self, bytes: &[u8], places: &[u32]) -> Option<()> {
        let most = places.iter().fold(0, |most, place| most.max(*place)) as usize;
        macro_rules! selected {
            ($values:expr, $size:literal, $from:expr) => {{
                let numbers = bytes.as_chunks::<$size>().0;
                if !places.is_empty() {
                    numbers.get(most)?;
                }
                $values.extend(places.iter().map(|&place| {
                    // All are there: looked at once.
                    ($from)(numbers.get(place as usize).copied().unwrap_or_default())
                }));
            }};
        }
        for_each_form!(self, selected);
        Some(())
    }

    /// Appends the number at byte `at` of each `stride` bytes.
    pub fn extend_strided(&mut self, bytes: &[u8], stride: usize, at: usize) {
        let places = bytes.chunks_exact(stride.max(1));
        macro_rules! strided {
            ($values:expr, $size:literal, $from:expr) => {{
                $values.extend(places.clone().map(|place| {
                    // The length is the same for all: looked at once.
                    let place = place.get(at..).and_then(|p| p.first_chunk::<$size>());
                    ($from)(place.copied().unwrap_or_default())
                }));
                // Only the last place could be shorter, in bytes that were cut off.
                if let Some(place) = places.remainder().get(at..).filter(|p| !p.is_empty()) {
                    let place = place.first_chunk::<$size>().copied().unwrap_or_default();
                    $values.extend(std::iter::once(($from)(place)));
                }
            }};
        }
        for_each_form!(self, strided);
    }

    /// Appends one number from the front of `bytes`, which is moved past it.
    pub fn take(&mut self, bytes: &mut &[u8]) -> Result<()> {
        macro_rules! one {
            ($values:expr, $size:literal, $from:expr) => {{
                let Some((&head, rest)) = bytes.split_first_chunk::<$size>() else {
                    return Err(malformed(0, "an entry ends within a number".to_owned()));
                };
                $values.push(($from)(head));
                *bytes = rest;
            }};
        }
        for_each_form!(self, one);
        Ok(())
    }

    /// How many numbers there are.
    pub fn len(&self) -> usize {
        macro_rules! length {
            ($values:expr, $size:literal, $from:expr) => {{
                let _ = $from;
                $values.len()
            }};
        }
        for_each_form!(self, length)
    }

    /// The numbers as an Arrow array.
    pub fn finish(self, spares: &mut Spares) -> ArrayRef {
        match self {
            Numbers::Bool(bits) => Arc::new(BooleanArray::new(bits.finish(spares), None)),
            Numbers::I8(v) => primitive::<arrow::Int8Type>(v, spares),
            Numbers::I16(v) => primitive::<arrow::Int16Type>(v, spares),
            Numbers::I32(v) => primitive::<arrow::Int32Type>(v, spares),
            Numbers::I64(v) => primitive::<arrow::Int64Type>(v, spares),
            Numbers::U8(v) | Numbers::Flags(v) => primitive::<arrow::UInt8Type>(v, spares),
            Numbers::U16(v) => primitive::<arrow::UInt16Type>(v, spares),
            Numbers::U32(v) => primitive::<arrow::UInt32Type>(v, spares),
            Numbers::U64(v) => primitive::<arrow::UInt64Type>(v, spares),
            Numbers::F32(v) | Numbers::Float16(v, _) => primitive::<arrow::Float32Type>(v, spares),
            Numbers::F64(v) | Numbers::Double32(v, _) => primitive::<arrow::Float64Type>(v, spares),
        }
    }

    /// One of the numbers as a count of items: `None` if it is negative or not an integer.
    pub fn count_at(&self, at: usize) -> Option<usize> {
        fn convert<T: Copy + TryInto<usize>>(values: &[T], at: usize) -> Option<usize> {
            (*values.get(at)?).try_into().ok()
        }
        match self {
            Numbers::I8(v) => convert(v, at),
            Numbers::I16(v) => convert(v, at),
            Numbers::I32(v) => convert(v, at),
            Numbers::I64(v) => convert(v, at),
            Numbers::U8(v) => convert(v, at),
            Numbers::U16(v) => convert(v, at),
            Numbers::U32(v) => convert(v, at),
            Numbers::U64(v) => convert(v, at),
            _ => None,
        }
    }

    /// The numbers as counts of items: `None` if one is negative or beyond 32 bits, or where
    /// they are not integers.
    pub fn to_counts(&self, counts: &mut Vec<u32>) -> Option<()> {
        fn convert<T: Copy + TryInto<u32>>(values: &[T], counts: &mut Vec<u32>) -> Option<()> {
            for &value in values {
                counts.push(value.try_into().ok()?);
            }
            Some(())
        }
        counts.clear();
        match self {
            Numbers::I8(v) => convert(v, counts),
            Numbers::I16(v) => convert(v, counts),
            Numbers::I32(v) => convert(v, counts),
            Numbers::I64(v) => convert(v, counts),
            Numbers::U8(v) => convert(v, counts),
            Numbers::U16(v) => convert(v, counts),
            Numbers::U32(v) => convert(v, counts),
            Numbers::U64(v) => convert(v, counts),
            _ => None,
        }
    }
}

/// Whether the decoder knows this form of number.
///
/// # Errors
/// `Unsupported` for mantissas that do not fit the two bytes they are stored in.
pub fn check(number: Number) -> Result<()> {
    match number {
        Number::Float16(Truncation::Mantissa { bits })
        | Number::Double32(Truncation::Mantissa { bits })
            if bits > 14 =>
        {
            Err(unsupported("a truncated mantissa of more than 14 bits"))
        }
        _ => Ok(()),
    }
}

/// ROOT: `TBufferFile::ReadWithFactor`.
#[inline]
fn from_range(bytes: [u8; 4], min: f64, factor: f64) -> f64 {
    f64::from(u32::from_be_bytes(bytes)) / factor + min
}

/// ROOT: `TBufferFile::ReadWithNbits`. The exponent's byte, then a u16 with the sign above `bits + 1` bits of
/// mantissa, whose last bit is the carry of rounding.
#[inline]
fn from_mantissa([exponent, high, low]: [u8; 3], bits: u8) -> f32 {
    let stored = u32::from_be_bytes([0, 0, high, low]);
    let sign_at = u32::from(bits).saturating_add(1);
    let mantissa = stored & 1_u32.unbounded_shl(sign_at).wrapping_sub(1);
    let shift = 23_u32.saturating_sub(u32::from(bits));
    let sign = (stored.unbounded_shr(sign_at) & 1) << 31;
    f32::from_bits(((u32::from(exponent) << 23) | mantissa.unbounded_shl(shift)) ^ sign)
}

#[cfg(test)]
mod tests {
    use super::super::size::number_size;
    use super::*;

    /// Bytes of one of these numbers on disk.
    fn stored_size(numbers: &Numbers) -> usize {
        macro_rules! stored {
            ($values:expr, $size:literal, $from:expr) => {{
                let _ = (&*$values, $from);
                $size
            }};
        }
        for_each_form!(numbers, stored)
    }

    #[test]
    fn sizes_agree_with_the_table() {
        for number in [
            Number::Bool,
            Number::I16,
            Number::U32,
            Number::F64,
            Number::Float16(Truncation::Mantissa { bits: 12 }),
            Number::Double32(Truncation::AsF32),
            Number::Double32(Truncation::Range {
                min: 0.0,
                factor: 1.0,
            }),
        ] {
            assert_eq!(
                stored_size(&Numbers::new(number, 0, &mut Spares::default())),
                number_size(number),
                "{number:?}"
            );
        }
    }
}
