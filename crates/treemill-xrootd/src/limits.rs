//! The crate's policy in numbers. Knows no code that obeys it.

use std::time::Duration;

/// Bounds the body of a response that carries no file data (listings, messages), in bytes.
pub(crate) const MOST_CONTROL: usize = 16 << 20;

/// Bounds one plain read, in bytes: the length is a signed 32-bit number on the wire, and a larger read is better split.
pub(crate) const MOST_READ: u32 = 64 << 20;

/// Bounds the redirects that one request follows. XrdCl's limit is the same.
pub(crate) const MOST_REDIRECTS: usize = 16;

/// Bounds the servers that one request leaves behind because they failed.
pub(crate) const MOST_TRIED: usize = 8;

/// Bounds the rounds of one authentication; `unix` and `host` take one.
pub(crate) const MOST_ROUNDS: usize = 4;

/// Bounds the characters of a server's message that an error repeats.
pub(crate) const MOST_MESSAGE: usize = 500;

/// Bounds the ranges of one `kXR_readv` until the server says its own limit (`readv_iov_max`).
pub(crate) const RANGES: usize = 1024;

/// Bounds the bytes of one range of a `kXR_readv` until the server says its own limit (`readv_ior_max`).
pub(crate) const RANGE_BYTES: u32 = 2_097_136;

/// Bounds the bytes that one `kXR_readv` asks for, so that answers of one session share its connection fairly.
pub(crate) const VECTOR_BYTES: u64 = 32 << 20;

/// How often the reader's thread of a connection looks at the clock while no bytes come.
pub(crate) const TICK: Duration = Duration::from_millis(100);

/// The reader's buffer of a connection, in bytes.
pub(crate) const BUFFER: usize = 256 << 10;

/// How long a connection may bring no byte while an answer is due.
pub(crate) const SILENCE: Duration = Duration::from_secs(10);

/// How long one request may bring no byte while others of its connection do.
pub(crate) const NEGLECT: Duration = Duration::from_secs(60);

/// Bounds what a server may make one request wait (`kXR_wait`, `kXR_waitresp`), in all.
pub(crate) const PATIENCE: Duration = Duration::from_secs(120);

/// How long it may take to connect to one address.
pub(crate) const CONNECT: Duration = Duration::from_secs(5);
