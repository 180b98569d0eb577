//! Objects in buckets (`s3`, `gs`, `az`) as files: [`open`], [`stat`], [`exists`] and [`list`].
//!
//! `object_store` signs requests and reads listings; parts, retries and deadlines are treemill-transfer's, connections
//! `engine.rs`'s. Knows nothing of ROOT. `address` and `failure` are pure; `store`, `carrier` and `calls` drive.
//!
//! Requests go to the bucket's service only if the address is one:
//! ```
//! let error = treemill_http::objects::open("s3://my bucket/events.root").unwrap_err();
//! assert!(error.what.contains("my bucket is not the name of a bucket"));
//! ```
//! With a service, `open` gives a source of any size:
//! ```no_run
//! use treemill_source::{Request, Source};
//!
//! # fn main() -> Result<(), treemill_source::SourceError> {
//! let source = treemill_http::objects::open("s3://bucket/events.root")?;
//! let mut requests = [Request::new(0..source.size().min(4))];
//! source.read(&mut requests)?;
//! assert_eq!(requests.map(|request| request.buffer), [b"root"]);
//! # Ok(())
//! # }
//! ```

mod address;
mod calls;
mod carrier;
mod failure;
mod service;
mod store;

pub use calls::{Entry, ObjectSource, Stat, exists, list, open, opened, stat, state};
