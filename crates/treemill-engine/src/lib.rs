//! A query over a file: finds where each of its columns comes from, reads packets of entries batch by
//! batch, and adds them to a partial. Knows no Python, and nothing of how files are read or expressions
//! computed.
#![forbid(unsafe_code)]

#[cfg(test)]
extern crate self as treemill_engine;

mod arrow_types;
mod beside;
mod bound;
mod catalog;
mod columns;
mod control;
mod error;
mod files;
mod functions;
mod limits;
mod listing;
mod members;
mod near_files;
mod ntuple_columns;
mod origin;
mod packet;
mod plain;
mod provided;
mod specification;
mod stages;
mod tree_columns;

/// What the tests of the crate's own modules share with those beside it.
#[cfg(test)]
#[path = "../tests/common/mod.rs"]
#[allow(clippy::restriction)]
mod tables;

pub use beside::{Beside, DefaultColumn, DefaultValue, FriendColumn, Joined};
pub use bound::Bound;
pub use catalog::Catalog;
pub use control::Control;
pub use error::{Cause, EngineError, EngineErrorKind};
pub use files::{Done, Ended, Part, Rows, Run, Sum, Turn, run_files};
pub use functions::{correction, corrections, model, model_output};
pub use listing::{Described, Listed};
pub use near_files::{Files, Found, Is, NearFiles, Place, Seen, at_once};
pub use provided::{Constant, Foreign, Provider};
pub use specification::Specification;
