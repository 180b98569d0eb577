//! ZLIB blocks (`ZL`), through libdeflate, which verifies the Adler-32 checksum.

use libdeflater::{DecompressionError, Decompressor};

/// The zlib codec; its tables are made at first use.
#[derive(Default)]
pub(super) struct Zlib {
    context: Option<Decompressor>,
}

impl Zlib {
    /// Fills `target` from `body`; says what is wrong where it cannot.
    pub(super) fn decompress(&mut self, body: &[u8], target: &mut [u8]) -> Result<(), String> {
        let context = self.context.get_or_insert_with(Decompressor::new);
        match context.zlib_decompress(body, target) {
            Ok(n) if n == target.len() => Ok(()),
            Ok(n) => Err(format!("zlib block holds {n} bytes, not {}", target.len())),
            Err(DecompressionError::BadData) => Err("zlib block is damaged".to_owned()),
            Err(DecompressionError::InsufficientSpace) => {
                Err(format!("zlib block holds more than {} bytes", target.len()))
            }
        }
    }
}
