//! Which file it is, and in which state. Data only.

use crate::limits::SETTLED;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use xxhash_rust::xxh3::xxh3_128;

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
