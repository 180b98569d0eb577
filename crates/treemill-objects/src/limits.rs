//! The crate's policy in numbers. Knows no code that obeys it.

/// Bounds the characters of a service's message that an error repeats.
pub(crate) const MOST_MESSAGE: usize = 300;
