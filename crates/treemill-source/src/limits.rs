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
