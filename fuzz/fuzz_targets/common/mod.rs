//! One block of a codec, behind a header that is right about the sizes.

use treemill_format::compress::Decompressor;

/// Decompresses `data` as a block with this tag and method byte: its first two bytes are the size
/// announced, the rest the codec's own bytes. What is accepted must have that size.
pub fn block(tag: &[u8; 3], data: &[u8]) {
    let Some((len, body)) = data.split_first_chunk::<2>() else {
        return;
    };
    let len = u16::from_be_bytes(*len);
    let size = |n: usize| (n as u32).to_le_bytes()[..3].to_vec();
    let mut block = tag.to_vec();
    block.extend(size(body.len()));
    block.extend(size(usize::from(len)));
    block.extend(body);
    let mut out = Vec::new();
    if Decompressor::new()
        .decompress(&block, usize::from(len), &mut out)
        .is_ok()
    {
        assert_eq!(out.len(), usize::from(len));
    }
}
