//! Reads fields of RNTuples to Arrow arrays, for [`crate::Reader`], as `driver.rs` reads branches of trees.
//! `plan`, `assemble` and `column` are pure; `ntuple_file` and `pages` alone use sources. Knows no TTree.
//!
//! A field is read from the top down: the ends of a collection's items say which items are needed, and so on
//! below. For a distant source this would be a round trip per level, so a reader asks for all pages of its entries at
//! once (`wants.rs`).

mod assemble;
mod column;
mod ntuple_file;
mod pages;
mod plan;
mod types;

pub use ntuple_file::NTupleFile;
pub(crate) use pages::Cursor;
pub(crate) use plan::{clusters, stretches};
pub use types::{TUPLE_KEY, arrow_type, field};
