//! One block of a codec, after a header that is right about the sizes.

use treemill_format::compress::Decompressor;

/// Decompresses `data` as a block with this tag and method byte: its first two bytes are the size
/// announced, the rest the codec's own bytes. What is accepted must have that size.
pub fn block(tag: &[u8; 3], data: &[u8]) {
    let Some((len, body)) = data.split_first_chunk::<2>() else {
        return;
    };
    let len = usize::from(u16::from_be_bytes(*len));
    let block = framed(tag, body, len);
    let mut out = Vec::new();
    if Decompressor::new()
        .decompress(&block, len, &mut out)
        .is_ok()
    {
        assert_eq!(out.len(), len);
    }
}

/// The unit of the sizes that [`front`] announces.
const UNIT: usize = 16;

/// As [`block`], but decompresses the front first and then all: if both are accepted, they must begin with the
/// same bytes. Sizes are in [`UNIT`]s, so that there are long blocks; the first two bytes of the rest say how
/// much is wanted.
#[allow(dead_code)] // not all targets stop
pub fn front(tag: &[u8; 3], data: &[u8]) {
    let Some((&[a, b, c, d], body)) = data.split_first_chunk::<4>() else {
        return;
    };
    let [len, wanted] = [[a, b], [c, d]].map(|n| usize::from(u16::from_be_bytes(n)) * UNIT);
    let wanted = wanted.min(len);
    let block = framed(tag, body, len);
    let mut decompressor = Decompressor::new();
    let mut part = Vec::new();
    let front = decompressor
        .unpack_front(&block, len, wanted, &mut part)
        .map(<[u8]>::to_vec);
    // By the context that a stream was left in.
    let mut out = Vec::new();
    if let Ok(all) = decompressor.unpack(&block, len, &mut out) {
        let front = front.expect("the front of what is sound");
        assert!(front.len() >= wanted && all.starts_with(&front));
    }
}

fn framed(tag: &[u8; 3], body: &[u8], len: usize) -> Vec<u8> {
    let size = |n: usize| (n as u32).to_le_bytes()[..3].to_vec();
    let mut block = tag.to_vec();
    block.extend(size(body.len()));
    block.extend(size(len));
    block.extend(body);
    block
}
