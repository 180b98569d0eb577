//! ROOT's file format: bytes to metadata and baskets. No I/O, no threads, no async, no unsafe.
//!
//! The way through a file, each step saying which bytes the next one needs: [`header::FileHeader`] names the root
//! directory and the streamer info; [`directory::Directory`] names its key list; [`directory::parse_key_list`] gives
//! the [`key::Key`]s, whose `payload`, decompressed by [`compress`], is an object: [`streamer::StreamerInfos`] for the
//! streamer info's own key, [`parse_tree`] for a tree's. A tree names its baskets, which [`basket`] takes apart.
#![forbid(unsafe_code)]

pub mod basket;
pub mod clones;
mod clusters;
pub mod compress;
pub mod directory;
mod embedded;
mod enclosed;
pub mod error;
mod extent;
pub mod framed;
pub mod header;
mod interpret;
pub mod key;
pub mod layout;
mod limits;
pub mod marks;
mod object;
pub mod objects;
pub mod open;
mod program;
pub mod reader;
mod relations;
pub mod rntuple;
pub mod streamer;
mod tbranch;
mod tleaf;
pub mod tree;
mod ttree;

pub use ttree::parse_tree;
