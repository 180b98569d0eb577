//! What went wrong with one request, before it is the error of a source: of all protocols on servers. Data only.

use std::fmt;
use std::ops::Range;
use std::time::Duration;
use treemill_source::{Cause, SourceError, SourceErrorKind};

/// What went wrong with one request. No text of it has a credential.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trouble {
    /// What is wrong, in words for the user.
    pub what: String,
    /// What kind of error it is.
    pub kind: SourceErrorKind,
    /// The server that failed, as `host:port`; empty if the words name it, or if it is the fault of none.
    pub server: String,
    /// The path on the server; empty if the words name it, or if it is the fault of no file.
    pub file: String,
    /// How long the server asks to be left alone.
    pub after: Option<Duration>,
    /// What it comes from, if that is an error whose words have no credential.
    pub cause: Option<Cause>,
}

impl Trouble {
    /// A failure of this kind.
    #[must_use]
    pub fn new(kind: SourceErrorKind, what: impl Into<String>) -> Self {
        Trouble {
            what: what.into(),
            kind,
            server: String::new(),
            file: String::new(),
            after: None,
            cause: None,
        }
    }

    /// Adds the error that it comes from.
    #[must_use]
    pub fn with_cause(mut self, error: impl std::error::Error + Send + Sync + 'static) -> Self {
        self.cause = Some(Cause::new(error));
        self
    }

    /// Names the server, if none is named yet.
    #[must_use]
    pub fn at(mut self, server: impl fmt::Display) -> Self {
        if self.server.is_empty() {
            self.server = server.to_string();
        }
        self
    }

    /// Names the file, if none is named yet, without the query of its path: tokens travel there.
    #[must_use]
    pub fn of(mut self, file: &str) -> Self {
        if self.file.is_empty() {
            let shown = file.split('?').next().unwrap_or_default();
            self.file = shown.chars().filter(|c| !c.is_control()).collect();
        }
        self
    }

    /// Whether the same request may succeed later, or at another replica.
    #[must_use]
    pub fn is_transient(&self) -> bool {
        self.kind.is_transient()
    }

    /// The error of a source called `name`.
    #[must_use]
    pub fn error(&self, name: &str, range: Option<Range<u64>>) -> SourceError {
        SourceError {
            range,
            cause: self.cause.clone(),
            ..SourceError::of(self.kind, name, self.to_string())
        }
    }
}

impl fmt::Display for Trouble {
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

impl std::error::Error for Trouble {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.cause.as_ref().map(Cause::error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_server_and_file_stay() {
        let trouble = Trouble::new(SourceErrorKind::Silent, "x")
            .at("a:1")
            .at("b:2");
        assert_eq!(
            trouble.of("/a").of("/b").to_string(),
            "x (server a:1, file /a)"
        );
    }

    #[test]
    fn errors_of_sources_keep_the_kind_and_what_they_come_from() {
        use std::error::Error as _;
        let broken = Trouble::new(SourceErrorKind::Lost, "the connection is lost")
            .with_cause(std::io::Error::other("reset"));
        let error = broken.at("h:1").error("root://h//a", None);
        assert_eq!(error.kind, SourceErrorKind::Lost);
        assert_eq!(error.what, "the connection is lost (server h:1)");
        let root = error.source().map(ToString::to_string);
        assert_eq!(root.as_deref(), Some("reset"));
    }
}
