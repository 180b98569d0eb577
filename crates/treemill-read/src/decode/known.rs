//! Lists whose ends are known beforehand: only the items are decoded.

use super::column::Column;
use super::selected::{Gathered, append_selected};
use super::size::size_of;
use super::types::field;
use crate::faults::{broken, malformed};
use crate::memory::Spares;
use arrow_array::{ArrayRef, ListArray};
use arrow_buffer::OffsetBuffer;
use std::ops::Range;
use std::sync::Arc;
use treemill_format::error::Result;
use treemill_format::layout::Layout;

/// A selection of a basket's items, by their numbers, which ascend.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Selected {
    /// Consecutive ones.
    Run(Range<usize>),
    Each(Vec<u32>),
}

/// Items of lists while they are read: a column of them.
pub struct Items<'a> {
    layout: &'a Layout,
    size: usize,
    items: Column,
}

impl<'a> Items<'a> {
    /// No items yet. `layout` is an item's, of a fixed size.
    ///
    /// # Errors
    /// `Unsupported` if it cannot be read.
    pub fn new(spares: &mut Spares, layout: &'a Layout) -> Result<Self> {
        Ok(Items {
            layout,
            size: size_of(layout)?.least(),
            items: Column::with(spares, layout, 0)?,
        })
    }

    /// Appends the items with these numbers from `data`.
    ///
    /// # Errors
    /// `Malformed` if there are not as many.
    pub fn append(&mut self, data: &[u8], items: Range<usize>) -> Result<()> {
        let place = |n: usize| n.checked_mul(self.size);
        let bytes = place(items.start).zip(place(items.end));
        let bytes = bytes.and_then(|(from, to)| data.get(from..to));
        let bytes = bytes.ok_or_else(|| absent(items.end))?;
        self.items.append_packed(self.layout, bytes, items.len())
    }

    /// Appends the selected items.
    ///
    /// # Errors
    /// `Malformed` if there are not as many.
    pub fn append_selected(
        &mut self,
        data: &[u8],
        items: &Selected,
        gathered: &mut Gathered,
    ) -> Result<()> {
        let items = match items {
            Selected::Run(items) => return self.append(data, items.clone()),
            Selected::Each(items) => items,
        };
        append_selected(&mut self.items, self.layout, data, &[], items, gathered)
    }

    /// The lists that end where `offsets` say.
    ///
    /// # Errors
    /// `Malformed` if these are not the offsets of the items here, a mistake of this crate.
    pub fn finish(self, offsets: OffsetBuffer<i32>, spares: &mut Spares) -> Result<ArrayRef> {
        let values = self.items.finish_into(spares, self.layout)?;
        let item = Arc::new(field("item", self.layout)?);
        let list = ListArray::try_new(item, offsets, values, None);
        let list = list.map_err(broken)?;
        Ok(Arc::new(list))
    }
}

fn absent(item: usize) -> treemill_format::error::FormatError {
    malformed(0, format!("the basket has no item {item}"))
}
