//! Tools by which other crates' tests measure: memory that is taken, bytes that are asked for, spans that are
//! opened, round trips that are waited for; and the contract of sources, which all of them are put through. For tests only.

mod allocator;
pub mod contract;
mod ports;
mod spans;
mod tides;
mod watched;

pub use allocator::{Counting, peak_of};
pub use ports::free_port;
pub use spans::{registered_spans, spans_of};
pub use tides::Tides;
pub use watched::{FAR, Watched};
