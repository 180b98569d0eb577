//! LZMA blocks (`XZ`): a whole .xz stream each, through liblzma, which verifies the stream's check.

use crate::limits::LZMA_MEMORY;
use liblzma::stream::{Action, Error, Status, Stream};

/// The LZMA codec. liblzma's streams cannot be rewound through its safe interface, so each block
/// makes its own; beside LZMA's speed that is cheap.
#[derive(Default)]
pub(super) struct Lzma;

impl Lzma {
    /// Fills `target` from `body`; says what is wrong if it cannot.
    pub(super) fn decompress(&mut self, body: &[u8], target: &mut [u8]) -> Result<(), String> {
        let mut stream = Stream::new_stream_decoder(LZMA_MEMORY, 0).map_err(in_words)?;
        let mut spare = [0_u8; 1];
        loop {
            let (read, written) = (stream.total_in(), stream.total_out());
            let input = rest(body, read).unwrap_or_default();
            // With `target` full, the end of the stream must come without another byte.
            let full = written >= target.len() as u64;
            let output = match usize::try_from(written)
                .ok()
                .and_then(|n| target.get_mut(n..))
            {
                Some(unfilled) if !full => unfilled,
                _ => spare.as_mut_slice(),
            };
            let status = stream
                .process(input, output, Action::Finish)
                .map_err(in_words)?;
            let (read_now, written_now) = (stream.total_in(), stream.total_out());
            if written_now > target.len() as u64 {
                return Err(format!(
                    "the lzma block holds more than {} bytes",
                    target.len()
                ));
            }
            if matches!(status, Status::StreamEnd) {
                if written_now == target.len() as u64 {
                    return Ok(());
                }
                return Err(format!(
                    "the lzma block holds {written_now} bytes, not {}",
                    target.len()
                ));
            }
            if (read_now, written_now) == (read, written) {
                return Err("the lzma block is cut short".to_owned());
            }
        }
    }
}

fn rest(bytes: &[u8], from: u64) -> Option<&[u8]> {
    bytes.get(usize::try_from(from).ok()?..)
}

fn in_words(error: Error) -> String {
    match error {
        Error::MemLimit => format!("the lzma block asks for more than {LZMA_MEMORY} bytes"),
        other => format!("lzma cannot decompress the block: {other}"),
    }
}
