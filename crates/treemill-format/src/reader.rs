//! A checked big-endian cursor over bytes. Knows ROOT's primitive encodings (TBuffer), no classes.
//!
//! All metadata are read by this one: baskets' headers name the field that is cut short (`basket`), and RNTuples'
//! envelopes add little-endian numbers and frames (`rntuple::cursor`). Two others exist for the data of events,
//! where a position that is stored and compared costs time: [`crate::framed::front`] cuts values from the front of
//! a slice, and the decoder's compiled steps pass positions in registers (`decode::bytes` of treemill-read).

use crate::error::{Result, malformed};

/// Bytes as text; what is not UTF-8 (old files are Latin-1 at times) becomes U+FFFD.
pub(crate) fn text(bytes: &[u8]) -> String {
    match std::str::from_utf8(bytes) {
        Ok(text) => text.to_owned(),
        Err(_) => String::from_utf8_lossy(bytes).into_owned(),
    }
}

/// A position in bytes. Every read is checked and moves the position only when it succeeds.
#[derive(Debug, Clone, Copy)]
pub struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

macro_rules! number {
    ($($name:ident: $type:ty),*) => {$(
        #[doc = concat!("The next `", stringify!($type), "`, big-endian.")]
        #[inline]
        pub fn $name(&mut self) -> Result<$type> {
            Ok(<$type>::from_be_bytes(self.array()?))
        }
    )*};
}

impl<'a> Reader<'a> {
    /// A cursor at the start of `bytes`.
    pub fn new(bytes: &'a [u8]) -> Self {
        Reader { bytes, at: 0 }
    }

    /// A cursor at offset `at` of `bytes`; an offset beyond the end fails at the first read.
    pub fn at(bytes: &'a [u8], at: usize) -> Self {
        Reader { bytes, at }
    }

    /// All bytes, independent of the position.
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// Offset of the next byte.
    pub fn position(&self) -> usize {
        self.at
    }

    /// Bytes left.
    pub fn remaining(&self) -> usize {
        self.bytes.len().saturating_sub(self.at)
    }

    /// Moves to an absolute offset, at most the end.
    pub fn seek(&mut self, at: usize) -> Result<()> {
        if at > self.bytes.len() {
            return Err(malformed(
                format!(
                    "offset {at} lies beyond the end ({} bytes)",
                    self.bytes.len()
                ),
                self.at,
            ));
        }
        self.at = at;
        Ok(())
    }

    /// Moves on to the end of an object, which may not lie before its members: no byte is read twice.
    pub fn close(&mut self, end: usize) -> Result<()> {
        if end < self.at {
            return Err(malformed(
                format!("an object ends at byte {end}, before its members do"),
                self.at,
            ));
        }
        self.seek(end)
    }

    /// The next `n` bytes.
    #[inline]
    pub fn take(&mut self, n: usize) -> Result<&'a [u8]> {
        let taken = self
            .at
            .checked_add(n)
            .and_then(|end| Some((end, self.bytes.get(self.at..end)?)));
        match taken {
            Some((end, bytes)) => {
                self.at = end;
                Ok(bytes)
            }
            None => Err(malformed(
                format!("{n} bytes are needed where {} are left", self.remaining()),
                self.at,
            )),
        }
    }

    /// Passes over `n` bytes.
    #[inline]
    pub fn skip(&mut self, n: usize) -> Result<()> {
        self.take(n).map(|_| ())
    }

    /// The next `N` bytes.
    #[inline]
    pub(crate) fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        match self
            .bytes
            .get(self.at..)
            .and_then(|rest| rest.first_chunk::<N>())
        {
            Some(chunk) => {
                self.at = self.at.saturating_add(N);
                Ok(*chunk)
            }
            None => Err(malformed(
                format!("{N} bytes are needed where {} are left", self.remaining()),
                self.at,
            )),
        }
    }

    number! { u8: u8, u16: u16, u32: u32, u64: u64, i8: i8, i16: i16, i32: i32, i64: i64, f32: f32, f64: f64 }

    /// An i32 that counts something and so may not be negative.
    pub fn count(&mut self) -> Result<usize> {
        let at = self.at;
        let n = self.i32()?;
        usize::try_from(n).map_err(|_| malformed(format!("a count is {n}"), at))
    }

    /// A TString: one length byte (255: an i32 length follows), then the bytes.
    pub fn string(&mut self) -> Result<&'a [u8]> {
        let n = match self.u8()? {
            255 => self.count()?,
            n => usize::from(n),
        };
        self.take(n)
    }

    /// A zero-terminated string, as class names after kNewClassTag are.
    pub fn c_string(&mut self) -> Result<&'a [u8]> {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        let Some(n) = rest.iter().position(|&b| b == 0) else {
            return Err(malformed("a string has no end", self.at));
        };
        let string = self.take(n)?;
        self.skip(1)?;
        Ok(string)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn numbers_are_big_endian_and_a_failed_read_does_not_move() {
        let mut r = Reader::new(&[0x01, 0x02, 0xff, 0xfe, 0x40]);
        assert_eq!(r.u16().unwrap(), 0x0102);
        assert_eq!(r.i16().unwrap(), -2);
        assert!(r.f64().is_err());
        assert_eq!(r.position(), 4);
        assert_eq!(r.u8().unwrap(), 0x40);
        assert_eq!(r.remaining(), 0);
    }

    #[test]
    fn strings_of_both_lengths() {
        let mut bytes = vec![3, b'a', b'b', b'c', 255, 0, 0, 1, 0];
        bytes.extend([b'x'; 256]);
        bytes.extend(b"TTree\0");
        let mut r = Reader::new(&bytes);
        assert_eq!(r.string().unwrap(), b"abc");
        assert_eq!(r.string().unwrap().len(), 256);
        assert_eq!(r.c_string().unwrap(), b"TTree");
        assert!(r.c_string().is_err());
    }

    #[test]
    fn lengths_beyond_the_end_are_malformed() {
        assert!(
            Reader::new(&[255, 0x7f, 0xff, 0xff, 0xff, 0])
                .string()
                .is_err()
        );
        assert!(
            Reader::new(&[255, 0xff, 0xff, 0xff, 0xff, 0])
                .string()
                .is_err()
        );
        assert!(Reader::at(&[1], usize::MAX).u8().is_err());
        assert!(Reader::new(&[1]).seek(2).is_err());
    }
}
