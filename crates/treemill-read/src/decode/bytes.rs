//! Bytes at a place: what is there, and where it ends. Not held to the end of an entry: whoever reads on
//! beyond it is found out by where he stops. Says `None` where something is not as expected; the words
//! for it are [`super::walk`]'s.

use super::object::{BYTE_COUNT, HEADER, is_by_member};
use super::packer::LINE;
use treemill_format::layout::Class;

/// Bytes, of which those from a place on are looked at. Places are handed on and back, not kept: so they
/// stay in registers.
#[derive(Clone, Copy)]
pub(super) struct Bytes<'a>(pub(super) &'a [u8]);

impl<'a> Bytes<'a> {
    /// `len` bytes and all behind them, and where they end.
    #[inline]
    pub(super) fn piece(self, at: usize, len: usize) -> Option<(&'a [u8], usize)> {
        let piece = self.0.get(at..)?;
        (len <= piece.len()).then_some((piece, at.wrapping_add(len)))
    }

    #[inline]
    pub(super) fn skip(self, at: usize, len: usize) -> Option<usize> {
        self.piece(at, len).map(|(_, end)| end)
    }

    #[inline]
    pub(super) fn take<const N: usize>(self, at: usize) -> Option<([u8; N], usize)> {
        let found = *self.0.get(at..)?.first_chunk::<N>()?;
        Some((found, at.wrapping_add(N)))
    }

    /// A count, which is not negative.
    #[inline]
    pub(super) fn count(self, at: usize) -> Option<(usize, usize)> {
        let (count, at) = self.take(at)?;
        Some((usize::try_from(i32::from_be_bytes(count)).ok()?, at))
    }

    /// Byte count and version: the version, where what they are about begins, and where it ends.
    #[inline]
    pub(super) fn frame(self, at: usize) -> Option<(u16, usize, usize)> {
        let ([a, b, c, d, high, low], body) = self.take::<HEADER>(at)?;
        let count = u32::from_be_bytes([a, b, c, d]);
        let len = (count & !BYTE_COUNT) as usize;
        let stop = body.checked_add(len)?.checked_sub(2)?;
        (count & BYTE_COUNT != 0).then_some((u16::from_be_bytes([high, low]), body, stop))
    }

    /// The header of collections that lie item by item: where they begin and end.
    #[inline]
    pub(super) fn collection(self, at: usize) -> Option<(usize, usize)> {
        let (version, body, stop) = self.frame(at)?;
        (!is_by_member(version)).then_some((body, stop))
    }

    /// Where an object begins, whose version must be that of the class, or 0 before its checksum.
    #[inline]
    pub(super) fn check(self, at: usize, class: &Class, version: u16) -> Option<usize> {
        if i32::from(version) == class.version && version != 0 {
            return Some(at);
        }
        let (checksum, at) = self.take(at).filter(|_| version == 0)?;
        (u32::from_be_bytes(checksum) == class.checksum || class.checksum == 0).then_some(at)
    }
}

/// Appends the first `len` bytes of `from`.
#[inline]
pub(super) fn gather(to: &mut Vec<u8>, from: &[u8], len: usize) -> Option<()> {
    // A copy of a length that is known beforehand is some instructions, any other a call.
    if len <= LINE
        && let Some(line) = from.first_chunk::<LINE>()
    {
        let end = to.len().wrapping_add(len);
        to.extend_from_slice(line);
        to.truncate(end);
    } else {
        to.extend_from_slice(from.get(..len)?);
    }
    Some(())
}
