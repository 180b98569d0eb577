//! The crate's policy in numbers.

/// Bounds a token, in bytes: servers bound their headers, and what is larger is another file.
pub(crate) const TOKEN: u64 = 64 << 10;
