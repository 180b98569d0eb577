//! The policy of all searches for near names in numbers: an error must not take longer than the work that it ends.

/// Letters of a name that are compared: more are no typing mistake.
pub const LETTERS: usize = 200;
/// Pairs of letters that one search compares.
pub const COMPARISONS: usize = 20_000_000;
