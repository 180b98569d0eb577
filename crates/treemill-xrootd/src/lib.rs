//! A client of the XRootD protocol. Knows nothing of ROOT's file format, nor of treemill's other crates.
//!
//! Pure parts decide: [`wire`] turns bytes into structs and back, [`stream`] is the state of one connection,
//! [`login`] chooses an authentication, [`route`] follows redirects, [`vector`] splits vectored reads. Thin parts
//! do: `connection` owns a socket and a thread, [`Client`] and [`File`] are what callers hold.
//!
//! Not done yet: TLS (and so the authentication `ztn`), other authentications than `unix` and `host`, checksums of
//! pages (`kXR_pgread`), several connections for one session (`kXR_bind`), recovery of an open file from the loss
//! of its server, and writing. A server that insists on any of these is an error that says so.
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
mod refusal;
pub mod route;
pub mod stream;
mod ticket;
mod url;
pub mod vector;
pub mod wire;

pub use client::Client;
pub use connection::Options;
pub use error::{Error, ErrorKind};
pub use file::{File, Reading};
pub use url::{Server, Url};
