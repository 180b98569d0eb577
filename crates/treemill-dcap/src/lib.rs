//! A client of dCap, the protocol of dCache, and files of its pools as sources. It reads only, as a passive client: it makes
//! all connections itself. Knows nothing of ROOT's file format.
//!
//! Pure parts decide: [`words`] are the door's lines, [`frames`] the pools' messages, [`mover`] is the state of one data
//! connection, [`pieces`] cuts ranges for requests and puts them together again. Thin parts do: `socket`, `door` (the
//! control line, one for each door and process), `session` (a data connection), `core` (what to do when one is lost), and
//! [`DcapSource`], which callers hold.
//!
//! Small ranges travel together in vectored reads (`IOCMD_READV`), large ones alone, in parts; all requests are sent at
//! once, and a pool answers them in order. A vectored read's answer has no end mark, and its blocks do not say which range
//! they are of: a block that crosses the end of a range, or that looks like a message, ends the connection, and its ranges
//! are read one by one, where every fault shows. So a fault costs time, and never gives a wrong byte.
//!
//! Not done: writing, listing, and the doors with logins (`gsidcap`, `kerberos`).
#![forbid(unsafe_code)]

mod core;
mod door;
pub mod frames;
mod limits;
pub mod mover;
pub mod pieces;
mod session;
mod socket;
mod source;
mod url;
pub mod words;

pub use source::{DcapSource, State, stat, state};
pub use url::{Url, shown};
