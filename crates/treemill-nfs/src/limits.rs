//! The crate's policy in numbers. Knows no code that obeys it.

use std::time::Duration;
pub(crate) use treemill_transfer::patience::nfs::*;

/// The port of NFS.
pub(crate) const PORT: u16 = 2049;

/// Bytes of one answer that a session asks for, at most: what one READ brings, and its frame. Servers lower it.
pub(crate) const MOST_ANSWER: u32 = (1 << 20) + 4096;
/// Bytes of an answer beside the data that it carries: headers, SEQUENCE, attributes.
pub(crate) const FRAME: u32 = 1024;
/// Bytes of one request that a session asks for, at most: a path has a few kilobytes.
pub(crate) const MOST_REQUEST: u32 = 64 << 10;
/// Operations of one request that a session asks for, at most.
pub(crate) const MOST_OPERATIONS: u32 = 64;
/// The fewest operations of one request that a session can work with.
pub(crate) const FEWEST_OPERATIONS: u32 = 8;
/// Slots that a session asks for: requests that are in flight at once. Servers lower it.
pub(crate) const SLOTS: u32 = 64;
/// Slots of the back channel.
pub(crate) const BACK_SLOTS: u32 = 4;
/// Bytes of a message on the back channel.
pub(crate) const MOST_BACK: u32 = 8 << 10;

/// Fragments of one record of RPC, at most.
pub(crate) const MOST_FRAGMENTS: usize = 4096;
/// Bytes of a credential or verifier (RFC 5531).
pub(crate) const MOST_AUTH: usize = 400;
/// Bytes of a file handle (NFS4_FHSIZE).
pub(crate) const MOST_HANDLE: usize = 128;
/// Bytes of what names an owner or a server (NFS4_OPAQUE_LIMIT).
pub(crate) const MOST_OPAQUE: usize = 1024;
/// Bytes of a tag, a name or a link's target.
pub(crate) const MOST_NAME: usize = 4096;
/// Words of a set of attributes.
pub(crate) const MOST_WORDS: usize = 8;
/// Bytes of the attributes of one file, of those that are asked for.
pub(crate) const MOST_ATTRIBUTES: usize = 4096;
/// Entries of a folder in one answer.
pub(crate) const MOST_AT_ONCE: usize = 1 << 16;
/// Entries of a folder in all.
pub(crate) const MOST_ENTRIES: usize = 4 << 20;
/// Operations of one call on the back channel.
pub(crate) const MOST_CALLED: usize = 16;
/// Bytes that READDIR asks for.
pub(crate) const LISTING: u32 = 512 << 10;

/// Steps on the way to one session: with the waits before them as long as a usual period of grace, 90 s.
pub(crate) const MOST_STEPS: u32 = 36;
/// Connections of a session at a far server: one brings few bytes at first. XRootD has four (`CONNECTIONS` of treemill-remote), and
/// takes one round trip less to its first bytes.
pub(crate) const WIDTH: usize = 6;
/// Bytes of one READ, at least, where a range is shared out over several connections.
pub(crate) const LEAST_READ: u64 = 128 << 10;
/// Bytes of one READ, at least, while connections are new. Some of them fit ten segments (RFC 6928), which a new connection
/// brings in a round trip, so that all can be full.
pub(crate) const YOUNG_READ: u64 = 4 << 10;
/// Bytes that a session has asked for after which its connections are not new: each has a window of about a quarter of them.
pub(crate) const YOUTH: u64 = 1 << 20;
/// READs that a range falls into for each of several connections, at least, if it is large enough.
pub(crate) const READS_EACH: u64 = 4;
/// The time that the end of a process waits for its servers.
pub(crate) const LEAVE_PATIENCE: Duration = Duration::from_millis(300);
/// The time from a session's beginning until its server is asked how long its lease is.
pub(crate) const FIRST_RENEWAL: Duration = Duration::from_secs(1);
/// The lease of a server that does not say how long it is.
pub(crate) const USUAL_LEASE: Duration = Duration::from_secs(60);
/// Bytes that a connection reads at once, where it is not known that more were asked for.
pub(crate) const GULP: usize = 256 << 10;
/// Bytes that a connection has room for at least when it reads.
pub(crate) const LEAST_ROOM: usize = 8 << 10;
/// Bytes of an answer from which on its data are written where they are wanted as they come.
pub(crate) const LEAST_DATA: usize = 16 << 10;
/// Bytes of an answer's front in which its data begin, at most; servers have them within 150.
pub(crate) const MOST_FRONT: usize = 1024;
/// Bytes of requests that are written at once, about.
pub(crate) const TOGETHER: usize = 16 << 10;
/// Operations that may stand behind the names of a path in one request, and before them.
pub(crate) const AT_THE_END: u32 = 8;
/// Operations of one request from which on a layout is asked for in the one that opens a file.
pub(crate) const WITH_LAYOUT: u32 = 12;
/// Symbolic links on the way to a file.
pub(crate) const MOST_LINKS: u32 = 16;
/// Data servers of which it is remembered that they have failed, about.
pub(crate) const MOST_SERVERS: usize = 10_000;
/// Failures of data servers that are told when a layout is given back.
pub(crate) const MOST_FAULTS: usize = 64;
/// The time between two reports of what was read, where the server does not say it.
pub(crate) const STATS_PAUSE: Duration = Duration::from_secs(60);
/// Bytes of a range, at most, that is read from a far metadata server as long as the data servers are being connected to.
pub(crate) const SOONER: u64 = 128 << 10;
/// Layouts that are asked for one file while it is open, at most.
pub(crate) const MOST_LAYOUTS: u32 = 16;
/// Layouts that are asked for one range of a file, at most.
pub(crate) const LAYOUTS_EACH: u32 = 3;
/// The time that a layout that is given back waits for reads by it.
pub(crate) const LAST_READS: Duration = Duration::from_secs(10);
/// Bytes of a layout or of a group of servers.
pub(crate) const MOST_DEVICE: usize = 64 << 10;
/// Parts of a layout, mirrors, addresses of one server.
pub(crate) const MOST_PARTS: usize = 256;
/// Stripes of a layout.
pub(crate) const MOST_STRIPES: usize = 4096;
