//! What is wrong with arguments or values. The words are correctionlib's where it has some.

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
