//! A checked little-endian cursor over an envelope's bytes, with RNTuple's strings and frames. Knows how values
//! are stored, not what they mean.
//!
//! Source: RNTuple binary format specification 1.0, sections "Basic Types" and "Frames".

use crate::error::{Result, malformed};
use crate::reader::{Reader, text};

/// A position in bytes, and where reading must end. A failed read does not move it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cursor<'a>(Reader<'a>);

macro_rules! number {
    ($($name:ident: $type:ty),*) => {$(
        pub(super) fn $name(&mut self) -> Result<$type> {
            Ok(<$type>::from_le_bytes(self.array()?))
        }
    )*};
}

impl<'a> Cursor<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Cursor(Reader::new(bytes))
    }

    pub(super) fn position(&self) -> usize {
        self.0.position()
    }

    pub(super) fn remaining(&self) -> usize {
        self.0.remaining()
    }

    pub(super) fn take(&mut self, n: usize) -> Result<&'a [u8]> {
        self.0.take(n)
    }

    pub(super) fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        self.0.array()
    }

    number! { u16: u16, u32: u32, u64: u64, i32: i32, i64: i64, f64: f64 }

    /// A string: a 32-bit number of bytes, then the bytes. What is not UTF-8 becomes U+FFFD.
    pub(super) fn string(&mut self) -> Result<String> {
        let n = self.u32()?;
        let bytes = self.take(usize::try_from(n).unwrap_or(usize::MAX))?;
        Ok(text(bytes))
    }

    /// The contents of the record frame that begins here; this cursor moves past the frame,
    /// whatever of it is known.
    pub(super) fn record_frame(&mut self) -> Result<Cursor<'a>> {
        let start = self.position();
        let size = self.i64()?;
        if size < 0 {
            return Err(malformed(
                "a list frame stands in the place of a record frame",
                start,
            ));
        }
        self.frame(start, size.unsigned_abs())
    }

    /// The number of items and the contents of the list frame that begins here; this cursor
    /// moves past the frame. The number is not verified: take no memory for it alone.
    pub(super) fn list_frame(&mut self) -> Result<(usize, Cursor<'a>)> {
        let start = self.position();
        let size = self.i64()?;
        if size >= 0 {
            return Err(malformed(
                "a record frame stands in the place of a list frame",
                start,
            ));
        }
        let mut body = self.frame(start, size.unsigned_abs())?;
        let items = body.u32()?;
        Ok((usize::try_from(items).unwrap_or(usize::MAX), body))
    }

    /// The contents of a frame that began at `start` and has `size` bytes in all; the cursor is after the size.
    fn frame(&mut self, start: usize, size: u64) -> Result<Cursor<'a>> {
        let end = usize::try_from(size)
            .ok()
            .and_then(|size| start.checked_add(size));
        let (bytes, body) = (self.0.bytes(), self.position());
        match end.and_then(|end| Some((end, bytes.get(..end)?))) {
            Some((end, framed)) if end >= body => {
                self.0.seek(end)?;
                Ok(Cursor(Reader::at(framed, body)))
            }
            _ => Err(malformed(
                format!(
                    "a frame announces {size} bytes where {} are left",
                    bytes.len().saturating_sub(start)
                ),
                start,
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn frames_are_left_by_their_size() {
        let mut bytes = 20_i64.to_le_bytes().to_vec(); // a record with 4 known and 8 unknown bytes
        bytes.extend(7_u32.to_le_bytes());
        bytes.extend([0xee; 8]);
        bytes.extend((-14_i64).to_le_bytes());
        bytes.extend(2_u32.to_le_bytes());
        bytes.extend([1, 2, 99]);
        let mut cursor = Cursor::new(&bytes);
        let mut record = cursor.record_frame().unwrap();
        assert_eq!((record.u32().unwrap(), record.remaining()), (7, 8));
        let (items, list) = cursor.list_frame().unwrap();
        assert_eq!((items, list.remaining(), cursor.remaining()), (2, 2, 1));
    }

    #[test]
    fn frames_that_lie_are_malformed() {
        for size in [7_i64, 9, i64::MAX, i64::MIN, -8, -9] {
            let bytes = size.to_le_bytes();
            let mut cursor = Cursor::new(&bytes);
            assert!(cursor.record_frame().is_err() || size == 8, "{size}");
            let mut cursor = Cursor::new(&bytes);
            assert!(cursor.list_frame().is_err(), "{size}");
        }
    }

    #[test]
    fn strings() {
        let mut bytes = 3_u32.to_le_bytes().to_vec();
        bytes.extend(b"abc");
        bytes.extend(u32::MAX.to_le_bytes());
        let mut cursor = Cursor::new(&bytes);
        assert_eq!(cursor.string().unwrap(), "abc");
        assert!(cursor.string().is_err());
    }
}
