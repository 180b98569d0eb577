//! The crate's policy in numbers. Knows no code that obeys it.

pub(crate) use crate::patience::{
    BACK_OFF, DOUBT, IN_LINE, MOST_ASKED, MOST_BACK_OFF, PATIENCE, RETRY, STAGGER,
};
pub use crate::patience::{CHECKSUM_PATIENCE, SILENCE};
use std::time::Duration;

/// The first bytes of a file, which the request that opens it brings along: they fit the first window of a TCP
/// connection, and hold the header and the first key of a ROOT file.
pub const HEAD: u64 = 8 << 10;

/// Bounds a file that is read whole from a server that does not know ranges, in bytes.
pub const WHOLE: u64 = 16 << 20;

/// Bytes of one request at most: larger ranges are asked for in parts, over several connections. Storage services
/// recommend 8 to 16 MB; smaller parts share a few connections better.
pub(crate) const PART: u64 = 4 << 20;

/// Bytes of a part, at least, that is asked for over an ocean while most connections are busy: a new one brings them in five
/// round trips, and each request costs one.
pub(crate) const BUSY_PART: u64 = 256 << 10;

/// The round trip from which on smaller parts than these come by several connections that are new.
pub(crate) const WIDE_DISTANCE: Duration = Duration::from_millis(20);

/// Bounds the requests that are in flight to one server. Over an ocean the small baskets of old files wait for this
/// bound: with 64 they come half again as fast as with 32. fsspec's clients allow 100 connections.
pub const IN_FLIGHT: usize = 64;

/// How long ago a server's last bytes came, at most, if it is one that answers: when it resets a connection then, it takes no more
/// of them at once.
pub(crate) const ANSWERING: Duration = Duration::from_secs(3);

/// The round trip from which on a server is far: a file is read by several connections, with checksums where they cost the server
/// time, and other replicas are worth a search once many bytes were read. Nearer, one connection has all of the bandwidth.
pub const FAR: Duration = Duration::from_millis(5);

/// Bytes on their way that nobody wants any more: if there are more of them, what brings them is ended. They take 0.2 s at
/// 10 Mbit/s; a new connection takes some round trips.
pub const MOST_UNWANTED: u64 = 256 << 10;

/// How long less than that is waited for, so that its connection can be used again.
pub(crate) const LITTLE_UNWANTED: Duration = Duration::from_secs(1);

/// How long a connection needs after the end of an answer until another request can use it: a task of the client's takes it back.
pub(crate) const REST: Duration = Duration::from_millis(1);

/// Answers after which a server that has refused requests is given a few more at once.
pub(crate) const WIDEN_AFTER: usize = 16;

/// Which part of what it takes a server that has refused requests is given in addition then; one request at least.
pub(crate) const WIDEN_BY: usize = 4;

/// Bounds the attempts of one part in all: a server that ends every answer early sends a few bytes with each.
pub(crate) const MOST_ATTEMPTS: u32 = 1000;

/// Threads of the runtime: one decrypts while the other one sends requests.
pub(crate) const THREADS: usize = 2;

/// Threads that look up names of hosts, at most: one that asks a dead name server keeps its thread for long, and the others do
/// not wait for it.
pub(crate) const LOOK_UPS: usize = 64;

/// Bounds the attempts to reach a server that has never answered and takes no connections: it is not there.
pub(crate) const STRANGER_FAILURES: u32 = 2;

/// How much a sample of a speed counts that is slower than what was believed.
pub(crate) const SLOWER: f64 = 0.2;

/// The round trip of a source that has not answered yet.
pub(crate) const UNKNOWN_ROUND_TRIP: Duration = Duration::from_millis(100);

/// How long a thread waits for the next job before it ends.
pub(crate) const IDLE: Duration = Duration::from_secs(10);

// Of credentials.

/// Bounds a token, in bytes: servers bound their headers, and what is larger is another file.
pub(crate) const TOKEN: u64 = 64 << 10;

/// What protocols have in common whose connections bring one answer after the other, and what they say.
pub mod wide {
    /// Bounds the characters of a server's message that an error repeats.
    pub const MOST_MESSAGE: usize = 500;

    /// Ranges above this, in bytes, are read alone: one more request costs little beside them, they stream, and servers send
    /// plain reads without a copy. Below XRootD's usual bound of a range of a vectored read.
    pub const LARGE: u64 = 1 << 20;

    /// Bounds the bytes that one vectored read asks for: its first bytes are of use only when its last ones are here.
    pub const VECTOR_BYTES: u64 = 8 << 20;

    /// Bounds one plain read of a large range, in bytes: what has come is kept if the connection breaks later.
    pub const STREAM_PART: u64 = 2 << 20;

    /// The reader's buffer of a connection, in bytes: a usual block of dCache's pools.
    pub const BUFFER: usize = 256 << 10;
}
