//! The crate's policy in numbers. Knows no code that obeys it.

use std::time::Duration;
pub(crate) use treemill_transfer::patience::xrootd::*;
pub(crate) use treemill_transfer::wide::{
    BUFFER, LARGE, MOST_MESSAGE, STREAM_PART as PART, VECTOR_BYTES,
};

/// Bounds the body of a response that carries no file data (listings, messages), in bytes.
pub(crate) const MOST_CONTROL: usize = 16 << 20;

/// Bounds one plain read, in bytes: the length is a signed 32-bit number on the wire, and a larger read is better split.
pub(crate) const MOST_READ: u32 = 64 << 20;

/// Bounds the redirects that one request follows. XrdCl's limit is the same.
pub(crate) const MOST_REDIRECTS: usize = 16;

/// Bounds the servers that one request gives up because they failed.
pub(crate) const MOST_TRIED: usize = 8;

/// Bounds the rounds of one authentication; `unix` and `host` take one.
pub(crate) const MOST_ROUNDS: usize = 4;

/// Bounds the ranges of one `kXR_readv` until the server says its own limit (`readv_iov_max`).
pub(crate) const RANGES: usize = 1024;

/// Bounds the bytes of one range of a `kXR_readv` until the server says its own limit (`readv_ior_max`).
pub(crate) const RANGE_BYTES: u32 = 2_097_136;

/// Bytes before the data of each range in the answer to a `kXR_readv`.
pub(crate) const SEGMENT_HEADER: usize = 16;

/// Bounds how often requests are halved because connections break before they end: 2 MB become 2 KB.
pub(crate) const MOST_CAUTION: u32 = 10;

/// Ranges from this, in bytes, are read alone where they are read with checksums: vectored reads have none, but fewer
/// requests. A request costs about as long as these bytes take at 1 GB/s.
pub(crate) const PAGED: u64 = 128 << 10;

/// Answers up to this, in bytes, say how long a round trip is.
pub(crate) const SMALL_ANSWER: usize = 64 << 10;

/// Files of which it is known that they were open, at most.
pub(crate) const MOST_HELD: usize = 1 << 14;

/// Bounds how often servers may refuse one piece of a file.
pub(crate) const MOST_TRIES: u32 = 4;

/// How often the reading task of a connection looks at the clock while no bytes come.
pub(crate) const TICK: Duration = Duration::from_millis(100);

/// Bodies of one answer that memory is taken for when the first one begins: servers send vectored reads in bodies of 2 MB.
pub(crate) const BODIES: usize = 4;

/// The part of a silence after which a server that has promised an answer is asked for a sign of life.
pub(crate) const SIGN: u32 = 2;

/// How long a connection is kept that nothing uses.
pub(crate) const IDLE: Duration = Duration::from_secs(60);

/// Bounds managers below managers.
pub(crate) const MOST_DEPTH: usize = 4;
/// Bounds the servers whose listings of one folder are put together.
pub(crate) const MOST_SERVERS: usize = 1000;
/// Servers that are asked for a listing at once.
pub(crate) const LISTED_AT_ONCE: usize = 16;
