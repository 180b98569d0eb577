//! The crate's policy in numbers. Knows no code that obeys it.

use std::time::Duration;
pub(crate) use treemill_transfer::patience::http::*;
pub(crate) use treemill_transfer::wide::MOST_MESSAGE;

/// Bounds the redirects that one request follows.
pub(crate) const MOST_REDIRECTS: usize = 10;

/// How long a connection is kept that nothing uses. Not for long: a session that has worker processes needs it no more, and where
/// a firewall allows few connections, the workers wait for it. They try for about 20 s.
pub(crate) const IDLE: Duration = Duration::from_secs(5);

/// Idle connections to one server that are kept at most: as many as may be busy.
pub(crate) const MOST_IDLE: usize = treemill_transfer::IN_FLIGHT;

/// Bounds the sets of proxies whose connections are kept: the oldest ones go when the environment has named more.
pub(crate) const MOST_ENGINES: usize = 4;

/// Connections to one server of HTTP/2, at most.
pub(crate) const CLIENTS: usize = 4;

/// Requests that share a connection of HTTP/2 before another one is used.
pub(crate) const PER_CLIENT: usize = 8;

/// What one answer of HTTP/2 may bring before it is read, in bytes: 1 Gbit/s over 137 ms.
pub(crate) const STREAM_WINDOW: u32 = 16 << 20;

/// What all answers of a connection of HTTP/2 may bring before they are read, in bytes.
pub(crate) const CONNECTION_WINDOW: u32 = 64 << 20;

/// Bounds the servers of one file whose tags are remembered. Answers of more are held to the file's size alone.
pub(crate) const MOST_VERSIONS: usize = 256;

/// Bounds the places of a file that one answer or one document names.
pub(crate) const MOST_PLACES: usize = 32;

/// Bounds the answer to a request for a listing, in bytes.
pub(crate) const MOST_LISTING: usize = 64 << 20;

/// Bounds the checksums of one header.
pub(crate) const MOST_DIGESTS: usize = 16;
