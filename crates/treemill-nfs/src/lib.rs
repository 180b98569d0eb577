//! Files on servers of NFSv4.1 and 4.2, read in user space, without a mount: [`open`], [`stat`], [`exists`] and [`list`].
//!
//! `wire` (bytes and messages), `slots` (a session's slots), `recovery` (the way to a session), `stripes` (where bytes lie),
//! `shares` (how large READs are), `address`, `claims`, `stores`, `held` and `placement` are pure. `connection` (a
//! socket), `trunk` (a session's connections), `queue` (for its slots), `session`, `client` (this process at a server), `establish`
//! (makes sessions), `walk` (paths), `laid` and `layouts` (where a file lies), `data` (reads from data servers), `back` (what a
//! server calls back for), `returns` and `leave` (what a server is told), `file` and `calls` drive; parts, retries and
//! deadlines are treemill-transfer's. Knows nothing of ROOT. Read only. Authentication is AUTH_SYS.
#![forbid(unsafe_code)]

mod address;
mod back;
mod calls;
mod claims;
mod client;
mod connection;
mod data;
mod establish;
mod file;
mod held;
pub mod intake;
mod laid;
mod layouts;
mod leave;
mod limits;
mod placement;
mod queue;
pub mod recovery;
mod returns;
mod room;
mod session;
pub mod shares;
pub mod slots;
mod stores;
pub mod stripes;
mod trunk;
mod walk;
pub mod wire;

pub use calls::{Entry, NfsSource, Stat, exists, list, open, opened, stat, state};
pub use leave::leave;
