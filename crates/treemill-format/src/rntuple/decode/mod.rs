//! Decodes a page's uncompressed bytes to numbers. Pure: knows encodings; no files, positions of columns, or
//! Arrow.
//!
//! Source: RNTuple binary format specification 1.0, section "Column Description".

mod bits;
mod half;
mod index;
mod split;
#[cfg(test)]
mod tests;

pub use index::{Switch, decode_ends, decode_switches};

use super::element::{Element, Encoding};
use crate::error::{FormatError, Result, malformed, unsupported};
use std::ops::Range;

/// Some elements of a page.
#[derive(Debug, Clone)]
pub struct Run<'a> {
    /// The page's uncompressed bytes: `Encoding::page_bytes` of them.
    pub bytes: &'a [u8],
    /// How many elements the page has.
    pub count: usize,
    /// Which of them are wanted.
    pub wanted: Range<usize>,
}

impl<'a> Run<'a> {
    /// The bytes of the wanted elements where each has `N` bytes, one after another.
    fn packed<const N: usize>(&self) -> Result<&'a [u8]> {
        let start = self.wanted.start.checked_mul(N);
        let end = self.wanted.end.checked_mul(N);
        start
            .zip(end)
            .and_then(|(start, end)| self.bytes.get(start..end))
            .ok_or_else(|| self.too_short())
    }

    /// The wanted elements' first bytes, second bytes, …, of pages that are split.
    fn planes<const N: usize>(&self) -> Result<[&'a [u8]; N]> {
        let mut planes = [&[][..]; N];
        let mut rest = self.bytes;
        for plane in &mut planes {
            let (this, later) = rest
                .split_at_checked(self.count)
                .ok_or_else(|| self.too_short())?;
            *plane = this
                .get(self.wanted.clone())
                .ok_or_else(|| self.too_short())?;
            rest = later;
        }
        Ok(planes)
    }

    fn too_short(&self) -> FormatError {
        malformed(
            format!(
                "a page is too short: elements {}..{} of its {} do not lie in its {} bytes",
                self.wanted.start,
                self.wanted.end,
                self.count,
                self.bytes.len()
            ),
            0,
        )
    }
}

/// Numbers that elements are decoded to.
pub trait Decode: Sized {
    /// Appends the elements of a run to `out`.
    ///
    /// # Errors
    /// `Malformed` if the page is too short; `Unsupported` if elements of this encoding do
    /// not become such numbers.
    fn decode(encoding: &Encoding, run: &Run<'_>, out: &mut Vec<Self>) -> Result<()>;
}

/// Elements of this encoding do not become numbers of type `T`.
fn mismatch<T>(encoding: &Encoding) -> FormatError {
    unsupported(format!(
        "RNTuple elements {:?} as {}",
        encoding.element,
        std::any::type_name::<T>()
    ))
}

/// Appends elements that lie one after another, `N` bytes each.
fn plain<const N: usize, T>(
    run: &Run<'_>,
    out: &mut Vec<T>,
    make: impl Fn([u8; N]) -> T,
) -> Result<()> {
    let (elements, _) = run.packed::<N>()?.as_chunks::<N>();
    out.extend(elements.iter().map(|bytes| make(*bytes)));
    Ok(())
}

/// Integers of one width. The element says what is stored; the declared type of the field says the sign.
macro_rules! integers {
    ($($signed:ty, $unsigned:ty, $with_sign:ident, $without:ident, $split:ident;)*) => {$(
        integers! { $signed, $unsigned, $with_sign, $without, $split }
        integers! { $unsigned, $unsigned, $with_sign, $without, $split }
    )*};
    ($type:ty, $unsigned:ty, $with_sign:ident, $without:ident, $split:ident) => {
        impl Decode for $type {
            fn decode(encoding: &Encoding, run: &Run<'_>, out: &mut Vec<Self>) -> Result<()> {
                // Zigzag: 0, 1, 2, 3, … stand for 0, -1, 1, -2, ….
                let unzigzag = |stored: $unsigned| {
                    ((stored >> 1) ^ (stored & 1).wrapping_neg()) as $type
                };
                match (encoding.element, encoding.split) {
                    (Element::$with_sign | Element::$without, false) => {
                        plain(run, out, <$type>::from_le_bytes)
                    }
                    (Element::$with_sign, true) => split::$split(run, out, unzigzag),
                    (Element::$without, true) => split::$split(run, out, |stored| stored as $type),
                    _ => Err(mismatch::<$type>(encoding)),
                }
            }
        }
    };
}

integers! {
    i16, u16, I16, U16, split2;
    i32, u32, I32, U32, split4;
    i64, u64, I64, U64, split8;
}

impl Decode for u8 {
    fn decode(encoding: &Encoding, run: &Run<'_>, out: &mut Vec<Self>) -> Result<()> {
        if !matches!(encoding.element, Element::U8 | Element::I8) {
            return Err(mismatch::<u8>(encoding));
        }
        out.extend_from_slice(run.packed::<1>()?);
        Ok(())
    }
}

impl Decode for i8 {
    fn decode(encoding: &Encoding, run: &Run<'_>, out: &mut Vec<Self>) -> Result<()> {
        match encoding.element {
            Element::U8 | Element::I8 => plain(run, out, i8::from_le_bytes),
            _ => Err(mismatch::<i8>(encoding)),
        }
    }
}

impl Decode for f32 {
    fn decode(encoding: &Encoding, run: &Run<'_>, out: &mut Vec<Self>) -> Result<()> {
        match (encoding.element, encoding.split) {
            (Element::F32, false) => plain(run, out, f32::from_le_bytes),
            (Element::F32, true) => split::split4(run, out, f32::from_bits),
            (Element::F16, false) => plain(run, out, |b| half::to_f32(u16::from_le_bytes(b))),
            (Element::F16, true) => split::split2(run, out, half::to_f32),
            (Element::Truncated { bits }, _) => {
                bits::unpack(run, bits, out, |stored| bits::untruncate(stored, bits))
            }
            (Element::Quantized { bits, min, max }, _) => {
                let restore = bits::unquantize(bits, min, max);
                bits::unpack(run, bits, out, |stored| restore(stored) as f32)
            }
            _ => Err(mismatch::<f32>(encoding)),
        }
    }
}

impl Decode for f64 {
    fn decode(encoding: &Encoding, run: &Run<'_>, out: &mut Vec<Self>) -> Result<()> {
        let widen = |b: [u8; 4]| f64::from(f32::from_le_bytes(b));
        match (encoding.element, encoding.split) {
            (Element::F64, false) => plain(run, out, f64::from_le_bytes),
            (Element::F64, true) => split::split8(run, out, f64::from_bits),
            (Element::F32, false) => plain(run, out, widen),
            (Element::F32, true) => split::split4(run, out, |b| f64::from(f32::from_bits(b))),
            (Element::F16, false) => {
                plain(run, out, |b| f64::from(half::to_f32(u16::from_le_bytes(b))))
            }
            (Element::F16, true) => split::split2(run, out, |b| f64::from(half::to_f32(b))),
            (Element::Truncated { bits }, _) => bits::unpack(run, bits, out, |stored| {
                f64::from(bits::untruncate(stored, bits))
            }),
            (Element::Quantized { bits, min, max }, _) => {
                bits::unpack(run, bits, out, bits::unquantize(bits, min, max))
            }
            _ => Err(mismatch::<f64>(encoding)),
        }
    }
}
