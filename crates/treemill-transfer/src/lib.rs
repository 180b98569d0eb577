//! Ranges of a distant file, many in flight at once: a [`Remote`] is a `Source` around a [`Carrier`], which asks one
//! server for one range. This crate connects, splits ranges, bounds and orders requests, tries again, measures, and
//! has the process's runtime and threads. [`replicas`] makes one source of several of one file; [`credentials`] are what users show to
//! servers, and whom they trust. Knows no protocol: treemill-http and treemill-nfs have carriers.
#![forbid(unsafe_code)]

mod carrier;
mod choice;
mod connect;
pub mod credentials;
mod delivery;
mod gate;
mod health;
mod limits;
mod meter;
mod parts;
pub mod patience;
mod process;
mod remote;
pub mod replicas;
mod retry;
mod runtime;
mod socket;
mod threads;
mod trouble;
mod whole;

pub use carrier::{Body, Carrier, Chunk, Part};
pub use choice::{Backlog, Owed, dealt, soonest};
pub use connect::{
    CROWDED, Connected, REFUSED, are_connections_shared, connect, look_up, share_connections,
};
pub use delivery::{insist, soon};
pub use health::{FileHealth, Health};
pub use limits::wide;
pub use limits::{CHECKSUM_PATIENCE, FAR, HEAD, IN_FLIGHT, MOST_UNWANTED, SILENCE, WHOLE};
pub use meter::Meter;
pub use parts::parts;
pub use process::PerProcess;
pub use remote::{Opened, Remote};
pub use retry::{Retry, pause};
pub use runtime::{runtime, wait, wait_for};
pub use socket::{read, write};
pub use threads::{Job, Threads};
pub use treemill_source::SourceErrorKind as Kind;
pub use trouble::Trouble;
pub use whole::{RangePart, Wants, Whole, range_parts, rooms};
