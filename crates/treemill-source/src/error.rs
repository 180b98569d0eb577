//! The error of sources: bytes could not be had.

use crate::Cause;
use std::error::Error;
use std::ops::Range;

/// What an error means for further attempts: callers decide by it, never by the words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SourceErrorKind {
    /// There is no such file, and the server or the file system is sure of it.
    Missing,
    /// The same request may succeed later, or at another replica.
    Transient,
    /// Another attempt would meet the same.
    Permanent,
}

/// A source could not be opened, or a range not read.
///
/// # Examples
/// ```
/// use treemill_source::{SourceError, SourceErrorKind};
/// let broken = std::io::Error::other("the cable is out");
/// let error = SourceError::of(SourceErrorKind::Transient, "a.root", "the server is lost").with_cause(broken);
/// assert!(error.is_transient());
/// assert_eq!(error.to_string(), "a.root: the server is lost");
/// let source = std::error::Error::source(&error).unwrap();
/// assert_eq!(source.to_string(), "the cable is out");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceError {
    /// What it means for further attempts.
    pub kind: SourceErrorKind,
    /// The source's name: a path or a URL, without credentials.
    pub name: String,
    /// What went wrong, in words for the user.
    pub what: String,
    /// The bytes that were asked for, if reading failed.
    pub range: Option<Range<u64>>,
    /// What it comes from, if it is another error. Also given by [`std::error::Error::source`].
    pub cause: Option<Cause>,
}

impl SourceError {
    /// An error that another attempt would meet again.
    #[must_use]
    pub fn new(name: impl Into<String>, what: impl Into<String>) -> Self {
        SourceError::of(SourceErrorKind::Permanent, name, what)
    }

    /// An error of a kind.
    #[must_use]
    pub fn of(kind: SourceErrorKind, name: impl Into<String>, what: impl Into<String>) -> Self {
        SourceError {
            kind,
            name: name.into(),
            what: what.into(),
            range: None,
            cause: None,
        }
    }

    /// Adds the error that it comes from.
    #[must_use]
    pub fn with_cause(mut self, error: impl Error + Send + Sync + 'static) -> Self {
        self.cause = Some(Cause::new(error));
        self
    }

    /// Whether there is no such file, and the server or the file system is sure of it.
    #[must_use]
    pub fn is_missing(&self) -> bool {
        self.kind == SourceErrorKind::Missing
    }

    /// Whether the same request may succeed later, or at another replica.
    #[must_use]
    pub fn is_transient(&self) -> bool {
        self.kind == SourceErrorKind::Transient
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

impl Error for SourceError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.cause.as_ref().map(Cause::error)
    }
}

/// Whether something is there, by the answer to a question about it.
///
/// # Errors
/// That of the answer, if it leaves that open.
pub fn is_there<T>(answer: Result<T, SourceError>) -> Result<bool, SourceError> {
    match answer {
        Ok(_) => Ok(true),
        Err(error) if error.is_missing() => Ok(false),
        Err(error) => Err(error),
    }
}
