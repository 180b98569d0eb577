//! The error of sources: bytes could not be had.

use std::ops::Range;

/// A source could not be opened, or a range not read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceError {
    /// The source's name: a path or a URL, without credentials.
    pub name: String,
    /// What went wrong, in words for the user.
    pub what: String,
    /// The bytes that were asked for, if reading failed.
    pub range: Option<Range<u64>>,
    /// Whether there is no such file, which the server or the file system is sure of.
    pub is_missing: bool,
    /// Whether the same request may succeed later, or at another replica.
    pub is_transient: bool,
}

impl SourceError {
    /// An error that another try would meet again.
    #[must_use]
    pub fn new(name: impl Into<String>, what: impl Into<String>) -> Self {
        SourceError {
            name: name.into(),
            what: what.into(),
            range: None,
            is_missing: false,
            is_transient: false,
        }
    }
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
