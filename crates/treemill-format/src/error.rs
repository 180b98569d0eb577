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
    /// The bytes may be right, but this version cannot read them.
    #[error("{what}")]
    Unsupported {
        /// The feature or C++ type, by name.
        what: String,
    },
}

/// Result of parsing.
pub type Result<T> = std::result::Result<T, FormatError>;
