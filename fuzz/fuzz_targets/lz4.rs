//! Blocks of L4, behind a header that is right about the sizes.
#![no_main]

use libfuzzer_sys::fuzz_target;
use treemill_format::compress::Decompressor;

fuzz_target!(|data: &[u8]| {
    let Some((len, body)) = data.split_first_chunk::<2>() else {
        return;
    };
    let len = u16::from_be_bytes(*len);
    let size = |n: usize| (n as u32).to_le_bytes()[..3].to_vec();
    let mut block = b"L4\x01".to_vec();
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
});
