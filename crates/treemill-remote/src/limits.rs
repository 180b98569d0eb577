//! The crate's policy in numbers.

use std::time::Duration;

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
/// How long a file that another thread opens is waited for. Servers that are silent for longer are asked once more beside
/// it, so that what is wrong is said within the [`PATIENCE`] of one opening, and this.
pub(crate) const OPENING_PATIENCE: Duration = Duration::from_secs(2);
/// How long a file stays open without being wanted.
pub(crate) const READY_FOR: Duration = Duration::from_secs(20);

/// How long the addresses of a server's name are looked for.
pub(crate) const LOOK_UP: Duration = Duration::from_secs(5);

/// Files whose state is asked for at once. The connections are shared, so that this is only threads.
pub(crate) const MOST_LOOKS: usize = 128;
/// When a question that failed has taken this long, its server is silent: it is asked nothing more at once.
pub(crate) const SILENT: Duration = Duration::from_secs(5);
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
/// The round trip from which on a file is read by several connections: nearer, one has all of the bandwidth.
pub(crate) const CONNECTION_DISTANCE: Duration = Duration::from_millis(5);
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
/// How long a reader may be silent about one call's bytes, and what opens files for it about a file.
pub const PATIENCE: Duration = Duration::from_secs(25);
// What users are promised of every server that is silent.
const _: () = assert!(PATIENCE.as_secs() + OPENING_PATIENCE.as_secs() <= 30);
