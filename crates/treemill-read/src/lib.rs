//! From a ROOT file's bytes to columns: opens files and trees, plans reads, caches baskets, and
//! decodes them to Arrow arrays. `file.rs`, `first_look.rs` and `rntuple/ntuple_file.rs` read metadata,
//! `driver/` and `rntuple/pages/` read columns; the plan and the decoders are pure. Knows no queries,
//! threads or Python.
//!
//! Pure: `wants.rs` (entries → baskets and pages), `inbox/state.rs` (what is asked for ahead of a distant file),
//! `branch_names.rs` (what branches are called), `decode/` (three engines, of which `walk` is the reference), `cache/policy.rs`, `arrays.rs` (Arrow arrays, for both
//! decoders). They drive: `table.rs` (a tree or an RNTuple), `reader.rs` (batches), `inbox.rs`, `driver/`, `rntuple/pages/`,
//! `ahead.rs` (bytes for readers to come), `record.rs` (what readers did, step by step). `counts/` has the entry lengths that
//! branches of one counter share, `memory/` the buffers to reuse; `first_look.rs` completes layouts from the data.
#![forbid(unsafe_code)]

mod ahead;
mod arrays;
mod bits;
mod branch_names;
pub mod cache;
mod checks;
mod clock;
mod context;
mod counters;
mod counts;
pub mod decode;
mod descriptions;
mod driver;
mod error;
mod expand;
mod faults;
mod fetch;
mod file;
mod first_look;
mod inbox;
mod keys;
mod limits;
mod memory;
mod near;
mod numbers;
mod offsets;
pub mod plan;
mod reader;
mod record;
pub mod rntuple;
mod table;
mod tree_file;
mod wants;
mod window;

pub use ahead::{Ahead, stored_bytes};
pub use counters::{Counters, Stage};
pub use error::{Cause, ErrorKind, ReadError};
pub use file::File;
pub use inbox::{Coming, Inbox, Lease};
pub use keys::TreeKey;
pub use near::near;
pub use plan::Options;
pub use reader::{Batch, Batches, Reader};
pub use record::{Kind, Record, Step};
pub use table::Table;
pub use tree_file::TreeFile;
pub use wants::{Want, around, lightest, once, wants};
