//! The error of sources: bytes could not be had.

use std::ops::Range;

/// A source could not be opened, or a range not read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceError {
    /// The source's name: a path or a URL.
    pub name: String,
    /// What went wrong, in words for the user.
    pub what: String,
    /// The bytes that were asked for, if reading failed.
    pub range: Option<Range<u64>>,
}

impl std::fmt::Display for SourceError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.name, self.what)?;
        if let Some(range) = &self.range {
            write!(f, " (reading bytes {}..{})", range.start, range.end)?;
        }
        Ok(())
    }
}

impl std::error::Error for SourceError {}
