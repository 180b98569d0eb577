//! What can go wrong, with the server and the file. Knows no protocol, and lets no credentials into its words.

use crate::limits;
use std::fmt;
use treemill_source::{Cause, SourceError, SourceErrorKind};
use treemill_transfer::{CROWDED, Kind, Trouble};

/// What kind of error it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorKind {
    /// There is no such file or folder.
    NotFound,
    /// The server does not let this user do it, or no authentication is at hand that it takes.
    Denied,
    /// The server's certificate is not that of a server which this client trusts.
    Untrusted,
    /// Nothing came for longer than the options allow.
    Timeout,
    /// The connection could not be made, or broke.
    Connection,
    /// What the server sent breaks the protocol.
    Protocol,
    /// What came differs from its checksums, more than once.
    Damaged,
    /// The server has too much to do, or asks for more patience than the options allow.
    Busy,
    /// The server failed or refused for a reason of its own.
    Server,
    /// The server demands TLS.
    TlsRequired,
    /// The file is not what it was when it was opened.
    Changed,
    /// The server demands what this client does not do.
    Unsupported,
    /// The caller asked for something that cannot be.
    Invalid,
}

/// An error of a request, with its server and its file (empty if it is of none).
#[derive(Clone, PartialEq, Eq)]
pub struct Error {
    kind: ErrorKind,
    what: String,
    server: String,
    file: String,
    cause: Option<Cause>,
}

impl Error {
    pub(crate) fn new(kind: ErrorKind, what: impl AsRef<str>) -> Self {
        let what = clean(what.as_ref());
        Error {
            kind,
            what,
            server: String::new(),
            file: String::new(),
            cause: None,
        }
    }

    /// Adds the error that it comes from, whose words have no credentials.
    pub(crate) fn with_cause(
        mut self,
        error: impl std::error::Error + Send + Sync + 'static,
    ) -> Self {
        self.cause = Some(Cause::new(error));
        self
    }

    /// Adds why a connection may be lost before the login.
    pub(crate) fn before_login(mut self) -> Self {
        if self.kind == ErrorKind::Connection {
            self.what.push_str(CROWDED);
        }
        self
    }

    /// Adds that the server, which demands TLS, does none.
    pub(crate) fn without_tls(mut self) -> Self {
        self.kind = ErrorKind::Unsupported;
        self.what.push_str(
            ", and it does no TLS: ask its administrators, or take another door of the site",
        );
        self
    }

    /// Names the server, if none is named yet.
    pub(crate) fn at(mut self, server: impl fmt::Display) -> Self {
        if self.server.is_empty() {
            self.server = server.to_string();
        }
        self
    }

    /// Names the file, if none is named yet.
    pub(crate) fn of(mut self, file: &str) -> Self {
        if self.file.is_empty() {
            self.file = clean(file);
        }
        self
    }

    /// What kind of error it is.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// The server that failed, as `host:port`; empty if it is the fault of none.
    #[must_use]
    pub fn server(&self) -> &str {
        &self.server
    }

    /// The path on the server, without its opaque part; empty if it is the fault of no file.
    #[must_use]
    pub fn file(&self) -> &str {
        &self.file
    }

    /// Whether another server, or the same server later, may do better.
    #[must_use]
    pub fn is_transient(&self) -> bool {
        use ErrorKind::{Busy, Connection, Damaged, Protocol, Timeout};
        matches!(self.kind, Timeout | Connection | Busy | Protocol | Damaged)
    }

    /// Whether a manager that has named the server may know another one that does better: what it knows of its servers'
    /// files may be out of date, and each server has a certificate of its own.
    pub(crate) fn may_be_elsewhere(&self) -> bool {
        self.is_transient() || matches!(self.kind, ErrorKind::NotFound | ErrorKind::Untrusted)
    }

    /// The error of a source called `name`, which comes from this one.
    #[must_use]
    pub fn of_source(&self, name: &str) -> SourceError {
        let kind = match self.kind {
            ErrorKind::NotFound => SourceErrorKind::Missing,
            _ if self.is_transient() => SourceErrorKind::Transient,
            _ => SourceErrorKind::Permanent,
        };
        SourceError::of(kind, name, self.to_string()).with_cause(self.clone())
    }
}

/// Why there is no connection.
impl From<Trouble> for Error {
    fn from(trouble: Trouble) -> Self {
        let kind = match trouble.kind {
            Kind::Silent => ErrorKind::Timeout,
            _ => ErrorKind::Connection,
        };
        let cause = trouble.cause;
        Error {
            cause,
            ..Error::new(kind, trouble.what)
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)?;
        match (self.server.as_str(), self.file.as_str()) {
            ("", "") => Ok(()),
            (server, "") => write!(f, " (server {server})"),
            ("", file) => write!(f, " (file {file})"),
            (server, file) => write!(f, " (server {server}, file {file})"),
        }
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}: {self}", self.kind)
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.cause.as_ref().map(Cause::error)
    }
}

/// A message without control characters, of bounded length, and without the opaque parts of paths: servers repeat
/// the paths that they were asked for, and tokens travel in those parts.
fn clean(message: &str) -> String {
    let words = message.split_whitespace().map(|word| {
        let shown = word.split('?').next().unwrap_or_default();
        match shown
            .to_ascii_lowercase()
            .find("authz=")
            .and_then(|at| shown.get(..at))
        {
            Some(before) => before.to_owned(),
            None => shown.to_owned(),
        }
    });
    let all = words.collect::<Vec<_>>().join(" ");
    all.chars()
        .filter(|c| !c.is_control())
        .take(limits::MOST_MESSAGE)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_hide_opaque_parts_and_control_characters() {
        let error = Error::new(
            ErrorKind::Server,
            "cannot open /a?authz=secret now\n\u{7}&authz=secret x",
        )
        .at("h:1094")
        .of("/a?authz=secret");
        assert_eq!(
            error.to_string(),
            "cannot open /a now & x (server h:1094, file /a)"
        );
        assert!(!format!("{error:?}").contains("secret"));
    }

    #[test]
    fn errors_of_sources_keep_the_kind_and_all_they_come_from() {
        use std::error::Error as _;
        let broken = Error::new(ErrorKind::Connection, "the connection is lost")
            .with_cause(std::io::Error::other("reset"));
        let error = broken.of_source("root://h//a");
        assert!(error.is_transient());
        let source = error.source().and_then(|source| source.downcast_ref());
        assert_eq!(source, Some(&broken));
        let root = broken.source().map(ToString::to_string);
        assert_eq!(root.as_deref(), Some("reset"));
        let missing = Error::new(ErrorKind::NotFound, "no such file").of_source("root://h//a");
        assert!(missing.is_missing());
    }

    #[test]
    fn first_server_stays() {
        let error = Error::new(ErrorKind::Timeout, "x").at("a:1").at("b:2");
        assert_eq!(error.server(), "a:1");
        assert!(error.is_transient());
        assert!(!Error::new(ErrorKind::NotFound, "x").is_transient());
    }
}
