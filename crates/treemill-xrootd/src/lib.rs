//! A client of the XRootD protocol, and files of its servers as sources. Knows nothing of ROOT's file format.
//!
//! Pure parts decide: [`wire`] turns bytes into structs and back, [`stream`] is the state of one connection,
//! [`login`] chooses an authentication, [`route`] follows redirects, [`vector`] splits vectored reads, `pieces` cuts
//! ranges for requests and puts them together again, `recovery` says what to do when a server is lost.
//! Thin parts do: `transport` is a socket, `connection` has its tasks, `session` logs in; [`Client`],
//! [`File`] and [`XrootdSource`] are what callers hold.
//!
//! `root` addresses are spoken to in the clear, and by TLS where the server wants it; `roots` by TLS only. Bearer tokens
//! (the authentication `ztn`) are sent by TLS only.
//!
//! Ranges of 128 KiB and more are read with checksums of their pages (`kXR_pgread`, CRC32C) where the server has them
//! and is 5 ms or more away ([`Options::checks_from`]); nearer, checksums would cost a server most of its speed. A page
//! that differs is asked for once more, then on a new connection or at another server, and is never given on. Smaller
//! ranges travel together in vectored reads, which have no checksums but save a request each; a single small range is
//! read with checksums, too. Over TLS no checksums are asked for: TLS authenticates every byte by itself, and ends the
//! connection where one is wrong.
//!
//! Not done yet: other authentications than `ztn`, `unix` and `host`, and writing. A server that insists on any of these
//! is an error that says so. Several connections for one session (`kXR_bind`) are not wanted:
//! docs/decisions/0015-connections.md says why.
//!
//! ```no_run
//! use treemill_xrootd::{Client, Options, Url};
//! let client = Client::new(Options::default());
//! let file = client.open(&Url::parse("root://eospublic.cern.ch//eos/opendata/file.root")?)?;
//! let first = file.read(0, 100)?; // the first 100 bytes, fewer if the file is shorter
//! let pieces = file.readv(&[(0, 4), (100, 64)])?; // exactly 4 and 64 bytes
//! # Ok::<(), treemill_xrootd::Trouble>(())
//! ```
#![forbid(unsafe_code)]

mod client;
mod connection;
mod error;
mod federation;
mod file;
mod held;
mod limits;
pub mod login;
mod newest;
mod options;
mod peers;
mod pieces;
mod recovery;
mod refusal;
pub mod route;
mod session;
mod source;
pub mod stream;
mod ticket;
mod tls;
mod transport;
mod url;
pub mod vector;
pub mod wire;

pub use client::Client;
pub use file::{File, Reading};
pub use held::Held;
pub use options::Options;
pub use peers::Peers;
pub use source::{XrootdSource, settled};
pub use treemill_transfer::{Kind, Trouble};
pub use url::{Server, Url, shown};
