//! Reads bytes at a position: values and where they end. Reads are not bounded by the end of their entry: the
//! caller compares the last position with it. Returns `None` if something is not as expected; the words for it
//! are [`super::walk`]'s.

use super::object::{HEADER, is_by_member};
use crate::limits::{COPIED_BYTES, HEAP_GROWTH};
use treemill_format::layout::Class;
use treemill_format::marks::BYTE_COUNT;

/// Bytes that are read from given positions. Positions are arguments and results, not fields, so they stay in
/// registers.
#[derive(Clone, Copy)]
pub(super) struct Bytes<'a>(pub(super) &'a [u8]);

/// Bytes of the count in front of a collection's items.
pub(super) const COUNT_BYTES: usize = 4;

/// The version of a collection and that of its objects, with their checksum.
pub(super) type Likeness = [u8; 8];

impl<'a> Bytes<'a> {
    /// `len` bytes and all after them, and where they end.
    #[inline(always)]
    pub(super) fn piece(self, at: usize, len: usize) -> Option<(&'a [u8], usize)> {
        let piece = self.0.get(at..)?;
        (len <= piece.len()).then_some((piece, at.wrapping_add(len)))
    }

    #[inline]
    pub(super) fn skip(self, at: usize, len: usize) -> Option<usize> {
        self.piece(at, len).map(|(_, end)| end)
    }

    #[inline(always)]
    pub(super) fn take<const N: usize>(self, at: usize) -> Option<([u8; N], usize)> {
        let found = *self.0.get(at..)?.first_chunk::<N>()?;
        Some((found, at.wrapping_add(N)))
    }

    /// A count, which is not negative.
    #[inline(always)]
    pub(super) fn count(self, at: usize) -> Option<(usize, usize)> {
        let (count, at) = self.take(at)?;
        Some((usize::try_from(i32::from_be_bytes(count)).ok()?, at))
    }

    /// Byte count and version: the version, where what they are about begins, and where it ends.
    #[inline(always)]
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

    /// What headers of collections of objects member by member have in common, from one that is sound
    /// and whose count is at `end`, if it has a checksum.
    pub(super) fn likeness(self, at: usize, end: usize) -> Option<Likeness> {
        self.0.get(at..end)?.get(4..)?.try_into().ok()
    }

    /// The count of such a collection and where its members begin and end, if its header is like the first
    /// one's.
    #[inline(always)]
    pub(super) fn alike(self, at: usize, alike: Likeness) -> Option<(usize, usize, usize)> {
        let ([a, b, c, d, versions @ .., w, x, y, z], body) = self.take::<16>(at)?;
        let len = u32::from_be_bytes([a, b, c, d]) ^ BYTE_COUNT;
        let count = i32::from_be_bytes([w, x, y, z]);
        if versions != alike || len >= BYTE_COUNT || count < 0 {
            return None;
        }
        Some((
            count as usize,
            body,
            at.checked_add(4)?.checked_add(len as usize)?,
        ))
    }

    /// Where an object's members begin. Its version must be that of the class, or 0 before its checksum.
    #[inline]
    pub(super) fn check(self, at: usize, class: &Class, version: u16) -> Option<usize> {
        if i32::from(version) == class.version && version != 0 {
            return Some(at);
        }
        let (checksum, at) = self.take(at).filter(|_| version == 0)?;
        (u32::from_be_bytes(checksum) == class.checksum || class.checksum == 0).then_some(at)
    }
}

/// Bytes of values that are gathered.
#[derive(Default)]
pub(super) struct Heap {
    /// Longer than what is there, so that a line can be written without a look at memory.
    bytes: Vec<u8>,
    len: usize,
}

impl Heap {
    /// An empty heap with room for `room` bytes.
    pub(super) fn with_room(room: usize) -> Self {
        Heap::behind(Vec::new(), room)
    }

    /// A heap that begins with `bytes`, with room for `room` more.
    pub(super) fn behind(mut bytes: Vec<u8>, room: usize) -> Self {
        let len = bytes.len();
        bytes.resize(len.saturating_add(room).saturating_add(COPIED_BYTES), 0);
        Heap { bytes, len }
    }

    /// The first `len` of its bytes, or all.
    pub(super) fn into_vec(mut self, len: usize) -> Vec<u8> {
        self.bytes.truncate(self.len.min(len));
        self.bytes
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Appends the first `len` bytes of `from`.
    #[inline(always)]
    pub(super) fn push(&mut self, from: &[u8], len: usize) -> Option<()> {
        let to = self.bytes.get_mut(self.len..).unwrap_or_default();
        if len <= COPIED_BYTES
            && let (Some(to), Some(from)) =
                (to.first_chunk_mut::<COPIED_BYTES>(), from.first_chunk())
        {
            *to = *from;
            self.len = self.len.wrapping_add(len);
            return Some(());
        }
        self.push_any(from.get(..len)?);
        Some(())
    }

    /// Appends the `len` bytes of items behind the count that `from` begins with, and gives the count, which is not
    /// compared with them.
    #[inline(always)]
    pub(super) fn push_counted(&mut self, from: &[u8], len: usize) -> Option<usize> {
        let to = self.bytes.get_mut(self.len..).unwrap_or_default();
        // One look at the length of each side is enough for the count and the items of most entries.
        let count = if len <= COPIED_BYTES
            && let Some(line) = from.first_chunk::<{ COUNT_BYTES + COPIED_BYTES }>()
            && let (Some((count, items)), Some(to)) = (
                line.split_first_chunk(),
                to.first_chunk_mut::<COPIED_BYTES>(),
            ) {
            to.copy_from_slice(items);
            self.len = self.len.wrapping_add(len);
            count
        } else {
            let (count, items) = from.split_first_chunk()?;
            self.push_any(items.get(..len)?);
            count
        };
        usize::try_from(i32::from_be_bytes(*count)).ok()
    }

    /// Appends what is longer than a line, or at an end.
    #[inline(never)]
    fn push_any(&mut self, from: &[u8]) {
        let end = self.len.saturating_add(from.len());
        if let Some(to) = self.bytes.get_mut(self.len..end) {
            to.copy_from_slice(from);
        } else {
            self.bytes.truncate(self.len);
            self.bytes.extend_from_slice(from);
            self.bytes.resize(end.saturating_add(HEAP_GROWTH), 0);
        }
        self.len = end;
    }

    pub(super) fn as_slice(&self) -> &[u8] {
        self.bytes.get(..self.len).unwrap_or_default()
    }
}
