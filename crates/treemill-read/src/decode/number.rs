//! Numbers: big-endian bytes to native values, many at a time. Written so that the compiler makes
//! vector code of it: whole chunks, an exact length known beforehand, no branch inside.

use crate::bits::Bits;
use crate::faults::{malformed, unsupported};
use crate::memory::Spares;
use crate::numbers::Numbers;
use arrow_array::ArrayRef;
use treemill_format::error::Result;
use treemill_format::layout::{Number, Truncation};
use treemill_format::rntuple::Native;

/// Decoded numbers, and their form on disk.
#[derive(Debug)]
pub struct Stored {
    numbers: Numbers<Bits>,
    form: Form,
}

/// How a number lies on disk.
#[derive(Debug, Clone, Copy)]
enum Form {
    /// Big-endian bytes of the number's own type; booleans are a byte each.
    Plain,
    /// Booleans of a byte each, which become 0 or 1.
    Flag,
    /// Fewer bytes than the number has.
    Truncated(Truncation),
}

/// One decoder for each form on disk: `$do!(values, number of bytes, bytes -> value)`.
macro_rules! for_each_form {
    ($stored:expr, $do:ident) => {
        match (&mut $stored.numbers, $stored.form) {
            (Numbers::Bool(v), _) => $do!(v, 1, |[b]: [u8; 1]| b),
            (Numbers::U8(v), Form::Flag) => $do!(v, 1, |[b]: [u8; 1]| u8::from(b != 0)),
            (Numbers::I8(v), _) => $do!(v, 1, i8::from_be_bytes),
            (Numbers::I16(v), _) => $do!(v, 2, i16::from_be_bytes),
            (Numbers::I32(v), _) => $do!(v, 4, i32::from_be_bytes),
            (Numbers::I64(v), _) => $do!(v, 8, i64::from_be_bytes),
            (Numbers::U8(v), _) => $do!(v, 1, u8::from_be_bytes),
            (Numbers::U16(v), _) => $do!(v, 2, u16::from_be_bytes),
            (Numbers::U32(v), _) => $do!(v, 4, u32::from_be_bytes),
            (Numbers::U64(v), _) => $do!(v, 8, u64::from_be_bytes),
            (Numbers::F32(v), Form::Truncated(Truncation::Range { min, factor })) => {
                #[allow(clippy::cast_possible_truncation)]
                {
                    $do!(v, 4, |b| from_range(b, min, factor) as f32)
                }
            }
            (Numbers::F32(v), Form::Truncated(Truncation::Mantissa { bits })) => {
                $do!(v, 3, |b| from_mantissa(b, bits))
            }
            (Numbers::F32(v), _) => $do!(v, 4, f32::from_be_bytes),
            (Numbers::F64(v), Form::Truncated(Truncation::AsF32)) => {
                $do!(v, 4, |b| f64::from(f32::from_be_bytes(b)))
            }
            (Numbers::F64(v), Form::Truncated(Truncation::Range { min, factor })) => {
                $do!(v, 4, |b| from_range(b, min, factor))
            }
            (Numbers::F64(v), Form::Truncated(Truncation::Mantissa { bits })) => {
                $do!(v, 3, |b| f64::from(from_mantissa(b, bits)))
            }
            (Numbers::F64(v), _) => $do!(v, 8, f64::from_be_bytes),
        }
    };
}

impl Stored {
    /// An empty column with room for `room` numbers.
    pub fn new(number: Number, room: usize, spares: &mut Spares) -> Self {
        let (native, form) = match number {
            Number::Bool => (Native::Bool, Form::Plain),
            Number::I8 => (Native::I8, Form::Plain),
            Number::I16 => (Native::I16, Form::Plain),
            Number::I32 => (Native::I32, Form::Plain),
            Number::I64 => (Native::I64, Form::Plain),
            Number::U8 => (Native::U8, Form::Plain),
            Number::U16 => (Native::U16, Form::Plain),
            Number::U32 => (Native::U32, Form::Plain),
            Number::U64 => (Native::U64, Form::Plain),
            Number::F32 => (Native::F32, Form::Plain),
            Number::F64 => (Native::F64, Form::Plain),
            Number::Float16(truncation) => (Native::F32, Form::Truncated(truncation)),
            Number::Double32(truncation) => (Native::F64, Form::Truncated(truncation)),
        };
        let numbers = Numbers::new(native, room, spares);
        Stored { numbers, form }
    }

    /// An empty column for booleans of a byte each.
    pub fn flags(room: usize, spares: &mut Spares) -> Self {
        let numbers = Numbers::new(Native::U8, room, spares);
        let form = Form::Flag;
        Stored { numbers, form }
    }

    /// The numbers themselves.
    pub fn numbers(&self) -> &Numbers<Bits> {
        &self.numbers
    }

    /// The numbers as an Arrow array.
    pub fn finish(self, spares: &mut Spares) -> ArrayRef {
        self.numbers.finish(spares)
    }

    /// Appends the numbers that lie one after another in `bytes`; a rest shorter than a number is
    /// passed over (callers give whole numbers).
    pub fn extend(&mut self, bytes: &[u8]) {
        if let Numbers::Bool(bits) = &mut self.numbers {
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
    fn stored_size(mut stored: Stored) -> usize {
        macro_rules! size {
            ($values:expr, $size:literal, $from:expr) => {{
                let _ = (&*$values, $from);
                $size
            }};
        }
        for_each_form!(stored, size)
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
                stored_size(Stored::new(number, 0, &mut Spares::default())),
                number_size(number),
                "{number:?}"
            );
        }
    }
}
