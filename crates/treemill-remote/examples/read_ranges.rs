//! Reads ranges of a file on a server, all that fit into 128 MiB at once, in the order given; for measurements beside
//! other clients (`python -m bench io --parts clients`).
//!
//! `read_ranges URL REPEAT START:LENGTH…` prints JSON: seconds to `open`, seconds of each of REPEAT `reads`, and the
//! `bytes` and the `checksum` (XXH3) of each of them.
#![allow(clippy::arithmetic_side_effects)]

use std::collections::VecDeque;
use std::error::Error;
use std::ops::Range;
use std::time::Instant;
use treemill_source::{Source, Ticket};
use xxhash_rust::xxh3::Xxh3;

type Fallible<T> = Result<T, Box<dyn Error>>;

/// Bytes in flight at most, as a reader of trees has them.
const AHEAD: u64 = 128 << 20;

fn range(word: &str) -> Fallible<Range<u64>> {
    let (start, length) = word.split_once(':').ok_or("START:LENGTH")?;
    let start: u64 = start.parse()?;
    Ok(start..start + length.parse::<u64>()?)
}

/// Reads the ranges once: their number of bytes and their checksum.
fn read(source: &dyn Source, ranges: &[Range<u64>]) -> Fallible<(u64, u64)> {
    let length = |range: &Range<u64>| range.end - range.start;
    let mut waiting: VecDeque<(u64, Ticket)> = VecDeque::new();
    let mut rest = ranges.iter().cloned().peekable();
    let (mut flying, mut bytes, mut digest) = (0, 0, Xxh3::new());
    loop {
        let mut now = Vec::new();
        while let Some(next) = rest.next_if(|next| flying == 0 || flying + length(next) <= AHEAD) {
            flying += length(&next);
            now.push(next);
        }
        if !now.is_empty() {
            let lengths: Vec<u64> = now.iter().map(length).collect();
            waiting.extend(lengths.into_iter().zip(source.submit(now)));
        }
        let Some((length, ticket)) = waiting.pop_front() else {
            return Ok((bytes, digest.digest()));
        };
        let part = ticket.wait()?;
        flying -= length;
        bytes += part.len() as u64;
        digest.update(&part);
    }
}

fn main() -> Fallible<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [url, repeat, words @ ..] = args.as_slice() else {
        return Err("read_ranges URL REPEAT START:LENGTH…".into());
    };
    let ranges = words
        .iter()
        .map(|w| range(w))
        .collect::<Fallible<Vec<_>>>()?;
    let start = Instant::now();
    let source = treemill_remote::open(url)?;
    let open = start.elapsed().as_secs_f64();
    let mut reads = Vec::new();
    let mut found = (0, 0);
    for _ in 0..repeat.parse()? {
        let start = Instant::now();
        found = read(&*source, &ranges)?;
        reads.push(start.elapsed().as_secs_f64());
    }
    let (bytes, checksum) = found;
    println!(
        "{{\"open\": {open}, \"reads\": {reads:?}, \"bytes\": {bytes}, \"checksum\": \"{checksum:016x}\"}}"
    );
    Ok(())
}
