//! Memory that is reused: the kernel clears each page of fresh memory, which takes longer than decoding into
//! it. Knows nothing of files and layouts.

pub(crate) mod buffer_pool;
mod results;
mod spares;

pub(crate) use results::RESULTS;
pub use results::wide_offsets;
pub use spares::Spares;
