//! What went wrong with one request. Data only.

use std::ops::Range;
use std::time::Duration;
use treemill_source::SourceError;

/// What a failure means for further attempts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// The same request may succeed in a moment.
    Transient,
    /// The same, but the server has said nothing for as long as it is waited for.
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
        matches!(self, Kind::Transient | Kind::Silent)
    }
}

/// What went wrong with one request. No text of it has a credential.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trouble {
    /// In words for the user.
    pub what: String,
    /// What it means for further attempts.
    pub kind: Kind,
    /// How long the server asks to be left alone.
    pub after: Option<Duration>,
}

impl Trouble {
    /// A failure of this kind.
    #[must_use]
    pub fn new(kind: Kind, what: impl Into<String>) -> Self {
        Trouble {
            what: what.into(),
            kind,
            after: None,
        }
    }

    /// The error of a source called `name`.
    #[must_use]
    pub fn error(&self, name: &str, range: Option<Range<u64>>) -> SourceError {
        SourceError {
            range,
            is_missing: self.kind == Kind::Missing,
            is_transient: self.kind.may_pass() || self.kind == Kind::Elsewhere,
            ..SourceError::new(name, &self.what)
        }
    }
}
