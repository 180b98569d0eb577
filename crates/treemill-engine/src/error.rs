//! Why a query could not be bound to a file, or run over it.

use treemill_query::{ProcessError, QueryError, QueryErrorKind};
use treemill_read::{ErrorKind, ReadError};

/// An error of a provider's own kind.
pub type Cause = Box<dyn std::error::Error + Send + Sync>;

/// Binding or running failed.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// The query does not suit the columns, or the data not the query.
    #[error(transparent)]
    Query(#[from] QueryError),
    /// The file could not be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// What a provider gave is not what was asked for.
    #[error("{0}")]
    Misfit(String),
    /// A provider failed: its own error.
    #[error(transparent)]
    Provider(Cause),
}

/// What kind of error it is: callers decide by it, never by the message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EngineErrorKind {
    /// An error of the query, of this kind.
    Query(QueryErrorKind),
    /// An error of reading, of this kind.
    Read(ErrorKind),
    /// What a provider gave is not what was asked for.
    Misfit,
    /// A provider failed.
    Provider,
}

impl EngineError {
    /// What kind of error it is.
    #[must_use]
    pub fn kind(&self) -> EngineErrorKind {
        match self {
            Self::Query(error) => EngineErrorKind::Query(error.kind),
            Self::Read(error) => EngineErrorKind::Read(error.kind),
            Self::Misfit(_) => EngineErrorKind::Misfit,
            Self::Provider(_) => EngineErrorKind::Provider,
        }
    }
}

impl From<ProcessError> for EngineError {
    fn from(error: ProcessError) -> Self {
        match error {
            ProcessError::Query(e) => Self::Query(e),
            ProcessError::TooMany { message } => {
                Self::Query(QueryError::of(QueryErrorKind::Limit, message))
            }
            // The packet's columns fail with this type only.
            ProcessError::Column(e) => match e.downcast::<EngineError>() {
                Ok(e) => *e,
                Err(e) => Self::Provider(e),
            },
        }
    }
}
