//! What is wrong with a document or a model that others have written, and with what it is evaluated for. Knows no format.

use std::error::Error;
use std::sync::Arc;

/// What an error of a document is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LoadErrorKind {
    /// It is no document of the format.
    Malformed,
    /// The format has it, and the crate that reads it does not.
    Unsupported,
}

/// A document that cannot be read.
///
/// ```
/// use std::error::Error;
/// use treemill_functions::{LoadError, LoadErrorKind};
///
/// let number = "many".parse::<u32>().map_err(|e| LoadError::new("the version is \"many\"").with_source(e));
/// let error = number.unwrap_err().within("the header");
/// assert_eq!(error.to_string(), "the version is \"many\" (in the header)");
/// assert_eq!(error.kind, LoadErrorKind::Malformed);
/// assert!(error.source().is_some_and(|e| e.is::<std::num::ParseIntError>()));
/// ```
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

    /// The document is malformed.
    pub fn new(message: impl Into<String>) -> Self {
        Self::of_kind(LoadErrorKind::Malformed, message)
    }

    /// The document has something that is not supported.
    pub fn unsupported(message: impl Into<String>) -> Self {
        Self::of_kind(LoadErrorKind::Unsupported, message)
    }

    /// Adds the error that it comes from.
    #[must_use]
    pub fn with_source(mut self, source: impl Error + Send + Sync + 'static) -> Self {
        self.source = Some(Arc::new(source));
        self
    }

    /// Says in which part of the document it is.
    #[must_use]
    pub fn within(mut self, part: impl std::fmt::Display) -> Self {
        self.message = format!("{} (in {part})", self.message);
        self
    }
}

/// What an error of an evaluation is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EvaluationErrorKind {
    /// The arguments have another number, other types or other lengths than the function takes.
    Arguments,
    /// A correction has no answer for the values of a row.
    Values,
    /// A model has no output of that number.
    Output,
    /// A node lacks what reading has checked: an error of this crate.
    Internal,
}

/// Arguments, values or an output for which a function has no answer. It comes from no other error. The words are
/// correctionlib's where it has some.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{message}")]
pub struct EvaluationError {
    /// What it is about: callers decide by it, never by the message.
    pub kind: EvaluationErrorKind,
    /// What is wrong.
    pub message: String,
}

impl EvaluationError {
    fn of_kind(kind: EvaluationErrorKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
        }
    }

    /// Arguments that the function does not take.
    pub(crate) fn arguments(message: impl Into<String>) -> Self {
        Self::of_kind(EvaluationErrorKind::Arguments, message)
    }

    /// Values that a correction has no answer for.
    pub(crate) fn values(message: impl Into<String>) -> Self {
        Self::of_kind(EvaluationErrorKind::Values, message)
    }

    /// An output that a model does not have.
    pub(crate) fn output(message: impl Into<String>) -> Self {
        Self::of_kind(EvaluationErrorKind::Output, message)
    }

    /// A node lacks what reading has checked.
    pub(crate) fn internal(message: impl Into<String>) -> Self {
        Self::of_kind(EvaluationErrorKind::Internal, message)
    }
}
