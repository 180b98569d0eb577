//! The crate's policy in numbers.

/// Bytes of one segment, about: a segment is forgotten as a whole.
pub(crate) const SEGMENT_BYTES: u64 = 128 << 20;
/// The part of the limit that is written between two looks at what the folder holds in all.
pub(crate) const SWEEPS: u64 = 16;
/// Bytes of a range that is kept. Baskets and pages are smaller.
pub(crate) const MOST_BYTES: u64 = 64 << 20;
