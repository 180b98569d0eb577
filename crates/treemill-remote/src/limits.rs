//! The crate's policy in numbers.

use std::time::Duration;

/// Bytes of a file that is read as a whole.
pub(crate) const MOST_CONTENT: u64 = 64 << 20;

/// Files that are open before they are wanted.
pub(crate) const MOST_READY: usize = 16;
/// How long a file stays open without being wanted.
pub(crate) const READY_FOR: Duration = Duration::from_secs(20);
