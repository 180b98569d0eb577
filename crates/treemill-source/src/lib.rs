//! Byte ranges of files: the [`Source`] trait, what sources say of themselves ([`Info`], [`Identity`], [`Costs`],
//! [`Checksums`]) and answer with ([`Ticket`]), files of this machine, and [`cache`]s on disk of ranges of distant ones. [`own`] has the
//! one rule of what is taken from disks without a question. Knows nothing of ROOT: other crates know what the bytes mean.
#![forbid(unsafe_code)]

mod ablation;
mod arrived;
pub mod cache;
mod cause;
mod checksums;
mod costs;
mod drain;
mod edges;
mod error;
mod flow;
mod growth;
mod identity;
mod limits;
mod local;
mod memory;
mod observed;
pub mod own;
mod reads;
mod servers;
mod source;
mod ticket;

pub use ablation::{Part, is_off, switch_off};
pub use arrived::Arrived;
pub use bytes::Bytes;
pub use cause::Cause;
pub use checksums::{Algorithm, Checksums, Difference, WantedChecksums};
pub use costs::Costs;
pub use drain::{Blocks, drain};
pub use edges::{Edges, opening_bytes};
pub use error::{SourceError, SourceErrorKind, is_there};
pub use flow::Flow;
pub use growth::Growth;
pub use identity::{Identity, Info};
pub use limits::SETTLED;
pub use local::Local;
pub use memory::Memory;
pub use observed::Observed;
pub use reads::{Recorded, record_reads, recorded_reads};
pub use servers::{Messages, ServerCounts, server_of, servers};
pub use source::{Request, Source, is_within, read_by_tickets, tickets};
pub use ticket::{Promise, Ticket, Watch};
