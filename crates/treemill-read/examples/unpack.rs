//! The limit of reading a branch: its baskets read and decompressed whole into one buffer, with the reader's
//! libraries, and not decoded. Metadata is read before the clock starts. The reader itself stops before the
//! entry offsets of branches whose counts it knows from others, and skips baskets that a query does not need,
//! so for several branches together it may take less time.
//!
//! `unpack FILE TREE BRANCH REPEAT` prints JSON: `bytes` (uncompressed) and `seconds` (of each of
//! REPEAT runs, after one that does not count; with 0 there is none at all).
#![allow(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation
)]

use std::error::Error;
use std::fs;
use std::os::unix::fs::FileExt;
use std::sync::Arc;
use std::time::Instant;
use treemill_format::basket::BasketHeader;
use treemill_format::compress::Decompressor;
use treemill_format::tree::Branch;
use treemill_read::File;
use treemill_source::Local;

type Fallible<T> = Result<T, Box<dyn Error>>;

/// Reads and decompresses all baskets; how many bytes they have.
fn unpack(file: &fs::File, branch: &Branch, buffers: &mut [Vec<u8>; 2]) -> Fallible<usize> {
    let [packed, unpacked] = buffers;
    let mut decompressor = Decompressor::new();
    let mut bytes = 0;
    for basket in &branch.baskets {
        packed.resize((basket.bytes.end - basket.bytes.start) as usize, 0);
        file.read_exact_at(packed, basket.bytes.start)?;
        let header = BasketHeader::parse(packed)?;
        let body = &packed[header.key_len..header.record_len];
        bytes += decompressor
            .unpack(body, header.uncompressed_len, unpacked)?
            .len();
    }
    Ok(bytes)
}

fn main() -> Fallible<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [path, tree, branch, repeat] = args.as_slice() else {
        return Err("unpack FILE TREE BRANCH REPEAT".into());
    };
    let repeat: usize = repeat.parse()?;
    let tree = File::open(Arc::new(Local::open(path)?))?.tree(tree)?;
    let branch = &tree.tree().branches[tree.find(branch)?];
    let file = fs::File::open(path)?;
    let mut buffers = [Vec::new(), Vec::new()];
    let mut bytes = 0;
    if repeat > 0 {
        unpack(&file, branch, &mut buffers)?;
    }
    let mut seconds = Vec::new();
    for _ in 0..repeat {
        let start = Instant::now();
        bytes = unpack(&file, branch, &mut buffers)?;
        seconds.push(start.elapsed().as_secs_f64());
    }
    println!("{{\"bytes\": {bytes}, \"seconds\": {seconds:?}}}");
    Ok(())
}
