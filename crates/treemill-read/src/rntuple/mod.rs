//! Reading RNTuples: entries of fields to Arrow arrays, for [`crate::Reader`], as
//! `driver.rs` does it for trees. `plan`, `assemble` and `column` are pure; `ntuple_file`
//! and `pages` alone meet sources. Knows no TTree.
//!
//! A field is read from the top down: the ends of a collection's items say which items are needed,
//! and so on below. From a distant source all of a field's pages are therefore asked for at once,
//! before it is known which of them are needed.

mod assemble;
mod column;
mod ntuple_file;
mod pages;
mod plan;
mod types;

pub use ntuple_file::NTupleFile;
pub(crate) use pages::Cursor;
pub use types::{TUPLE_KEY, arrow_type, field};
