//! An RNTuple's header, footer and page list, in envelopes whose lengths and checksums are right: a
//! u16 before the first and the second says how long it is. What they give is read as far as it goes
//! without pages.
#![no_main]

use libfuzzer_sys::fuzz_target;
use treemill_format::rntuple::{Metadata, NTuple};
use xxhash_rust::xxh3::xxh3_64;

/// The envelope around a payload, with its checksum.
fn seal(kind: u64, payload: &[u8]) -> (Vec<u8>, u64) {
    let length = payload.len() as u64 + 16;
    let mut bytes = (length << 16 | kind).to_le_bytes().to_vec();
    bytes.extend(payload);
    let checksum = xxh3_64(&bytes);
    bytes.extend(checksum.to_le_bytes());
    (bytes, checksum)
}

/// A payload with the header's checksum where it belongs.
fn belongs(payload: &[u8], at: usize, checksum: u64) -> Vec<u8> {
    let mut payload = payload.to_vec();
    if let Some(place) = payload.get_mut(at..at + 8) {
        place.copy_from_slice(&checksum.to_le_bytes());
    }
    payload
}

fn part(data: &[u8]) -> Option<(&[u8], &[u8])> {
    let (len, rest) = data.split_first_chunk::<2>()?;
    Some(rest.split_at(usize::from(u16::from_be_bytes(*len)).min(rest.len())))
}

fuzz_target!(|data: &[u8]| {
    let Some((header, rest)) = part(data) else {
        return;
    };
    let Some((footer, list)) = part(rest) else {
        return;
    };
    let (header, checksum) = seal(1, header);
    let (footer, _) = seal(2, &belongs(footer, 8, checksum));
    let (list, _) = seal(3, &belongs(list, 0, checksum));
    let Ok(metadata) = Metadata::parse(&header, &footer) else {
        return;
    };
    let lists = vec![list; metadata.groups.len().min(4)];
    let _ = NTuple::new(metadata, &lists, 1 << 30);
});
