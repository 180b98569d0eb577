//! Tools by which other crates' tests measure memory that is taken and bytes that are asked for. For tests
//! only.

mod allocator;
mod watched;

pub use allocator::{Counting, peak_of};
pub use watched::Watched;
