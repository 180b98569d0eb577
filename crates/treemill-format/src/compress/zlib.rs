//! Deflate blocks, through libdeflate: `ZL` in zlib's frame, whose Adler-32 checksum is verified, and `CS`,
//! ROOT's first codec (before 2002, or by `kOldCompressionAlgo`), which has no frame and no checksum.

use libdeflater::{DecompressionError, Decompressor};

/// The decompressor of `ZL` and `CS`; its tables are made at first use.
#[derive(Default)]
pub(super) struct Zlib {
    context: Option<Decompressor>,
}

/// What to do with the checksum of the uncompressed bytes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Checksum {
    Verify,
    /// Skips it: another checksum has shown that the compressed bytes are those that were written.
    PassOver,
}

impl Zlib {
    /// Fills `target` from the body of a `ZL` block; says what is wrong if it cannot.
    pub(super) fn decompress(
        &mut self,
        body: &[u8],
        target: &mut [u8],
        checksum: Checksum,
    ) -> Result<(), String> {
        if checksum == Checksum::PassOver {
            let deflated = unframed(body).ok_or("the zlib block is damaged")?;
            return self.decompress_bare(deflated, target);
        }
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

/// The deflate stream in zlib's frame (RFC 1950).
fn unframed(body: &[u8]) -> Option<&[u8]> {
    /// The method in the first byte: deflate.
    const METHOD: (u8, u8) = (0x0f, 8);
    /// The bit of the second byte that says that the stream needs a dictionary.
    const HAS_DICTIONARY: u8 = 0x20;
    let (header, rest) = body.split_first_chunk::<2>()?;
    let (deflated, _adler) = rest.split_last_chunk::<4>()?;
    let is_deflate = header[0] & METHOD.0 == METHOD.1 && header[1] & HAS_DICTIONARY == 0;
    (is_deflate && u16::from_be_bytes(*header) % 31 == 0).then_some(deflated)
}

/// Whether a block held as many bytes as it announced.
fn filled(found: Result<usize, DecompressionError>, what: &str, len: usize) -> Result<(), String> {
    match found {
        Ok(n) if n == len => Ok(()),
        Ok(n) => Err(format!("the {what} block holds {n} bytes, not {len}")),
        Err(DecompressionError::BadData) => Err(format!("the {what} block is damaged")),
        Err(DecompressionError::InsufficientSpace) => {
            Err(format!("the {what} block holds more than {len} bytes"))
        }
    }
}
