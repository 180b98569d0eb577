//! The crate's policy in numbers. Memory has no limit of its own here: a read takes what its ranges have, which
//! the caller has bounded.

use std::ops::RangeInclusive;
use std::time::Duration;

/// How old a file's last change must be before its times identify its content: a change that comes later than
/// this gives it other times, even if the file system's clock ticks only once a second.
///
/// The age is measured by this machine's clock, the times of a network file system come from its server's. If
/// the server's clock is behind by more than this, a file that is still being written looks settled, and what
/// the cache remembers of it may be of an earlier content. Clocks that are kept by NTP differ by far less.
pub const SETTLED: Duration = Duration::from_secs(2);

/// Bytes at a file's beginning that say what it is: ROOT's header is there.
pub(crate) const TOLD_AT_BEGIN: usize = 1 << 10;
/// Bytes at a file's end that say what it is: the lists of its keys and of its free space.
pub(crate) const TOLD_AT_END: usize = 1 << 14;

/// Bytes between two ranges of a distant source that are read as one while its speed is not known. CMSSW's rule for links
/// that it does not know.
pub(crate) const BLIND_GAP: u64 = 32 << 10;
/// Bytes of all such gaps of one submission, while the source's speed is not known: CMSSW's rule, too.
pub(crate) const BLIND_OVER_READ: u64 = 256 << 10;
/// Time that one more range costs a distant source, while nothing was measured.
pub(crate) const BLIND_RANGE: Duration = Duration::from_micros(200);
/// Bytes per second that are believed of what lies between ranges, at most: that which makes a blind gap of a blind range.
#[allow(clippy::cast_precision_loss)]
pub(crate) const MOST_GAP_SPEED: f64 = BLIND_GAP as f64 / BLIND_RANGE.as_secs_f64();
/// Bytes of one range of a distant source, at most, while it does not say how many it gives at once.
pub(crate) const MOST_RANGE: u64 = 8 << 20;
/// Bytes that are asked for ahead at least: the decompression of less takes shorter than most answers.
pub(crate) const LEAST_AHEAD: u64 = 16 << 20;
/// Bytes that are asked for ahead at most, and while the source's speed is not known: 10 Gbit/s over 137 ms would take
/// 340 MB.
pub(crate) const MOST_AHEAD: u64 = 128 << 20;
/// How many times as many bytes may be held as should be in flight, up to the most that may be in flight.
pub(crate) const HELD: u64 = 4;

/// Bytes from the beginning of a distant file that are asked for by a new connection: the header and the root directory. They
/// are in the first round trip's window, of 14.6 KB.
pub(crate) const FIRST_BYTES: u64 = 8 << 10;
/// Bytes up to the end of a distant file that are asked for by a new connection, after its first bytes: both have
/// come after two round trips.
pub(crate) const LAST_BYTES: u64 = 32 << 10;
/// Bytes from the beginning of a distant file that are asked for when it is opened: the header, and the header of an
/// RNTuple.
pub(crate) const HEAD_BYTES: u64 = 32 << 10;
/// Bytes up to the end of a distant file that are asked for with them: key lists and streamer information. A new
/// connection brings this number in three round trips.
pub(crate) const END_BYTES: u64 = 64 << 10;
/// Bytes up to the end that are asked for after them by a connection that is in use, whose window is wide: the
/// record of a large tree, or page lists of an RNTuple. At 20 MB/s they take 26 ms, a fifth of the round trip over
/// an ocean.
pub(crate) const TAIL_BYTES: u64 = 512 << 10;

/// Round trips that a sample of a speed lasts at least. A far connection brings a window of bytes each round trip, all at
/// once: the speed within such a burst is that of the last cable or of this machine's buffers.
pub(crate) const FLOW_TRIPS: u32 = 4;

/// Bytes of a sample of a speed, at least.
pub(crate) const FLOW_BYTES: u64 = 1 << 20;

/// Bytes that the first round trip of a new connection brings: ten segments (RFC 6928).
pub(crate) const FIRST_WINDOW: u64 = 14_600;

/// Bytes that are believed to come in one round trip, at most: a server's buffers have an end, too.
pub(crate) const MOST_WINDOW: u64 = 16 << 20;

/// How much longer than a round trip a server waits for a lost packet, at least. Silent for longer, its connection begins
/// again with a small window.
pub(crate) const RESTART: Duration = Duration::from_millis(200);

/// How often it is looked whether to go on, while a block is waited for of which nothing is made.
pub(crate) const DRAIN_LOOK: Duration = Duration::from_millis(50);

// Of the caches on disk.

/// Bytes of one segment, about: a segment is forgotten as a whole.
pub(crate) const SEGMENT_BYTES: u64 = 128 << 20;
/// The part of the limit that is written between two looks at what the folder holds in all.
pub(crate) const SWEEPS: u64 = 16;
/// How long a segment counts as in use after it was used.
pub(crate) const IN_USE: Duration = Duration::from_secs(3600);
/// How long a folder that is full of what is in use gets nothing more.
pub(crate) const FULL: Duration = Duration::from_secs(60);
/// Bytes of a range that is kept. Baskets and pages are smaller.
pub(crate) const MOST_BYTES: u64 = 64 << 20;
/// Bytes of all buffers at rest, about as many as threads read at once.
pub(crate) const REST_BYTES: usize = 32 << 20;
/// Bytes of a buffer that may rest. Smaller ones are made anew in less time, and larger ones would push out all others.
pub(crate) const AT_REST: RangeInclusive<usize> = 64 << 10..=4 << 20;

/// Bytes of a description. Most have less than a megabyte, the largest trees' ten.
pub(crate) const DESCRIPTION_BYTES: u64 = 32 << 20;
/// How long a description is used before its use is noted again.
pub(crate) const NOTED: Duration = Duration::from_secs(3600);
