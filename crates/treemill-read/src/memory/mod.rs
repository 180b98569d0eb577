//! Memory that is used again: taken fresh for each batch it costs more than what is done in it, because the
//! kernel clears each page. Knows nothing of files and layouts.

mod results;
pub(crate) mod shelf;
mod spares;

pub(crate) use results::RESULTS;
pub use results::wide_offsets;
pub use spares::Spares;
