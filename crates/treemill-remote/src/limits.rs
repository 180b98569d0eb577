//! The crate's policy in numbers.

/// Bytes of a file that is read as a whole.
pub(crate) const MOST_CONTENT: u64 = 64 << 20;
