//! Byte ranges from somewhere: the [`Source`] trait, and files of this machine. Knows nothing of
//! ROOT: what the bytes mean is other crates' business.
#![forbid(unsafe_code)]

mod error;
mod local;
mod memory;
mod source;

pub use error::SourceError;
pub use local::Local;
pub use memory::Memory;
pub use source::{Identity, Latency, Request, Source};
