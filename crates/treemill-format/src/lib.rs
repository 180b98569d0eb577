//! ROOT's file format: bytes to metadata and baskets. No I/O, no threads, no async, no unsafe.
#![forbid(unsafe_code)]

pub mod basket;
mod clusters;
pub mod compress;
pub mod directory;
mod embedded;
pub mod error;
pub mod header;
mod interpret;
pub mod key;
pub mod layout;
mod object;
mod program;
pub mod reader;
pub mod rntuple;
pub mod streamer;
mod tbranch;
mod tleaf;
pub mod tree;
mod ttree;

pub use ttree::parse_tree;
