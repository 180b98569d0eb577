//! The crate's policy in numbers. Knows no code that obeys it.

use std::time::Duration;

/// Threads of a process that read from mounts, at most: this number of reads is in flight where the kernel does not
/// read ahead of them. The kernel has more in flight where it does.
pub(crate) const THREADS: usize = 16;

/// Bytes of one positioned read, at most: NFS clients ask for as many at once, and a stripe of pNFS is as long, as a rule.
pub(crate) const PART: u64 = 1 << 20;

/// Bytes that one advice to the kernel covers, if the kernel does not say: it begins to read no more than its read-ahead of
/// any advice, and 128 KB is what Linux has by itself.
pub(crate) const ADVICE: u64 = 128 << 10;
/// Bounds what the kernel may say of that: an advice of a page would be a call for each page.
pub(crate) const LEAST_ADVICE: u64 = 64 << 10;

/// The time of a read from a mount that has not been read from.
pub(crate) const UNKNOWN_TRIP: Duration = Duration::from_millis(2);
/// Reads that take less came from memory, and tell nothing of the mount.
pub(crate) const FROM_MEMORY: Duration = Duration::from_micros(150);
/// Bytes that come in one round trip of a mount, whose connections are in use.
pub(crate) const WINDOW: u64 = 1 << 20;

/// A file system of unknown kind whose first reads take this time is read from as a server's. Disks that turn need some
/// 8 ms, but then each file's kind is known.
pub(crate) const SLOW: Duration = Duration::from_millis(3);
/// First reads of files that are remembered of a file system.
pub(crate) const FIRST_READS: usize = 8;
/// How many of them are needed at least to judge by.
pub(crate) const ENOUGH: usize = 3;
/// Bytes of a first read.
pub(crate) const FIRST: u64 = 512;

/// File systems that are remembered in a process, at most: machines that mount on demand have many.
pub(crate) const MOST_DEVICES: usize = 4096;
