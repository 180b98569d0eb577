//! The errors of parsing. Knows nothing of files' names: callers add them.

/// Why bytes could not be turned into metadata or data.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FormatError {
    /// The bytes break the format's own rules.
    #[error("{what} at byte {at}")]
    Malformed {
        /// The rule that is broken, with the bytes that break it.
        what: String,
        /// Byte offset: in the file if known, else in the object being read.
        at: u64,
    },
    /// The file ends before what it says that it has.
    #[error("the file is truncated: {what} at byte {at}")]
    Truncated {
        /// What lies beyond the end.
        what: String,
        /// Byte offset, counted as in `Malformed`: where the bytes say what they lack.
        at: u64,
    },
    /// The bytes may be right, but this version cannot read them.
    #[error("treemill cannot read {what}")]
    Unsupported {
        /// The feature or C++ type, by name: what follows "treemill cannot read".
        what: String,
    },
}

/// What kind of error it is, for callers that need no words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FormatErrorKind {
    /// The bytes break the format's own rules.
    Malformed,
    /// The file ends before what it says that it has.
    Truncated,
    /// The bytes may be right, but this version cannot read them.
    Unsupported,
}

impl FormatError {
    /// What kind of error it is.
    #[must_use]
    pub fn kind(&self) -> FormatErrorKind {
        match self {
            FormatError::Malformed { .. } => FormatErrorKind::Malformed,
            FormatError::Truncated { .. } => FormatErrorKind::Truncated,
            FormatError::Unsupported { .. } => FormatErrorKind::Unsupported,
        }
    }
}

/// `FormatError::Malformed` at a byte offset.
pub(crate) fn malformed(what: impl Into<String>, at: usize) -> FormatError {
    FormatError::Malformed {
        what: what.into(),
        at: u64::try_from(at).unwrap_or(u64::MAX),
    }
}

/// `FormatError::Truncated` at a byte offset.
pub(crate) fn truncated(what: String, at: usize) -> FormatError {
    FormatError::Truncated {
        what,
        at: u64::try_from(at).unwrap_or(u64::MAX),
    }
}

/// `FormatError::Unsupported` by name: `what` is a noun with what belongs to it, as "objects of class A".
pub(crate) fn unsupported(what: impl Into<String>) -> FormatError {
    FormatError::Unsupported { what: what.into() }
}

/// Result of parsing.
pub type Result<T> = std::result::Result<T, FormatError>;
