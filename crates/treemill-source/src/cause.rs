//! The error that another one comes from, for the chain of [`std::error::Error::source`]. It has no words of its own:
//! the error that carries it says them.

use std::error::Error;
use std::fmt;
use std::sync::Arc;

/// A shared error of any type. All causes are equal, so that errors compare by what they say.
#[derive(Clone)]
pub struct Cause(Arc<dyn Error + Send + Sync>);

impl Cause {
    /// The cause that this error is. Its words must have no credentials: a chain is printed whole.
    #[must_use]
    pub fn new(error: impl Error + Send + Sync + 'static) -> Self {
        Cause(Arc::new(error))
    }

    /// The error itself.
    #[must_use]
    pub fn error(&self) -> &(dyn Error + 'static) {
        self.0.as_ref()
    }
}

impl PartialEq for Cause {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Cause {}

impl fmt::Debug for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
