//! LZ4 blocks (`L4`): an xxhash64 of the compressed bytes (8 bytes, big-endian), then a raw LZ4
//! block, as ROOT's `ZipLZ4.cxx` writes them. The checksum is verified.

use xxhash_rust::xxh64::xxh64;

/// The LZ4 codec. It has no working memory.
#[derive(Default)]
pub(super) struct Lz4;

impl Lz4 {
    /// Fills `target` from `body`; says what is wrong if it cannot.
    pub(super) fn decompress(&mut self, body: &[u8], target: &mut [u8]) -> Result<(), String> {
        let Some((&checksum, data)) = body.split_first_chunk::<8>() else {
            return Err("the lz4 block is shorter than its checksum".to_owned());
        };
        if xxh64(data, 0) != u64::from_be_bytes(checksum) {
            return Err("the lz4 block's checksum is wrong".to_owned());
        }
        // Both sizes are below 2^24: they come from 3-byte fields.
        let size = i32::try_from(target.len()).map_err(|e| e.to_string())?;
        match lz4::block::decompress_to_buffer(data, Some(size), target) {
            Ok(n) if n == target.len() => Ok(()),
            Ok(n) => Err(format!(
                "the lz4 block holds {n} bytes, not {}",
                target.len()
            )),
            Err(_) => Err("the lz4 block is damaged".to_owned()),
        }
    }
}
