//! What a source says of its file once for all. Data only; what changes while the file is read is in `costs.rs`.

use crate::Identity;

/// A file as it was when it was opened.
///
/// ```
/// use treemill_source::{Costs, Info, Memory, Source};
///
/// let info = Info::new("ten bytes", 10);
/// assert_eq!(Memory::new("ten bytes", b"0123456789".to_vec(), Costs::NEAR).info(), &info);
/// assert_eq!((info.identity, info.may_move), (None, false));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Info {
    /// A path or a URL without credentials, for messages.
    pub name: String,
    /// Bytes in all.
    pub size: u64,
    /// Which file it is, and in which state. `None` if that is not certain: then nothing of it may be cached.
    pub identity: Option<Identity>,
    /// Whether another server may serve the file when it is opened again, because a manager has chosen this one. Servers
    /// have times of change of their own: the identity is then that of one copy.
    pub may_move: bool,
}

impl Info {
    /// A file of which no more is known.
    #[must_use]
    pub fn new(name: impl Into<String>, size: u64) -> Self {
        Info {
            name: name.into(),
            size,
            identity: None,
            may_move: false,
        }
    }
}
