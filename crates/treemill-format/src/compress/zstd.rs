//! Zstandard blocks (`ZS`), through the reference library, its context reused.
//!
//! A frame is a sequence of the format's own blocks (RFC 8878), of at most 128 KiB each. If only the front of a
//! long frame is needed, its blocks are decompressed one by one, straight into the target, until the front is
//! there.

use zstd_safe::{DCtx, DParameter, InBuffer, OutBuffer, ResetDirective};

/// The most that one of a frame's blocks holds: shorter frames have one, as a rule.
const LONGEST_BLOCK: usize = 128 << 10;
/// The shortest frame header: how long it is and whether the content has a checksum is in these bytes.
const SHORTEST_HEADER: usize = 5;
/// The checksum bit of a frame header's descriptor (its fifth byte).
const HAS_CHECKSUM: u8 = 1 << 2;

/// The zstd codec; its context is made at first use.
#[derive(Default)]
pub(super) struct Zstd {
    context: Option<DCtx<'static>>,
}

impl Zstd {
    /// Fills at least the first `wanted` bytes of `target` from `body`, whose size is that of
    /// `target`: how many, or what is wrong if it cannot.
    pub(super) fn decompress(
        &mut self,
        body: &[u8],
        target: &mut [u8],
        wanted: usize,
    ) -> Result<usize, String> {
        let context = match &mut self.context {
            Some(context) => context,
            none => none.insert(context()?),
        };
        if wanted < target.len()
            && target.len() > LONGEST_BLOCK
            && let Some(filled) = front(context, body, target, wanted)
        {
            return Ok(filled);
        }
        match context.decompress(target, body) {
            Ok(n) if n == target.len() => Ok(n),
            Ok(n) => Err(format!(
                "the zstd block holds {n} bytes, not {}",
                target.len()
            )),
            Err(code) => Err(in_words(code)),
        }
    }
}

/// A context whose streams write into the target itself, without a buffer of their own.
fn context() -> Result<DCtx<'static>, String> {
    let mut context = DCtx::try_create().ok_or("zstd: no memory for a context")?;
    context
        .set_parameter(DParameter::StableOutBuffer(true))
        .map_err(in_words)?;
    Ok(context)
}

/// Fills the front of `target` block by block; `None` if that cannot be: the frame has a checksum, which
/// is verified with its last block, or does not say that it is as long as `target`, or something is wrong
/// with it, which decompressing all of it will tell.
fn front(context: &mut DCtx<'_>, body: &[u8], target: &mut [u8], wanted: usize) -> Option<usize> {
    let &[.., descriptor] = body.first_chunk::<SHORTEST_HEADER>()?;
    let announced = zstd_safe::get_frame_content_size(body).ok().flatten();
    if descriptor & HAS_CHECKSUM != 0 || announced != Some(target.len() as u64) {
        return None;
    }
    context.reset(ResetDirective::SessionOnly).ok()?;
    let mut output = OutBuffer::around(target);
    let (mut rest, mut next) = (body, SHORTEST_HEADER);
    while output.pos() < wanted {
        // As much as the library asks for is one block, which it then takes from where it lies.
        let (piece, later) = rest.split_at_checked(next)?;
        let mut input = InBuffer::around(piece);
        next = context.decompress_stream(&mut output, &mut input).ok()?;
        if next == 0 || input.pos() < piece.len() {
            break;
        }
        rest = later;
    }
    let filled = output.pos();
    context.reset(ResetDirective::SessionOnly).ok()?;
    (filled >= wanted).then_some(filled)
}

fn in_words(code: zstd_safe::ErrorCode) -> String {
    format!(
        "zstd cannot decompress the block: {}",
        zstd_safe::get_error_name(code)
    )
}
