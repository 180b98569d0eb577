//! The crate's policy in numbers. Knows no code that obeys it.

use std::time::Duration;

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

/// Bounds the characters of a server's message that an error repeats.
pub(crate) const MOST_MESSAGE: usize = 500;

/// Bounds the ranges of one `kXR_readv` until the server says its own limit (`readv_iov_max`).
pub(crate) const RANGES: usize = 1024;

/// Bounds the bytes of one range of a `kXR_readv` until the server says its own limit (`readv_ior_max`).
pub(crate) const RANGE_BYTES: u32 = 2_097_136;

/// Bounds the bytes that one `kXR_readv` asks for: its first bytes are of use only when its last ones are here.
pub(crate) const VECTOR_BYTES: u64 = 8 << 20;

/// Bytes before the data of each range in the answer to a `kXR_readv`.
pub(crate) const SEGMENT_HEADER: usize = 16;

/// Ranges above this, in bytes, are read alone: servers send plain reads without a copy. Below the usual bound of a
/// range of a vectored read.
pub(crate) const LARGE: u64 = 1 << 20;

/// Bounds how often requests are halved because connections break before they end: 2 MB become 2 KB.
pub(crate) const MOST_CAUTION: u32 = 10;

/// The round trip from which on ranges are read with checksums. A server sends pages with checksums at a fifth of the
/// speed of plain ones (0.7 against 4 GB/s on loopback, measured with XRootD 5.5): nearer than this it would be the limit,
/// farther away the link is.
pub(crate) const CHECKS_FROM: Duration = Duration::from_millis(5);

/// Ranges from this, in bytes, are read alone where they are read with checksums: vectored reads have none, but fewer
/// requests. A request costs about as long as these bytes take at 1 GB/s.
pub(crate) const PAGED: u64 = 128 << 10;

/// Bounds one plain read of a large range, in bytes: what has come is kept if the connection breaks later.
pub(crate) const PART: u64 = 2 << 20;

/// Answers up to this, in bytes, say how long a round trip is.
pub(crate) const SMALL_ANSWER: usize = 64 << 10;

/// Files of which it is known that they were open, at most.
pub(crate) const MOST_HELD: usize = 1 << 14;

/// How long the words of servers that older files are closed are waited for, at most.
pub(crate) const CLOSING: Duration = Duration::from_secs(2);

/// Bounds how often servers may refuse one piece of a file.
pub(crate) const MOST_TRIES: u32 = 4;

/// The time after the last progress for which attempts to open a file again begin.
pub(crate) const RECOVERY: Duration = Duration::from_secs(12);

/// The time after the last progress for which a file that could be opened again, and then brought nothing, is still
/// given another chance: two servers that hang end within it, a third one does not.
pub(crate) const FUTILE: Duration = Duration::from_secs(17);

/// The time after the last progress for which requests are still sent: a silence after it ends within [`PROMISED`].
pub(crate) const LAST_SENDING: Duration = Duration::from_secs(20);

/// The time after the last progress at which requests that still wait for an opening are given up.
pub(crate) const PROMISED: Duration = Duration::from_secs(28);

/// The time that servers may have cost which failed one request that opens or looks, for which another one is asked: that one
/// may take as long as a connection and a silence.
pub(crate) const LOST_OPENING: Duration = Duration::from_secs(12);

/// How long the second attempt to open a file again waits; each further one waits twice as long,
/// up to a bound.
pub(crate) const BACKOFF: Duration = Duration::from_millis(200);
pub(crate) const MOST_BACKOFF: Duration = Duration::from_secs(1);

/// How often the reading task of a connection looks at the clock while no bytes come.
pub(crate) const TICK: Duration = Duration::from_millis(100);

/// Bodies of one answer that memory is taken for when the first one begins: servers send vectored reads in bodies of 2 MB.
pub(crate) const BODIES: usize = 4;

/// The reader's buffer of a connection, in bytes.
pub(crate) const BUFFER: usize = 256 << 10;

/// How long a connection may bring no byte while an answer is due.
pub(crate) const SILENCE: Duration = Duration::from_secs(8);

/// How long one request may bring no byte while others of its connection do.
pub(crate) const NEGLECT: Duration = Duration::from_secs(20);

/// The part of a silence after which a server that has promised an answer is asked for a sign of life.
pub(crate) const SIGN: u32 = 2;

/// How long a connection is kept that nothing uses.
pub(crate) const IDLE: Duration = Duration::from_secs(60);

/// Bounds what a server may make one request wait (`kXR_wait`, `kXR_waitresp`), in all, since it first asked for a wait.
pub(crate) const PATIENCE: Duration = Duration::from_secs(120);

/// How long it may take to connect to a server, whose addresses are raced: a full queue of connections drops the first
/// words, which the kernel repeats after 1, 3 and 7 s. The look-up of its name is bounded alike.
pub(crate) const CONNECT: Duration = Duration::from_secs(10);

/// What users are promised: an answer or an error within 30 s of the server's last byte, unless it asks for patience.
const _: () = {
    assert!(PROMISED.as_secs() <= 30 && NEGLECT.as_secs() <= 30);
    assert!(LAST_SENDING.as_secs() + SILENCE.as_secs() <= PROMISED.as_secs());
    assert!(2 * SILENCE.as_secs() < FUTILE.as_secs() && FUTILE.as_secs() < LAST_SENDING.as_secs());
    assert!(LOST_OPENING.as_secs() + CONNECT.as_secs() + SILENCE.as_secs() <= 30);
};

/// Bounds managers below managers.
pub(crate) const MOST_DEPTH: usize = 4;
/// Bounds the servers whose listings of one folder are put together.
pub(crate) const MOST_SERVERS: usize = 1000;
/// Servers that are asked for a listing at once.
pub(crate) const LISTED_AT_ONCE: usize = 16;
