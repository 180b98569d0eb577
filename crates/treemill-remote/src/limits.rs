//! The crate's policy in numbers.

use std::time::Duration;
pub use treemill_transfer::patience::BLOCKING_PATIENCE as PATIENCE;
pub(crate) use treemill_transfer::patience::{LOOK_UP, OPENING_PATIENCE, SILENT};

/// Bytes of a file that is read as a whole.
pub(crate) const MOST_CONTENT: u64 = 64 << 20;

/// Bytes of a Metalink document, at most.
pub(crate) const MOST_DOCUMENT: u64 = 1 << 20;

/// Metalink documents of one file that are read, at most.
pub(crate) const MOST_DOCUMENTS: usize = 2;

/// The round trip from which on what opening a file reads is kept on disk: nearer, a file in the user's folder, which may be
/// on a server, too, is not faster.
pub(crate) const DESCRIBED_DISTANCE: Duration = Duration::from_millis(2);

/// Files that are open before they are wanted.
pub(crate) const MOST_READY: usize = 128;
/// How long a file stays open without being wanted.
pub(crate) const READY_FOR: Duration = Duration::from_secs(20);

/// Files whose state is asked for at once: servers answer side by side, and all share their connections.
pub(crate) const MOST_LOOKS: usize = 128;
/// Threads that ask by a bridge, which keeps one until it is answered, or read documents that describe files.
pub(crate) const ASKING: usize = 128;
/// Rounds in which what a file says of itself is read: header, list, record, first data; a list for each depth of directories.
/// A file that needs more is described where it is wanted.
pub(crate) const MOST_ROUNDS: usize = 64;
/// Threads that look for what is kept of a file on this disk, which may be a server's, and that parse what files say of
/// themselves.
pub(crate) const KEPT: usize = 2;
/// Files whose state is remembered after they were open, at most.
pub(crate) const MOST_KNOWN: usize = 1 << 14;

/// Connections to a near server over which files are shared out, and to one some way off by which a file is read.
pub(crate) const CONNECTIONS: usize = 4;
/// Connections to a server some way off over which files are shared out, and to one far away by which a file is read. A new
/// one brings ten segments in its first round trip, whatever the distance, and many links limit each connection: eight bring
/// in three round trips what one does in six.
pub(crate) const MOST_CONNECTIONS: usize = 8;
/// The round trip from which on a file is read by that many.
pub(crate) const WIDE_DISTANCE: Duration = Duration::from_millis(50);
/// The part of a round trip for which connections that were begun with the first one are waited for, at most.
pub(crate) const CONNECTION_PATIENCE: u32 = 8;
/// Bytes of a file from which on other connections are opened for it at once.
pub(crate) const CONNECTION_FILE: u64 = 32 << 20;
/// Bytes of one submission from which on other connections are opened for the file.
pub(crate) const CONNECTION_WORTH: u64 = 1 << 20;
/// Bytes of a part of a range, at least, that is asked for on a connection of its own. XRootD reads this number with
/// checksums.
pub(crate) const CONNECTION_PART: u64 = 128 << 10;
/// The bytes of [`CONNECTION_PART`], of ranges that are smaller than that, while connections are new.
pub(crate) const CONNECTION_PIECE: u64 = 4 << 10;
/// Parts into which one submission falls for each connection, at least, if it is large enough.
pub(crate) const CONNECTION_PARTS: u64 = 4;
/// Bytes of a range that is made of several ones, at most, so that there are enough of them for all connections.
pub(crate) const CONNECTION_BYTES: u64 = 1 << 20;

/// Ranges that a reader is asked for in one call, at most: with more, the first ones would wait for the last ones.
pub(crate) const BATCH_RANGES: usize = 16;
/// Bytes of one call, at most, unless a range is larger.
pub(crate) const BATCH_BYTES: u64 = 4 << 20;

// Of files on mounts.

/// Threads of a process that read from mounts, at most: this number of reads is in flight where the kernel does not
/// read ahead of them. The kernel has more in flight where it does.
pub(crate) const MOUNT_THREADS: usize = 16;

/// Bytes of one positioned read, at most: NFS clients ask for as many at once, and a stripe of pNFS is as long, as a rule.
pub(crate) const MOUNT_PART: u64 = 1 << 20;

/// Bytes that one advice to the kernel covers, if the kernel does not say: it begins to read no more than its read-ahead of
/// any advice, and 128 KB is what Linux has by itself.
pub(crate) const ADVICE: u64 = 128 << 10;
/// Bounds what the kernel may say of that: an advice of a page would be a call for each page.
pub(crate) const LEAST_ADVICE: u64 = 64 << 10;

/// The time of a read from a mount that has not been read from.
pub(crate) const MOUNT_TRIP: Duration = Duration::from_millis(2);
/// Reads that take less came from memory, and tell nothing of the mount.
pub(crate) const FROM_MEMORY: Duration = Duration::from_micros(150);
/// Bytes that come in one round trip of a mount, whose connections are in use.
pub(crate) const MOUNT_WINDOW: u64 = 1 << 20;

/// A file system of unknown kind whose first reads take this time is read from as a server's. Disks that turn need some
/// 8 ms, but then each file's kind is known.
pub(crate) const SLOW_MOUNT: Duration = Duration::from_millis(3);
/// First reads of files that are remembered of a file system.
pub(crate) const FIRST_READS: usize = 8;
/// How many of them are needed at least to judge by.
pub(crate) const ENOUGH_READS: usize = 3;
/// Bytes of a first read.
pub(crate) const FIRST_READ: u64 = 512;

/// File systems that are remembered in a process, at most: machines that mount on demand have many.
pub(crate) const MOST_DEVICES: usize = 4096;
