//! What is wrong with the arguments of a model, or with the output that is asked for.

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
