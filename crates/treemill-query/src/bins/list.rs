//! What was filled into the cells of a large histogram, in columns.

use super::Cell;
use serde::de::{SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::marker::PhantomData;

/// Fills, each with its cell. It travels as pairs, so that both columns have one length whatever the bytes say.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct List<C: Cell> {
    cells: Vec<u32>,
    fills: Vec<C::Fill>,
}

impl<C: Cell> Default for List<C> {
    fn default() -> Self {
        Self {
            cells: Vec::new(),
            fills: Vec::new(),
        }
    }
}

impl<C: Cell> List<C> {
    /// Adds fills, `most` at most.
    pub fn extend(&mut self, fills: impl Iterator<Item = (u32, C::Fill)>, most: usize) {
        self.cells.reserve(most);
        self.fills.reserve(most);
        for (cell, fill) in fills {
            self.cells.push(cell);
            self.fills.push(fill);
        }
    }

    pub fn iter(&self) -> impl Iterator<Item = (u32, C::Fill)> {
        self.cells.iter().copied().zip(self.fills.iter().copied())
    }

    /// Bytes that it takes.
    pub fn bytes(&self) -> usize {
        self.cells.len() * (size_of::<u32>() + size_of::<C::Fill>())
    }

    /// Whether all are in cells before this one.
    pub fn is_below(&self, cells: usize) -> bool {
        self.cells.iter().all(|cell| (*cell as usize) < cells)
    }
}

impl<C: Cell> Serialize for List<C> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter())
    }
}

impl<'de, C: Cell> Deserialize<'de> for List<C> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(Pairs(PhantomData))
    }
}

struct Pairs<C>(PhantomData<C>);

impl<'de, C: Cell> Visitor<'de> for Pairs<C> {
    type Value = List<C>;

    fn expecting(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str("fills and their cells")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut from: A) -> Result<List<C>, A::Error> {
        let mut list = List::default();
        while let Some(pair) = from.next_element::<(u32, C::Fill)>()? {
            list.extend(std::iter::once(pair), 1);
        }
        Ok(list)
    }
}
