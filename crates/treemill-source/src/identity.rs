//! Which file it is, and in which state. Data only.

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
}

#[allow(clippy::cast_possible_truncation)]
fn halves(digest: u128) -> [u64; 2] {
    [(digest >> 64) as u64, digest as u64]
}
