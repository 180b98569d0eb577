//! Baskets of a tree's branch.

use crate::Fallible;
use crate::queries::Chunks;
use std::fs;
use std::os::unix::fs::FileExt;
use treemill_format::basket::{BasketHeader, Payload};
use treemill_format::compress::Decompressor;
use treemill_format::tree::{BasketRef, Branch};

/// A branch's baskets, one after another.
pub struct Baskets<'a> {
    /// Whether the entries' starts are wanted.
    has_starts: bool,
    file: &'a fs::File,
    refs: std::slice::Iter<'a, BasketRef>,
    packed: Vec<u8>,
    unpacked: Vec<u8>,
    pub values: Vec<f32>,
    pub starts: Vec<u32>,
    decompressor: Decompressor,
}

impl<'a> Baskets<'a> {
    pub fn new(file: &'a fs::File, branch: &'a Branch, has_starts: bool) -> Self {
        Baskets {
            has_starts,
            file,
            refs: branch.baskets.iter(),
            packed: Vec::new(),
            unpacked: Vec::new(),
            values: Vec::new(),
            starts: Vec::new(),
            decompressor: Decompressor::new(),
        }
    }
}

impl Chunks for Baskets<'_> {
    fn next(&mut self) -> Fallible<bool> {
        let Some(basket) = self.refs.next() else {
            return Ok(false);
        };
        let len = (basket.bytes.end - basket.bytes.start) as usize;
        self.packed.resize(len, 0);
        self.file
            .read_exact_at(&mut self.packed, basket.bytes.start)?;
        let header = BasketHeader::parse(&self.packed)?;
        let body = &self.packed[header.key_len..header.record_len];
        let payload =
            self.decompressor
                .unpack(body, header.uncompressed_len, &mut self.unpacked)?;
        let data = header.data(payload)?;
        let numbers = data
            .as_chunks::<4>()
            .0
            .iter()
            .map(|&b| f32::from_be_bytes(b));
        self.values.clear();
        self.values.extend(numbers);
        if self.has_starts {
            let parts: Payload<'_> = header.split(payload)?;
            header.entry_starts(parts, &mut self.starts)?;
        }
        Ok(true)
    }

    #[inline]
    fn values(&self) -> &[f32] {
        &self.values
    }
}
