//! What the other crates' tests measure with: memory that is taken, bytes that are asked for. For tests only.

mod allocator;
mod watched;

pub use allocator::{Counting, peak_of};
pub use watched::Watched;
