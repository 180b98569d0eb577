//! From a ROOT file's bytes to columns: opens files and trees, plans reads, caches baskets, and
//! decodes them to Arrow arrays. [`driver`](Reader) code alone meets format, source and cache; the
//! plan and the decoders are pure. Knows no queries, threads or Python.
#![forbid(unsafe_code)]

pub mod cache;
mod checks;
mod counters;
mod counts;
pub mod decode;
mod driver;
mod error;
mod file;
mod first_look;
mod near;
pub mod plan;
mod reader;
pub mod rntuple;
mod shelf;
mod table;
mod tree_file;
mod window;

pub use counters::Counters;
pub use error::{ErrorKind, ReadError};
pub use file::{File, TreeKey};
pub use near::near;
pub use plan::Options;
pub use reader::{Batch, Batches, Reader};
pub use table::Table;
pub use tree_file::TreeFile;
