//! Deflate blocks, through libdeflate: `ZL` in zlib's frame, whose Adler-32 checksum is verified, and `CS`,
//! ROOT's first codec (before 2002, or by `kOldCompressionAlgo`), which has no frame and no checksum.

use libdeflater::{DecompressionError, Decompressor};

/// Both codecs; their tables are made at first use.
#[derive(Default)]
pub(super) struct Zlib {
    context: Option<Decompressor>,
}

impl Zlib {
    /// Fills `target` from the body of a `ZL` block; says what is wrong where it cannot.
    pub(super) fn decompress(&mut self, body: &[u8], target: &mut [u8]) -> Result<(), String> {
        let context = self.context.get_or_insert_with(Decompressor::new);
        filled(context.zlib_decompress(body, target), "zlib", target.len())
    }

    /// Fills `target` from the body of a `CS` block, a bare deflate stream.
    pub(super) fn decompress_bare(&mut self, body: &[u8], target: &mut [u8]) -> Result<(), String> {
        let context = self.context.get_or_insert_with(Decompressor::new);
        let found = context.deflate_decompress(body, target);
        filled(found, "old deflate", target.len())
    }
}

/// Whether a block held as many bytes as it announced.
fn filled(found: Result<usize, DecompressionError>, what: &str, len: usize) -> Result<(), String> {
    match found {
        Ok(n) if n == len => Ok(()),
        Ok(n) => Err(format!("{what} block holds {n} bytes, not {len}")),
        Err(DecompressionError::BadData) => Err(format!("{what} block is damaged")),
        Err(DecompressionError::InsufficientSpace) => {
            Err(format!("{what} block holds more than {len} bytes"))
        }
    }
}
