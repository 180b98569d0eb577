//! Tools by which other crates' tests measure: memory that is taken, bytes that are asked for, spans that are
//! opened, round trips that are waited for. For tests only.

mod allocator;
mod spans;
mod tides;
mod watched;

pub use allocator::{Counting, peak_of};
pub use spans::{registered_spans, spans_of};
pub use tides::Tides;
pub use watched::{FAR, Watched};
