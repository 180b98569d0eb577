//! Files on servers of HTTP and WebDAV (`http`, `https`, `dav`, `davs`): [`open`], [`stat`], [`exists`] and [`list`];
//! and where a file lies besides, as servers say in headers ([`Links`]) and in documents ([`metalink`]).
//!
//! [`objects`] are files in buckets, over the same connections.
//!
//! Ranges are single ones, many in flight at once; a file that changes while it is read is an error. Knows nothing of
//! ROOT. `address`, `answer`, `certificate`, `conversation`, `digest`, `links`, `listing`, `metalink` and `version` are pure; `engine`,
//! `carrier`, `checksums`, `ranges` and `calls` drive; `distance` measures how far servers are, `versions` keeps what each
//! server has said of a file, `tls` has the certificates.
#![forbid(unsafe_code)]

mod address;
mod answer;
mod calls;
mod carrier;
mod certificate;
mod checksums;
mod conversation;
mod digest;
mod distance;
mod engine;
mod limits;
mod links;
mod listing;
mod metalink;
pub mod objects;
mod proxies;
mod ranges;
mod tls;
mod version;
mod versions;

pub use calls::{HttpSource, Stat, exists, list, open, open_found, opened, stat, state};
pub use links::Links;
pub use listing::Entry;
pub use metalink::{Described, metalink};

/// What parses bytes from outside, for the fuzz targets.
#[doc(hidden)]
pub mod parsing {
    pub use crate::answer::ContentRange;
    pub use crate::certificate::ends;
    pub use crate::digest::add as digests;
    pub use crate::listing::{index_page, multistatus};
}
