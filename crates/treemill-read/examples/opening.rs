//! What opening a file costs the processor, and what part of it is streamer information, which files of one dataset have
//! in common: `cargo run --release --example opening -- FILE TREE`.

use std::error::Error;
use std::sync::Arc;
use std::time::{Duration, Instant};
use treemill_format::compress::Decompressor;
use treemill_format::header::FileHeader;
use treemill_format::key::Key;
use treemill_format::reader::Reader;
use treemill_format::streamer::StreamerInfos;
use treemill_read::File;
use treemill_source::Local;

const TIMES: u32 = 100;

/// The mean time of some calls.
fn mean(mut call: impl FnMut() -> Result<(), Box<dyn Error>>) -> Result<Duration, Box<dyn Error>> {
    let began = Instant::now();
    for _ in 0..TIMES {
        call()?;
    }
    Ok(began.elapsed().checked_div(TIMES).unwrap_or_default())
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut words = std::env::args().skip(1);
    let path = words.next().ok_or("which file?")?;
    let tree = words.next().ok_or("which tree?")?;
    let whole = mean(|| {
        let file = File::open(Arc::new(Local::open(&path)?))?;
        file.table(&tree)?;
        Ok(())
    })?;
    let bytes = std::fs::read(&path)?;
    let header = FileHeader::parse(&bytes, bytes.len() as u64)?;
    let place = header.streamer_info.ok_or("no streamer information")?;
    let (start, end) = (usize::try_from(place.start)?, usize::try_from(place.end)?);
    let record = bytes.get(start..end).ok_or("the file is truncated")?;
    let infos = mean(|| {
        let key = Key::parse(&mut Reader::new(record))?;
        let mut unpacked = Vec::new();
        let packed = record.get(key.key_len..).unwrap_or_default();
        let object = Decompressor::new().unpack(packed, key.object_bytes, &mut unpacked)?;
        StreamerInfos::parse(object, key.key_len)?;
        Ok(())
    })?;
    println!(
        "opening: {whole:?}, of which streamer information: {infos:?} ({} bytes)",
        record.len()
    );
    Ok(())
}
