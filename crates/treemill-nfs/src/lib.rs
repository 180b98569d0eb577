//! Files on servers of NFSv4.1 and 4.2, read in user space, without a mount: [`open`], [`stat`], [`exists`] and [`list`].
//!
//! `wire` (bytes and messages), `slots` (a session's slots), `recovery` (the way to a session), `stripes` (where bytes lie),
//! `address` and `held` are pure. `connection` (a socket), `session`, `client` (this process at a server), `establish` (makes
//! sessions), `walk` (paths), `layouts` (data servers), `file` and `calls` drive; parts, retries and deadlines are
//! treemill-transfer's. Knows nothing of ROOT. Read only. Authentication is AUTH_SYS.
#![forbid(unsafe_code)]

mod address;
mod calls;
mod client;
mod connection;
mod establish;
mod file;
mod held;
mod layouts;
mod limits;
pub mod recovery;
mod session;
pub mod slots;
pub mod stripes;
mod walk;
pub mod wire;

pub use calls::{Entry, NfsSource, Stat, exists, list, open, stat};
