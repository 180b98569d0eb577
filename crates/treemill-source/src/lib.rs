//! Byte ranges of files: the [`Source`] trait, and files of this machine. Knows nothing of ROOT: other crates
//! know what the bytes mean.
#![forbid(unsafe_code)]

mod error;
mod limits;
mod local;
mod memory;
mod source;

pub use error::SourceError;
pub use local::Local;
pub use memory::Memory;
pub use source::{Identity, Latency, Request, Source};
