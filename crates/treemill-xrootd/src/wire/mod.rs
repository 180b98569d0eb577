//! The protocol's bytes: requests and responses as structs, both ways. Knows no sockets, no time and no order of
//! messages. Sections are those of the "XRootD Protocol Reference", version 5.

pub mod bodies;
pub mod codes;
mod cursor;
mod paged;
mod request;
mod response;
#[cfg(test)]
mod tests;

pub use paged::Paged;
pub use request::Request;
pub use response::{Header, Reply};

/// A file handle of a server, which no one else can read.
pub type Handle = [u8; 4];

/// Why bytes are no message of the protocol.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct WireError(pub String);

impl WireError {
    pub(crate) fn new(what: impl Into<String>) -> Self {
        WireError(what.into())
    }
}
