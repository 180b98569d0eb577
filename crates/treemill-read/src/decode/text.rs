//! Steps for strings.

use super::bytes::{Bytes, Heap};

/// Strings: a header, a length byte (255: an i32 follows), the bytes. They are appended at once, and taken
/// back if it turns out that not all entries are sound.
pub(super) struct Text<'c> {
    offsets: &'c mut Vec<i32>,
    to: &'c mut Vec<u8>,
    /// The bytes that go to `to`.
    heap: Heap,
    pub(super) header: usize,
    /// Whether several, as members of several objects, have one header.
    pub(super) shares: bool,
    /// How many offsets and bytes there were before.
    before: (usize, usize),
    is_sound: bool,
}

impl Drop for Text<'_> {
    fn drop(&mut self) {
        let (mut offsets, mut bytes) = (usize::MAX, usize::MAX);
        if !self.is_sound {
            (offsets, bytes) = self.before;
        }
        self.offsets.truncate(offsets);
        *self.to = std::mem::take(&mut self.heap).into_vec(bytes);
    }
}

impl<'c> Text<'c> {
    /// `room`: bytes that there may be.
    pub(super) fn new(
        offsets: &'c mut Vec<i32>,
        to: &'c mut Vec<u8>,
        header: usize,
        shares: bool,
        room: usize,
    ) -> Self {
        let before = (offsets.len(), to.len());
        offsets.reserve(room / 8);
        let heap = Heap::behind(std::mem::take(to), room);
        Text {
            offsets,
            to,
            heap,
            header,
            shares,
            before,
            is_sound: false,
        }
    }

    #[inline]
    pub(super) fn one(&mut self, data: Bytes<'_>, at: usize) -> Option<usize> {
        let at = data.skip(at, self.header)?;
        self.body(data, at)
    }

    /// A string without a header.
    #[inline]
    pub(super) fn body(&mut self, data: Bytes<'_>, at: usize) -> Option<usize> {
        let ([short], at) = data.take(at)?;
        let (len, at) = match short {
            255 => data.count(at)?,
            len => (usize::from(len), at),
        };
        let (from, end) = data.piece(at, len)?;
        self.heap.push(from, len)?;
        self.end()?;
        Some(end)
    }

    /// Ends a string where the bytes end.
    #[inline]
    pub(super) fn end(&mut self) -> Option<()> {
        self.offsets.push(i32::try_from(self.heap.len()).ok()?);
        Some(())
    }

    /// What was appended stays.
    pub(super) fn keep(mut self) {
        self.is_sound = true;
    }
}
