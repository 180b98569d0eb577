//! The crate's policy in numbers. Memory has no limit of its own here: a read takes what its ranges have, which
//! the caller has bounded.

use std::time::Duration;

/// How old a file's last change must be before its times identify its content: a change that comes later than
/// this gives it other times, even if the file system's clock ticks only once a second.
///
/// The age is measured by this machine's clock, the times of a network file system come from its server's. If
/// the server's clock is behind by more than this, a file that is still being written looks settled, and what
/// the cache remembers of it may be of an earlier content. Clocks that are kept by NTP differ by far less.
pub(crate) const SETTLED: Duration = Duration::from_secs(2);

/// Bytes between two ranges of a distant source that are read as one, at most, and while its speed is not known. CMSSW's
/// rule for links that it does not know.
pub(crate) const BLIND_GAP: u64 = 32 << 10;
/// Bytes that are asked for ahead at least: the decompression of less takes shorter than most answers.
pub(crate) const LEAST_AHEAD: u64 = 16 << 20;
/// Bytes that are asked for ahead at most, and while the source's speed is not known: 10 Gbit/s over 137 ms would take
/// 340 MB.
pub(crate) const MOST_AHEAD: u64 = 128 << 20;
