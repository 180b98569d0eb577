//! ROOT's compressed records: a sequence of blocks, each with a 9-byte header and one codec.
//!
//! Source: ROOT's `RZip.cxx` (`R__unzip`, `R__unzip_header`). A block's header is the codec's two
//! letters, a method byte, and the block's compressed and uncompressed sizes as 3-byte
//! little-endian numbers (so a block holds at most 16 MB - 1). Knows no keys, baskets or files.

mod lz4;
mod lzma;
mod zlib;
mod zstd;

use crate::error::{FormatError, Result, malformed};
use std::cell::Cell;
use zlib::Checksum;

/// Bytes of a block's header.
pub const BLOCK_HEADER: usize = 9;

/// The codecs that ROOT writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Codec {
    Zlib,
    OldDeflate,
    Lzma,
    Lz4,
    Zstd,
}

/// Tag, codec, and the most bytes that one compressed byte can stand for. The ratio is what lets
/// an announced length be disbelieved before memory is taken for it:
/// - zlib, and the bare deflate of `CS`: a 258-byte match takes at least 2 bits (1032:1);
/// - lz4: one length byte adds 255;
/// - zstd: a run of 128 KiB takes a 3-byte block header and the byte (32768:1);
/// - lzma: a 273-byte match at the range coder's most skewed costs a fraction of a bit; measured
///   about 7000:1, bounded here by twice that and more.
const CODECS: [(&[u8; 2], Codec, usize); 5] = [
    (b"ZL", Codec::Zlib, 1032),
    (b"CS", Codec::OldDeflate, 1032),
    (b"XZ", Codec::Lzma, 32768),
    (b"L4", Codec::Lz4, 255),
    (b"ZS", Codec::Zstd, 32768),
];

/// One block, found but not yet decompressed.
struct Block<'a> {
    codec: Codec,
    body: &'a [u8],
    uncompressed: usize,
    /// Bytes after this block.
    rest: &'a [u8],
}

impl<'a> Block<'a> {
    /// Reads the header at the start of `bytes`, which is at `at` in its record.
    fn parse(bytes: &'a [u8], at: usize) -> Result<Self> {
        let Some((&[t0, t1, _method, c0, c1, c2, u0, u1, u2], after)) =
            bytes.split_first_chunk::<BLOCK_HEADER>()
        else {
            return Err(malformed("a compressed block's header is cut short", at));
        };
        let tag = [t0, t1];
        let Some(&(_, codec, ratio)) = CODECS.iter().find(|(known, ..)| **known == tag) else {
            return Err(unknown_codec(tag, at));
        };
        let compressed = u32::from_le_bytes([c0, c1, c2, 0]) as usize;
        let uncompressed = u32::from_le_bytes([u0, u1, u2, 0]) as usize;
        if uncompressed > compressed.saturating_mul(ratio) {
            return Err(malformed(
                format!(
                    "a block of {compressed} bytes cannot hold the {uncompressed} bytes that it announces"
                ),
                at,
            ));
        }
        let Some((body, rest)) = after.split_at_checked(compressed) else {
            return Err(malformed(
                format!(
                    "a block announces {compressed} bytes where {} are left",
                    after.len()
                ),
                at,
            ));
        };
        Ok(Block {
            codec,
            body,
            uncompressed,
            rest,
        })
    }
}

/// Decompresses records; keeps the codecs' working memory between calls, and leaves it to the next decompressor of
/// its thread: to make it takes as long as a small record. One per thread.
#[derive(Default)]
pub struct Decompressor {
    /// Taken at the first use.
    codecs: Option<Codecs>,
}

/// The codecs with their working memory.
#[derive(Default)]
struct Codecs {
    zlib: zlib::Zlib,
    lzma: lzma::Lzma,
    lz4: lz4::Lz4,
    zstd: zstd::Zstd,
}

thread_local! {
    /// What the last decompressor of this thread has left.
    static LEFT: Cell<Option<Codecs>> = const { Cell::new(None) };
}

impl Drop for Decompressor {
    fn drop(&mut self) {
        if let Some(codecs) = self.codecs.take() {
            let mut codecs = Some(codecs);
            // A thread that ends has nothing to leave it to.
            let _ = LEFT.try_with(|left| left.set(codecs.take()));
        }
    }
}

impl Decompressor {
    /// A decompressor that has not yet taken any working memory.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The uncompressed bytes of a record whose key announces `uncompressed_len` bytes (`fObjlen`)
    /// and whose bytes after the key are `src`. As in ROOT, a record that is not smaller than its
    /// object was stored as it is: then this is a part of `src`, and `out` is not touched.
    ///
    /// # Errors
    /// As [`Decompressor::decompress`].
    pub fn unpack<'a>(
        &mut self,
        src: &'a [u8],
        uncompressed_len: usize,
        out: &'a mut Vec<u8>,
    ) -> Result<&'a [u8]> {
        if let Some(stored) = src.get(..uncompressed_len) {
            return Ok(stored);
        }
        self.decompress(src, uncompressed_len, out)?;
        Ok(out)
    }

    /// Does what [`Decompressor::unpack`] does, for callers that need only the first `wanted` bytes: at least these are
    /// decompressed, and all if the record is stored or its codec cannot stop. Later blocks are not read, but
    /// their sizes are checked as those of a whole record.
    ///
    /// # Errors
    /// As [`Decompressor::decompress`], for the blocks that were decompressed.
    pub fn unpack_front<'a>(
        &mut self,
        src: &'a [u8],
        uncompressed_len: usize,
        wanted: usize,
        out: &'a mut Vec<u8>,
    ) -> Result<&'a [u8]> {
        if let Some(stored) = src.get(..uncompressed_len) {
            return Ok(stored);
        }
        let filled = self.fill(src, uncompressed_len, wanted, Checksum::Verify, out)?;
        Ok(out.get(..filled).unwrap_or_default())
    }

    /// Does what [`Decompressor::unpack`] does, for callers that have verified the compressed bytes by a checksum: a
    /// codec's own checksum of the uncompressed bytes, which finds the same damage, is skipped if that saves
    /// time.
    ///
    /// # Errors
    /// As [`Decompressor::decompress`].
    pub fn unpack_verified<'a>(
        &mut self,
        src: &'a [u8],
        uncompressed_len: usize,
        out: &'a mut Vec<u8>,
    ) -> Result<&'a [u8]> {
        if let Some(stored) = src.get(..uncompressed_len) {
            return Ok(stored);
        }
        let all = uncompressed_len;
        self.fill(src, all, all, Checksum::PassOver, out)?;
        Ok(out)
    }

    /// Decompresses `src`, one or more blocks, to exactly `uncompressed_len` bytes, which replace
    /// the contents of `out`. A reused `out` is not filled with zeros again if it was as long
    /// before.
    ///
    /// # Errors
    /// `Malformed` (with the offset in `src`) for broken blocks, sizes that disagree or that no
    /// codec could reach, and wrong checksums.
    pub fn decompress(
        &mut self,
        src: &[u8],
        uncompressed_len: usize,
        out: &mut Vec<u8>,
    ) -> Result<()> {
        let all = uncompressed_len;
        self.fill(src, all, all, Checksum::Verify, out).map(|_| ())
    }

    /// Decompresses at least the first `wanted` bytes into `out`, which is made `uncompressed_len`
    /// long; says how many there are. What is after them in `out` has no meaning.
    fn fill(
        &mut self,
        src: &[u8],
        uncompressed_len: usize,
        wanted: usize,
        checksum: Checksum,
        out: &mut Vec<u8>,
    ) -> Result<usize> {
        check_sizes(src, uncompressed_len)?;
        if out.capacity() < uncompressed_len {
            // New memory is zero already, and need not be gone over once more.
            *out = vec![0; uncompressed_len];
        }
        out.resize(uncompressed_len, 0);
        let wanted = wanted.min(uncompressed_len);
        let codecs = self.codecs.get_or_insert_with(|| {
            let left = LEFT.try_with(Cell::take);
            left.ok().flatten().unwrap_or_default()
        });
        let mut unread = src;
        let mut unfilled = out.as_mut_slice();
        let mut filled = 0_usize;
        while filled < wanted {
            let at = src.len().saturating_sub(unread.len());
            let block = Block::parse(unread, at)?;
            // `check_sizes` has seen that the blocks' sizes add up.
            let Some((target, later)) = unfilled.split_at_mut_checked(block.uncompressed) else {
                return Err(malformed("a block is longer than its record", at));
            };
            let whole = target.len();
            let needed = wanted.saturating_sub(filled).min(whole);
            let found = match block.codec {
                Codec::Zlib => {
                    let found = codecs.zlib.decompress(block.body, target, checksum);
                    found.map(|()| whole)
                }
                Codec::OldDeflate => codecs
                    .zlib
                    .decompress_bare(block.body, target)
                    .map(|()| whole),
                Codec::Lzma => codecs.lzma.decompress(block.body, target).map(|()| whole),
                Codec::Lz4 => codecs.lz4.decompress(block.body, target).map(|()| whole),
                Codec::Zstd => codecs.zstd.decompress(block.body, target, needed),
            };
            filled = filled.saturating_add(found.map_err(|what| malformed(what, at))?);
            unread = block.rest;
            unfilled = later;
        }
        Ok(filled)
    }
}

/// Whether the blocks of `src` announce `uncompressed_len` bytes together, each a size that its
/// codec could reach. Done before any memory is taken.
fn check_sizes(src: &[u8], uncompressed_len: usize) -> Result<()> {
    let mut unread = src;
    let mut missing = uncompressed_len;
    while missing > 0 {
        let at = src.len().saturating_sub(unread.len());
        let block = Block::parse(unread, at)?;
        missing = match missing.checked_sub(block.uncompressed) {
            Some(left) if left < missing => left,
            _ => {
                return Err(malformed(
                    format!(
                        "a block announces {} bytes where {missing} of {uncompressed_len} are missing",
                        block.uncompressed
                    ),
                    at,
                ));
            }
        };
        unread = block.rest;
    }
    Ok(())
}

fn unknown_codec(tag: [u8; 2], at: usize) -> FormatError {
    malformed(
        format!("no compression codec has the tag '{}'", tag.escape_ascii()),
        at,
    )
}

#[cfg(test)]
mod tests;
