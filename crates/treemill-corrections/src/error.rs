//! What is wrong with a document, or with values. The words are correctionlib's where it has some.

/// What an error of a document is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LoadErrorKind {
    /// It is no correction set of the schema.
    Malformed,
    /// The schema has it, and this crate does not.
    Unsupported,
}

/// A document that cannot be read.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{message}")]
pub struct LoadError {
    /// What it is about.
    pub kind: LoadErrorKind,
    /// What is wrong, and where.
    pub message: String,
}

impl LoadError {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self {
            kind: LoadErrorKind::Malformed,
            message: message.into(),
        }
    }

    pub(crate) fn unsupported(message: impl Into<String>) -> Self {
        Self {
            kind: LoadErrorKind::Unsupported,
            message: message.into(),
        }
    }

    /// Says of which correction it is.
    pub(crate) fn of(mut self, name: &str) -> Self {
        self.message = format!("{} (in the correction {name:?})", self.message);
        self
    }
}

/// Values for which a correction has no answer.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{message}")]
pub struct EvaluationError {
    /// What is wrong.
    pub message: String,
}

impl EvaluationError {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
        }
    }
}
