//! Files on servers of NFSv4.1 and 4.2, read in user space, without a mount: [`open`], [`stat`], [`exists`] and [`list`].
//!
//! `wire` (bytes and messages), `slots` (a session's slots), `recovery` (the way to a session), `stripes` (where bytes lie),
//! `address`, `claims`, `faults` (which data servers are left alone), `intake` (what comes, and where it is written) and
//! `held` (what a server has given for an open file) are pure. `connection` (a socket), `trunk` (a session's connections), `session`,
//! `client` (this process at a server), `establish` (makes sessions), `walk` (paths), `laid` and `layouts` (where a file lies),
//! `data` (reads from data servers), `returns` (what a server is told), `file` and `calls` drive; parts, retries and deadlines
//! are treemill-transfer's. Knows nothing of ROOT. Read only. Authentication is AUTH_SYS.
#![forbid(unsafe_code)]

mod address;
mod calls;
mod claims;
mod client;
mod connection;
mod data;
mod establish;
pub mod faults;
mod file;
mod held;
pub mod intake;
mod laid;
mod layouts;
mod limits;
pub mod recovery;
mod returns;
mod room;
mod session;
pub mod slots;
pub mod stripes;
mod trunk;
mod walk;
pub mod wire;

pub use calls::{Entry, NfsSource, Stat, exists, list, open, stat};
