//! A value of which each process has its own. Knows no value.

use std::sync::{Mutex, PoisonError};

/// A value that a process makes when it first needs it. A child that finds its parent's after a fork makes its own: of
/// threads and connections only the memory survives a fork. Nothing is freed, for other threads may still use it.
///
/// ```
/// use treemill_transfer::PerProcess;
///
/// static NUMBER: PerProcess<u32> = PerProcess::new();
/// assert_eq!(NUMBER.there(), None);
/// assert_eq!(NUMBER.get(|| Ok::<_, ()>(7)), Ok(&7));
/// assert_eq!(NUMBER.get(|| Err(())), Ok(&7), "it is there");
/// ```
pub struct PerProcess<T: 'static>(Mutex<Option<(u32, &'static T)>>);

impl<T> PerProcess<T> {
    /// Nothing yet.
    #[must_use]
    pub const fn new() -> Self {
        PerProcess(Mutex::new(None))
    }

    /// This process's value. The lock is held for no longer than a look, so that a fork in between is unlikely; of two
    /// threads that make the first value at once, one makes it in vain.
    ///
    /// # Errors
    /// Why there can be no value.
    pub fn get<E>(&self, make: impl FnOnce() -> Result<T, E>) -> Result<&'static T, E> {
        if let Some(value) = self.there() {
            return Ok(value);
        }
        let made = make()?;
        let mut held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(value) = own(&held) {
            return Ok(value);
        }
        let value: &'static T = Box::leak(Box::new(made));
        *held = Some((std::process::id(), value));
        Ok(value)
    }

    /// This process's value, if it has made one.
    #[must_use]
    pub fn there(&self) -> Option<&'static T> {
        own(&self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// What is held, if this process has made it.
fn own<T>(held: &Option<(u32, &'static T)>) -> Option<&'static T> {
    match held {
        Some((owner, value)) if *owner == std::process::id() => Some(*value),
        _ => None,
    }
}

impl<T> Default for PerProcess<T> {
    fn default() -> Self {
        Self::new()
    }
}
