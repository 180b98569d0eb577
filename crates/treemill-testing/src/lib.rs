//! Tools by which other crates' tests measure: memory that is taken, bytes that are asked for, spans that are
//! opened, round trips that are waited for; and the contract of sources, which all of them are put through. For tests only.

mod allocator;
pub mod contract;
mod far_source;
mod ports;
mod spans;
mod watched;

pub use allocator::{Counting, peak_of};
pub use far_source::FarSource;
pub use ports::free_port;
pub use spans::{registered_spans, spans_of};
pub use watched::{FAR, Watched};
