//! Which file a source has, and in which state. Data only; what changes while the file is read is in `costs.rs`.

use crate::limits::SETTLED;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use xxhash_rust::xxh3::xxh3_128;

/// What a source says of its file once for all, as it was when it was opened.
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

/// A file as it was when it was opened: another identity means other bytes.
///
/// ```
/// use treemill_source::Identity;
///
/// let identity = |tag| Identity::of_remote("https://host/file.root", 100, tag);
/// assert_eq!(identity("W1"), identity("W1"));
/// assert_ne!(identity("W1"), identity("W2"));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Identity {
    /// Which file: device and inode of a local one, a digest of a URL.
    pub place: [u64; 2],
    /// Bytes.
    pub size: u64,
    /// Its state: the times of a local file, a digest of what a server says (entity tag, checksum, version, time).
    pub state: [u64; 4],
}

impl Identity {
    /// A file on a server. `url` has no credentials; `state` is all that the server says of the file's content: its
    /// entity tag, checksum, version, time of change.
    #[must_use]
    pub fn of_remote(url: &str, size: u64, state: &str) -> Self {
        let [place, [first, second]] = [url, state].map(|text| halves(xxh3_128(text.as_bytes())));
        Identity {
            place,
            size,
            state: [first, second, 0, 0],
        }
    }

    /// A file on a server of which all that is told is when it was changed, in seconds since 1970. `None` if that is not told,
    /// or if it is so late that the file may change again within its time's second.
    ///
    /// ```
    /// use std::time::{Duration, UNIX_EPOCH};
    /// use treemill_source::{Identity, SETTLED};
    ///
    /// let changed = |at, age| Identity::of_changed("root://host//f", 9, at, UNIX_EPOCH + Duration::from_secs(at) + age);
    /// assert!(changed(1_000, SETTLED).is_some_and(|it| it.size == 9));
    /// assert_ne!(changed(1_000, SETTLED), changed(1_001, SETTLED));
    /// assert_eq!([changed(1_000, Duration::ZERO), changed(0, SETTLED)], [None; 2]);
    /// ```
    #[must_use]
    pub fn of_changed(url: &str, size: u64, changed: u64, now: SystemTime) -> Option<Self> {
        let since = Duration::from_secs(Some(changed).filter(|&time| time > 0)?);
        let age = now.duration_since(UNIX_EPOCH.checked_add(since)?).ok()?;
        let state = format!("changed {changed}");
        (age >= SETTLED).then(|| Identity::of_remote(url, size, &state))
    }
}

#[allow(clippy::cast_possible_truncation)]
fn halves(digest: u128) -> [u64; 2] {
    [(digest >> 64) as u64, digest as u64]
}
