//! What went wrong with one request. Data only.

use std::ops::Range;
use std::time::Duration;
use treemill_source::{Cause, SourceError, SourceErrorKind};

/// What a failure means for further attempts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// The same request may succeed in a moment.
    Transient,
    /// The same request may succeed when the server has less to do: it takes no more at once.
    Busy,
    /// The connection broke, or was reset, before the first byte of an answer. The same request may succeed in a moment, or when
    /// fewer connections are open: a firewall may allow few, and reset the others.
    Reset,
    /// No connection can be made: the name has no address, or nothing there takes connections. It may be so in a moment.
    Unreachable,
    /// The same request may succeed, but the server has said nothing for as long as it is waited for.
    Silent,
    /// The same request may succeed at another replica; here it is not tried again.
    Elsewhere,
    /// There is no such file.
    Missing,
    /// Another attempt would meet the same.
    Final,
}

impl Kind {
    /// Whether another attempt may do better.
    #[must_use]
    pub fn may_pass(self) -> bool {
        matches!(
            self,
            Kind::Transient | Kind::Busy | Kind::Reset | Kind::Unreachable | Kind::Silent
        )
    }
}

impl From<Kind> for SourceErrorKind {
    fn from(kind: Kind) -> Self {
        match kind {
            Kind::Transient
            | Kind::Busy
            | Kind::Reset
            | Kind::Unreachable
            | Kind::Silent
            | Kind::Elsewhere => SourceErrorKind::Transient,
            Kind::Missing => SourceErrorKind::Missing,
            Kind::Final => SourceErrorKind::Permanent,
        }
    }
}

/// What went wrong with one request. No text of it has a credential.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trouble {
    /// What is wrong, in words for the user.
    pub what: String,
    /// What it means for further attempts.
    pub kind: Kind,
    /// How long the server asks to be left alone.
    pub after: Option<Duration>,
    /// What it comes from, if that is an error whose words have no credential.
    pub cause: Option<Cause>,
}

impl Trouble {
    /// A failure of this kind.
    #[must_use]
    pub fn new(kind: Kind, what: impl Into<String>) -> Self {
        Trouble {
            what: what.into(),
            kind,
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

    /// The error of a source called `name`.
    #[must_use]
    pub fn error(&self, name: &str, range: Option<Range<u64>>) -> SourceError {
        SourceError {
            range,
            cause: self.cause.clone(),
            ..SourceError::of(self.kind.into(), name, &self.what)
        }
    }
}
