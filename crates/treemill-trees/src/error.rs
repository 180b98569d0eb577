//! What is wrong with a model's file, or with what it is asked for.

/// What an error of a file is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LoadErrorKind {
    /// It is no model of the format.
    Malformed,
    /// The format has it, and this crate does not.
    Unsupported,
}

/// A model that cannot be read.
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

    /// Says of which tree it is.
    pub(crate) fn of_tree(mut self, tree: usize) -> Self {
        self.message = format!("{} (in tree {tree})", self.message);
        self
    }
}

/// Arguments that a model cannot be evaluated for.
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
