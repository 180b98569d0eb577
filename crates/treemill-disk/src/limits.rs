//! The crate's policy in numbers.

use std::ops::RangeInclusive;
use std::time::Duration;

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
