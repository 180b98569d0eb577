//! Copies pieces of a basket side by side, so that many are decoded at a time. Knows columns, and nothing of
//! where the pieces come from.

use super::column::Column;
use crate::faults::mismatch;
use crate::limits::{COPIED_BYTES, PACKED_BYTES};
use treemill_format::error::Result;
use treemill_format::layout::Layout;

/// False if one of them is shorter.
pub(super) fn copy(to: &mut [u8], from: &[u8], len: usize) -> bool {
    if len <= COPIED_BYTES
        && let (Some(to), Some(from)) = (
            to.first_chunk_mut::<COPIED_BYTES>(),
            from.first_chunk::<COPIED_BYTES>(),
        )
    {
        *to = *from;
        return true;
    }
    match (to.get_mut(..len), from.get(..len)) {
        (Some(to), Some(from)) => {
            to.copy_from_slice(from);
            true
        }
        _ => false,
    }
}

/// Values of a fixed size on their way into a column.
pub(super) struct Packer<'a> {
    column: &'a mut Column,
    layout: &'a Layout,
    size: usize,
    bytes: Vec<u8>,
    len: usize,
}

impl<'a> Packer<'a> {
    /// A packer for values of `size` bytes.
    pub(super) fn new(column: &'a mut Column, layout: &'a Layout, size: usize) -> Self {
        Packer {
            column,
            layout,
            size,
            bytes: vec![0; PACKED_BYTES.saturating_add(COPIED_BYTES)],
            len: 0,
        }
    }

    /// Takes the values in the first `len` bytes of `from`; what lies after them is not theirs.
    pub(super) fn push(&mut self, from: &[u8], len: usize) -> Result<()> {
        if self.len.saturating_add(len) > PACKED_BYTES {
            self.flush()?;
        }
        if len > PACKED_BYTES {
            let values = from.get(..len).ok_or_else(mismatch)?;
            return self.append(values.len(), |_| values);
        }
        let to = self.bytes.get_mut(self.len..).unwrap_or_default();
        if !copy(to, from, len) {
            return Err(mismatch());
        }
        self.len = self.len.saturating_add(len);
        Ok(())
    }

    /// Decodes what was gathered. Must be called at the end.
    pub(super) fn flush(&mut self) -> Result<()> {
        let len = std::mem::take(&mut self.len);
        self.append(len, |bytes| bytes.get(..len).unwrap_or_default())
    }

    fn append<'b>(
        &'b mut self,
        len: usize,
        values: impl FnOnce(&'b [u8]) -> &'b [u8],
    ) -> Result<()> {
        let count = len.checked_div(self.size).unwrap_or(0);
        self.column
            .append_packed(self.layout, values(&self.bytes), count)
    }
}
