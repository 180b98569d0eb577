//! Pages of a column of an RNTuple.

use crate::Fallible;
use crate::queries::Chunks;
use std::fs;
use std::os::unix::fs::FileExt;
use treemill_format::compress::Decompressor;
use treemill_format::rntuple::decode::{Decode, Run, decode_ends};
use treemill_format::rntuple::{Columns, NTuple};

/// A column's pages, one after another. Their checksums are passed over: reading needs none.
pub struct Pages<'a> {
    file: &'a fs::File,
    ntuple: &'a NTuple,
    columns: &'a Columns,
    cluster: usize,
    page: usize,
    packed: Vec<u8>,
    unpacked: Vec<u8>,
    /// The page's elements, if they are numbers.
    pub values: Vec<f32>,
    /// Where the page's first list ends, counted from the cluster's start, if its elements say so.
    pub first_end: u64,
    /// How far after that each of its lists ends.
    pub ends: Vec<u32>,
    /// Whether the page is its cluster's first.
    pub is_first: bool,
    decompressor: Decompressor,
}

impl<'a> Pages<'a> {
    pub fn new(file: &'a fs::File, ntuple: &'a NTuple, columns: &'a Columns) -> Self {
        Pages {
            file,
            ntuple,
            columns,
            cluster: 0,
            page: 0,
            packed: Vec::new(),
            unpacked: Vec::new(),
            values: Vec::new(),
            first_end: 0,
            ends: Vec::new(),
            is_first: false,
            decompressor: Decompressor::new(),
        }
    }
}

impl Chunks for Pages<'_> {
    fn next(&mut self) -> Fallible<bool> {
        let (located, page) = loop {
            let Some(cluster) = self.ntuple.clusters.get(self.cluster) else {
                return Ok(false);
            };
            let located = self.ntuple.locate(self.columns, 0, cluster)?;
            if let Some(page) = located.pages.get(self.page) {
                break (located, page);
            }
            (self.cluster, self.page) = (self.cluster + 1, 0);
        };
        if located.zeros > 0 {
            return Err("a field that was added late".into());
        }
        self.is_first = self.page == 0;
        self.page += 1;
        let bytes = page.locator.bytes();
        self.packed.resize((bytes.end - bytes.start) as usize, 0);
        self.file.read_exact_at(&mut self.packed, bytes.start)?;
        let encoding = self.ntuple.metadata.schema.columns[located.column]
            .encoding
            .clone()?;
        let len = encoding.page_bytes(page.elements);
        let bytes = self
            .decompressor
            .unpack(&self.packed, len, &mut self.unpacked)?;
        let count = page.elements as usize;
        if encoding.is_index() {
            self.first_end = decode_ends(&encoding, bytes, count, &mut self.ends)?;
        } else {
            self.values.clear();
            let wanted = 0..count;
            f32::decode(
                &encoding,
                &Run {
                    bytes,
                    count,
                    wanted,
                },
                &mut self.values,
            )?;
        }
        Ok(true)
    }

    #[inline]
    fn values(&self) -> &[f32] {
        &self.values
    }
}
