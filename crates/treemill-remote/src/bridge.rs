//! A bridge to protocols that no transport here knows. The program that has one sets it; this crate only knows that
//! there may be one.

use crate::{Entry, Stat, Transport, waited};
use std::sync::{Arc, OnceLock};
use treemill_source::{Source, SourceError};

/// What is asked of files on servers. Each function takes a whole address.
pub trait Protocol: Send + Sync {
    /// Opens a file.
    ///
    /// # Errors
    /// If there is no such file, or it cannot be opened.
    fn open(&self, url: &str) -> Result<Arc<dyn Source>, SourceError>;

    /// Asks for the state of a file or folder.
    ///
    /// # Errors
    /// As [`Protocol::open`].
    fn stat(&self, url: &str) -> Result<Stat, SourceError>;

    /// Asks what a folder holds.
    ///
    /// # Errors
    /// As [`Protocol::open`]; if the protocol or the server cannot list.
    fn list(&self, url: &str) -> Result<Vec<Entry>, SourceError>;
}

impl Protocol for Transport {
    fn open(&self, url: &str) -> Result<Arc<dyn Source>, SourceError> {
        waited(url, (self.open)(url)).map(|open| open.source)
    }

    fn stat(&self, url: &str) -> Result<Stat, SourceError> {
        waited(url, (self.stat)(url))
    }

    fn list(&self, url: &str) -> Result<Vec<Entry>, SourceError> {
        (self.list)(url)
    }
}

static BRIDGE: OnceLock<Box<dyn Protocol>> = OnceLock::new();

/// Sets what addresses are given to whose scheme no transport has, for all of the process. The first one stays.
///
/// ```
/// use std::sync::Arc;
/// use treemill_remote::{Entry, Protocol, Stat};
/// use treemill_source::{Costs, Memory, Source, SourceError};
///
/// struct Zeros;
///
/// impl Protocol for Zeros {
///     fn open(&self, url: &str) -> Result<Arc<dyn Source>, SourceError> {
///         Ok(Arc::new(Memory::new(url, vec![0; 100], Costs::NEAR)))
///     }
///     fn stat(&self, _url: &str) -> Result<Stat, SourceError> {
///         Ok(Stat { size: 100, is_folder: false, identity: None })
///     }
///     fn list(&self, url: &str) -> Result<Vec<Entry>, SourceError> {
///         Err(SourceError::new(url, "there are no folders"))
///     }
/// }
///
/// treemill_remote::set_bridge(Box::new(Zeros));
/// assert_eq!(treemill_remote::open("zeros://any/file.root")?.size(), 100);
/// assert!(treemill_remote::list("zeros://any/").is_err());
/// # Ok::<(), SourceError>(())
/// ```
pub fn set_bridge(bridge: Box<dyn Protocol>) {
    let _ = BRIDGE.set(bridge);
}

pub(crate) fn bridge() -> Option<&'static dyn Protocol> {
    BRIDGE.get().map(AsRef::as_ref)
}
