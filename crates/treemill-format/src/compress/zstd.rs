//! Zstandard blocks (`ZS`), through the reference library, its context reused.

use zstd_safe::DCtx;

/// The zstd codec; its context is made at first use.
#[derive(Default)]
pub(super) struct Zstd {
    context: Option<DCtx<'static>>,
}

impl Zstd {
    /// Fills `target` from `body`; says what is wrong where it cannot.
    pub(super) fn decompress(&mut self, body: &[u8], target: &mut [u8]) -> Result<(), String> {
        let context = match &mut self.context {
            Some(context) => context,
            none => none.insert(DCtx::try_create().ok_or("zstd: no memory for a context")?),
        };
        match context.decompress(target, body) {
            Ok(n) if n == target.len() => Ok(()),
            Ok(n) => Err(format!("zstd block holds {n} bytes, not {}", target.len())),
            Err(code) => Err(format!("zstd block: {}", zstd_safe::get_error_name(code))),
        }
    }
}
