//! Objects in buckets (`s3`, `gs`, `az`) as files: [`open`], [`stat`], [`exists`] and [`list`].
//!
//! `object_store` signs requests and reads listings; parts, retries and deadlines are treemill-transfer's, connections
//! treemill-http's. Knows nothing of ROOT. `address` and `failure` are pure; `store`, `carrier` and `calls` drive.
#![forbid(unsafe_code)]

mod address;
mod calls;
mod carrier;
mod failure;
mod limits;
mod service;
mod store;

pub use calls::{Entry, ObjectSource, Stat, exists, list, open, stat};
