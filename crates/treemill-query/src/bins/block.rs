//! A piece of a large histogram's cells. Several may share it: who changes it then gets a copy of its own.

use super::{Cell, per_block};
use memmap2::MmapMut;
use serde::de::{Error, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;
use zerocopy::{FromBytes, IntoBytes};

#[derive(Debug)]
pub(super) struct Block<C>(Arc<Memory<C>>);

/// Pages come from the system, which has them back as soon as they are dropped: allocators keep what one
/// thread has made and another one frees.
#[derive(Debug)]
enum Memory<C> {
    Pages(MmapMut, PhantomData<C>),
    /// If the system gives no pages so, or no more of them.
    Owned(Vec<C>),
}

impl<C: Cell> Block<C> {
    /// This many empty cells. They take no memory before something is filled into them.
    pub fn empty(cells: usize) -> Self {
        Self(Arc::new(Memory::empty(cells)))
    }

    pub fn cells(&self) -> &[C] {
        match &*self.0 {
            Memory::Pages(pages, _) => <[C]>::ref_from_bytes(pages).unwrap_or(&[]),
            Memory::Owned(cells) => cells,
        }
    }

    pub fn cells_mut(&mut self) -> &mut [C] {
        match Arc::make_mut(&mut self.0) {
            Memory::Pages(pages, _) => <[C]>::mut_from_bytes(pages).unwrap_or(&mut []),
            Memory::Owned(cells) => cells,
        }
    }
}

impl<C: Cell> Memory<C> {
    fn empty(cells: usize) -> Self {
        match MmapMut::map_anon(cells * size_of::<C>()) {
            Ok(pages) if cells > 0 => Self::Pages(pages, PhantomData),
            _ => Self::Owned(vec![C::default(); cells]),
        }
    }

    /// Cells all of which are written next: in large pages, where the system has such, that takes a fraction of the time.
    fn to_be_full(cells: usize) -> Self {
        let memory = Self::empty(cells);
        #[cfg(target_os = "linux")]
        if let Self::Pages(pages, _) = &memory {
            let _is_advice = pages.advise(memmap2::Advice::HugePage);
        }
        memory
    }
}

impl<C: Cell> Clone for Memory<C> {
    fn clone(&self) -> Self {
        match self {
            Self::Pages(pages, _) => {
                let mut copy = Self::to_be_full(pages.len() / size_of::<C>());
                match &mut copy {
                    Self::Pages(to, _) => to.copy_from_slice(pages),
                    Self::Owned(to) => to.as_mut_bytes().copy_from_slice(pages),
                }
                copy
            }
            Self::Owned(cells) => Self::Owned(cells.clone()),
        }
    }
}

impl<C> Clone for Block<C> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<C: Cell> PartialEq for Block<C> {
    fn eq(&self, other: &Self) -> bool {
        self.cells() == other.cells()
    }
}

impl<C: Cell> Serialize for Block<C> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match C::TRAVELS_RAW {
            true => serializer.serialize_bytes(self.cells().as_bytes()),
            false => serializer.collect_seq(self.cells()),
        }
    }
}

impl<'de, C: Cell> Deserialize<'de> for Block<C> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match C::TRAVELS_RAW {
            true => deserializer.deserialize_bytes(Raw(PhantomData)),
            false => deserializer.deserialize_seq(Cells(PhantomData)),
        }
    }
}

struct Raw<C>(PhantomData<C>);

impl<C: Cell> Visitor<'_> for Raw<C> {
    type Value = Block<C>;

    fn expecting(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str("the bytes of whole cells of a block")
    }

    fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<Block<C>, E> {
        let cells = (bytes.len() / size_of::<C>()).min(per_block::<C>());
        let mut block = Block(Arc::new(Memory::to_be_full(cells)));
        let room = block.cells_mut().as_mut_bytes();
        if room.len() != bytes.len() {
            return Err(E::invalid_length(bytes.len(), &self));
        }
        room.copy_from_slice(bytes);
        Ok(block)
    }
}

struct Cells<C>(PhantomData<C>);

impl<'de, C: Cell> Visitor<'de> for Cells<C> {
    type Value = Block<C>;

    fn expecting(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str("the cells of a block")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut from: A) -> Result<Block<C>, A::Error> {
        // What the bytes say is an allocation of address space at most.
        let size = from.size_hint().unwrap_or(0).min(per_block::<C>());
        let mut block = Block::empty(size);
        let cells = block.cells_mut();
        let mut read = 0;
        while let Some(cell) = from.next_element::<C>()? {
            let to = cells.get_mut(read);
            *to.ok_or_else(|| A::Error::invalid_length(read + 1, &self))? = cell;
            read += 1;
        }
        match read == size {
            true => Ok(block),
            false => Err(A::Error::invalid_length(read, &self)),
        }
    }
}
