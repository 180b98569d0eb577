//! What is wrong with a model's file, or with what it is asked for.

use std::error::Error;
use std::sync::Arc;

/// What an error of a file is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LoadErrorKind {
    /// It is no model of the format.
    Malformed,
    /// The format has it, and this crate does not.
    Unsupported,
}

/// A model that cannot be read.
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

    /// Says of which tree it is.
    pub(crate) fn of_tree(mut self, tree: usize) -> Self {
        self.message = format!("{} (in tree {tree})", self.message);
        self
    }
}

/// What an error of an evaluation is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EvaluationErrorKind {
    /// The arguments have another number or other lengths than the model and the rows need.
    Arguments,
    /// The model has no output of that number.
    Output,
}

/// Arguments that a model cannot be evaluated for, or an output that it does not have. It comes from no other error.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{message}")]
pub struct EvaluationError {
    /// What it is about: callers decide by it, never by the message.
    pub kind: EvaluationErrorKind,
    /// What is wrong.
    pub message: String,
}

impl EvaluationError {
    /// Arguments that the model does not take.
    pub(crate) fn arguments(message: impl Into<String>) -> Self {
        Self {
            kind: EvaluationErrorKind::Arguments,
            message: message.into(),
        }
    }

    /// An output that the model does not have.
    pub(crate) fn output(message: impl Into<String>) -> Self {
        Self {
            kind: EvaluationErrorKind::Output,
            message: message.into(),
        }
    }
}
