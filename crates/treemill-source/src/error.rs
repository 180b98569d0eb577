//! The error of sources: bytes could not be had.

use crate::Cause;
use std::error::Error;
use std::ops::Range;

/// What kind of error it is, of all protocols and file systems: callers decide by it, never by the words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SourceErrorKind {
    /// There is no such file, and the server or the file system is sure of it.
    Missing,
    /// This user may not do it, or no credentials are at hand that the server takes.
    Denied,
    /// The server's certificate is not that of a server which this client trusts.
    Untrusted,
    /// The server takes no connections but those with TLS.
    TlsRequired,
    /// No connection can be made: the name has no address, or nothing there takes connections.
    Unreachable,
    /// Nothing came for as long as it is waited for.
    Silent,
    /// The connection broke before the first byte of an answer. A firewall may allow few connections, and reset the others.
    Reset,
    /// The connection broke.
    Lost,
    /// The server has too much to do: it takes no more at once.
    Busy,
    /// What the server sent breaks the protocol.
    Malformed,
    /// What came differs from its checksums, more than once.
    Damaged,
    /// The file is not what it was when it was opened.
    Changed,
    /// The server demands, or is asked for, what one of both sides does not do.
    Unsupported,
    /// The caller asked for something that cannot be.
    Invalid,
    /// Another replica may do better; here it is not tried again.
    Elsewhere,
    /// The same request may succeed later, or at another replica, for a reason that has no kind of its own.
    Transient,
    /// Another attempt would meet the same, for a reason that has no kind of its own.
    Permanent,
}

impl SourceErrorKind {
    /// All kinds with their names, which do not change.
    const NAMES: [(SourceErrorKind, &'static str); 17] = [
        (SourceErrorKind::Missing, "missing"),
        (SourceErrorKind::Denied, "denied"),
        (SourceErrorKind::Untrusted, "untrusted"),
        (SourceErrorKind::TlsRequired, "tls-required"),
        (SourceErrorKind::Unreachable, "unreachable"),
        (SourceErrorKind::Silent, "silent"),
        (SourceErrorKind::Reset, "reset"),
        (SourceErrorKind::Lost, "lost"),
        (SourceErrorKind::Busy, "busy"),
        (SourceErrorKind::Malformed, "malformed"),
        (SourceErrorKind::Damaged, "damaged"),
        (SourceErrorKind::Changed, "changed"),
        (SourceErrorKind::Unsupported, "unsupported"),
        (SourceErrorKind::Invalid, "invalid"),
        (SourceErrorKind::Elsewhere, "elsewhere"),
        (SourceErrorKind::Transient, "transient"),
        (SourceErrorKind::Permanent, "permanent"),
    ];

    /// The name of the kind.
    #[must_use]
    pub fn name(self) -> &'static str {
        let mut names = SourceErrorKind::NAMES.iter();
        names
            .find(|(kind, _)| *kind == self)
            .map_or("", |(_, name)| name)
    }

    /// The kind of this name.
    #[must_use]
    pub fn of_name(name: &str) -> Option<Self> {
        let mut names = SourceErrorKind::NAMES.iter();
        names
            .find(|(_, known)| *known == name)
            .map(|(kind, _)| *kind)
    }

    /// Whether the same request may succeed in a moment, at the same server.
    #[must_use]
    pub fn may_pass(self) -> bool {
        use SourceErrorKind::{Busy, Lost, Reset, Silent, Transient, Unreachable};
        matches!(self, Transient | Busy | Reset | Lost | Unreachable | Silent)
    }

    /// Whether the same request may succeed later, or at another replica.
    #[must_use]
    pub fn is_transient(self) -> bool {
        use SourceErrorKind::{Damaged, Elsewhere, Malformed};
        self.may_pass() || matches!(self, Malformed | Damaged | Elsewhere)
    }

    /// Whether another attempt meets the same, here and elsewhere, although there may be such a file.
    #[must_use]
    pub fn is_final(self) -> bool {
        !self.is_transient() && self != SourceErrorKind::Missing
    }

    /// Whether there is no connection, be it that none could be made.
    #[must_use]
    pub fn is_of_connection(self) -> bool {
        use SourceErrorKind::{Lost, Reset, Unreachable};
        matches!(self, Lost | Reset | Unreachable)
    }
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
    /// What kind of error it is.
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
        self.kind.is_transient()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_has_a_name_of_its_own() {
        for (kind, name) in SourceErrorKind::NAMES {
            assert_eq!(
                (kind.name(), SourceErrorKind::of_name(name)),
                (name, Some(kind))
            );
        }
        assert_eq!(SourceErrorKind::of_name("none"), None);
    }

    #[test]
    fn what_may_pass_here_may_pass_elsewhere() {
        for (kind, _) in SourceErrorKind::NAMES {
            assert!(kind.is_transient() || !kind.may_pass(), "{kind:?}");
            assert!(!(kind.is_transient() && kind.is_final()), "{kind:?}");
        }
    }
}
