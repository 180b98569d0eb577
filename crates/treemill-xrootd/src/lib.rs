//! A client of the XRootD protocol, and files of its servers as sources. Knows nothing of ROOT's file format.
//!
//! Pure parts decide: [`wire`] turns bytes into structs and back, [`stream`] is the state of one connection,
//! [`login`] chooses an authentication, [`route`] follows redirects, [`vector`] splits vectored reads, `pieces` cuts
//! ranges for requests and puts them together again, `recovery` says what to do when a server is lost, `meter`
//! measures. Thin parts do: `transport` is a socket, `connection` has its threads, `session` logs in; [`Client`],
//! [`File`] and [`XrootdSource`] are what callers hold.
//!
//! `root` addresses are spoken to in the clear, and by TLS where the server wants it; `roots` by TLS only. Bearer tokens
//! (the authentication `ztn`) are sent by TLS only.
//!
//! Not done yet: other authentications than `ztn`, `unix` and `host`, checksums of pages (`kXR_pgread`), several
//! connections for one session (`kXR_bind`), and writing. A server that insists on any of these is an error that says so.
//!
//! ```no_run
//! use treemill_xrootd::{Client, Options, Url};
//! let client = Client::new(Options::default());
//! let file = client.open(&Url::parse("root://eospublic.cern.ch//eos/opendata/file.root")?)?;
//! let first = file.read(0, 100)?; // the first 100 bytes, fewer if the file is shorter
//! let pieces = file.readv(&[(0, 4), (100, 64)])?; // exactly 4 and 64 bytes
//! # Ok::<(), treemill_xrootd::Error>(())
//! ```
#![forbid(unsafe_code)]

mod client;
mod connection;
mod error;
mod file;
mod limits;
pub mod login;
mod meter;
mod options;
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
pub use error::{Error, ErrorKind};
pub use file::{File, Reading};
pub use options::Options;
pub use source::{XrootdSource, settled};
pub use url::{Server, Url, shown};
