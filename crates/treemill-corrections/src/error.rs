//! What is wrong with a document, or with values. The words are correctionlib's where it has some.

use std::error::Error;
use std::sync::Arc;

/// What an error of a document is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LoadErrorKind {
    /// It is no correction set of the schema.
    Malformed,
    /// The schema has it, and this crate does not.
    Unsupported,
}

/// A document that cannot be read.
#[derive(Debug, Clone)]
pub struct LoadError {
    /// What it is about: callers decide by it, never by the message.
    pub kind: LoadErrorKind,
    /// What is wrong, and where.
    pub message: String,
    /// What it comes from, if it is another error. Also given by [`Error::source`].
    pub source: Option<Arc<dyn Error + Send + Sync>>,
}

impl std::fmt::Display for LoadError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)
    }
}

impl Error for LoadError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        let source = self.source.as_deref()?;
        Some(source)
    }
}

/// Equal if they say the same; sources are not compared.
impl PartialEq for LoadError {
    fn eq(&self, other: &Self) -> bool {
        (self.kind, &self.message) == (other.kind, &other.message)
    }
}

impl LoadError {
    fn of_kind(kind: LoadErrorKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            source: None,
        }
    }

    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self::of_kind(LoadErrorKind::Malformed, message)
    }

    pub(crate) fn unsupported(message: impl Into<String>) -> Self {
        Self::of_kind(LoadErrorKind::Unsupported, message)
    }

    /// Adds the error that it comes from.
    pub(crate) fn with_source(mut self, source: impl Error + Send + Sync + 'static) -> Self {
        self.source = Some(Arc::new(source));
        self
    }

    /// Says of which correction it is.
    pub(crate) fn of(mut self, name: &str) -> Self {
        self.message = format!("{} (in the correction {name:?})", self.message);
        self
    }
}

/// What an error of an evaluation is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EvaluationErrorKind {
    /// The arguments have another number, other types or other lengths than the correction takes.
    Arguments,
    /// The correction has no answer for the values of a row.
    Values,
    /// A node lacks what reading has checked: an error of this crate.
    Internal,
}

/// Arguments or values for which a correction has no answer. It comes from no other error.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{message}")]
pub struct EvaluationError {
    /// What it is about: callers decide by it, never by the message.
    pub kind: EvaluationErrorKind,
    /// What is wrong.
    pub message: String,
}

impl EvaluationError {
    /// Arguments that the correction does not take.
    pub(crate) fn arguments(message: impl Into<String>) -> Self {
        Self {
            kind: EvaluationErrorKind::Arguments,
            message: message.into(),
        }
    }

    /// Values that the correction has no answer for.
    pub(crate) fn values(message: impl Into<String>) -> Self {
        Self {
            kind: EvaluationErrorKind::Values,
            message: message.into(),
        }
    }

    /// A node lacks what reading has checked.
    pub(crate) fn internal(message: impl Into<String>) -> Self {
        Self {
            kind: EvaluationErrorKind::Internal,
            message: message.into(),
        }
    }
}
