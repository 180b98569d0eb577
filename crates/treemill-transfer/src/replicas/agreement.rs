//! Whether two sources have the same file, and which one it is: by its size, its first and last bytes, and its checksums if
//! both know one. Pure; knows no file format.

use crate::replicas::limits::{SAMPLE, SAMPLED_FROM};
use bytes::Bytes;
use std::ops::Range;
use treemill_source::{Checksums, Identity};
use xxhash_rust::xxh3::xxh3_128;

/// What was seen of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Look {
    /// Where, for messages.
    pub(crate) place: String,
    pub(crate) size: u64,
    /// The bytes of [`sample`], one after the other.
    pub(crate) bytes: Vec<Bytes>,
    /// What the source itself says.
    pub(crate) identity: Option<Identity>,
    pub(crate) checksums: Checksums,
}

/// The ranges of a file of `size` bytes in which sources must agree.
pub(crate) fn sample(size: u64) -> Vec<Range<u64>> {
    let head = 0..size.min(SAMPLE);
    let tail = size.saturating_sub(SAMPLE).max(head.end)..size;
    [head, tail].into_iter().filter(|r| !r.is_empty()).collect()
}

/// The bytes in which sources must agree, gathered from what a file's reader asks for anyway.
#[derive(Debug, Clone)]
pub(crate) struct Gathered {
    pieces: Vec<Piece>,
    /// Bytes of all that was asked for.
    asked: u64,
}

#[derive(Debug, Clone)]
struct Piece {
    range: Range<u64>,
    is_asked: bool,
    bytes: Option<Bytes>,
}

impl Gathered {
    /// Nothing is known yet, of a file of this size.
    pub(crate) fn new(size: u64) -> Self {
        let piece = |range| Piece {
            range,
            is_asked: false,
            bytes: None,
        };
        Gathered {
            pieces: sample(size).into_iter().map(piece).collect(),
            asked: 0,
        }
    }

    /// Ranges are asked for: whether the sample must be asked for besides, since the reader asks for much and not for
    /// that.
    pub(crate) fn asked(&mut self, ranges: &[Range<u64>]) -> bool {
        let bytes = ranges
            .iter()
            .map(|range| range.end.saturating_sub(range.start));
        self.asked = bytes.fold(self.asked, u64::saturating_add);
        for piece in &mut self.pieces {
            piece.is_asked |= ranges.iter().any(|range| holds(range, &piece.range));
        }
        self.asked >= SAMPLED_FROM && self.pieces.iter().any(|piece| !piece.is_asked)
    }

    /// The bytes of a range have come: the sample, if all of it is here now.
    pub(crate) fn came(&mut self, range: &Range<u64>, bytes: &Bytes) -> Option<Vec<Bytes>> {
        for piece in self.pieces.iter_mut().filter(|p| holds(range, &p.range)) {
            let start = piece.range.start.saturating_sub(range.start);
            let length = piece.range.end.saturating_sub(piece.range.start);
            let place = |at: u64| usize::try_from(at).ok();
            let found = place(start).zip(place(start.saturating_add(length)));
            let found = found.and_then(|(start, end)| bytes.get(start..end));
            // A copy: the whole answer is not kept for it.
            piece.bytes = found.map(Bytes::copy_from_slice);
        }
        self.pieces.iter().map(|p| p.bytes.clone()).collect()
    }
}

/// Whether one range has all of another.
fn holds(one: &Range<u64>, other: &Range<u64>) -> bool {
    one.start <= other.start && other.end <= one.end
}

/// How a source differs from the file that was opened first, in words.
pub(crate) fn difference(first: &Look, other: &Look) -> Option<String> {
    let place = &first.place;
    if first.size != other.size {
        let (size, expected) = (other.size, first.size);
        return Some(format!(
            "it has {size} bytes there, and {expected} at {place}"
        ));
    }
    if let Some(found) = other.checksums.difference(&first.checksums) {
        let (algorithm, this, other) = (found.algorithm, found.this, found.other);
        return Some(format!(
            "its checksum {algorithm} is {this} there, and {other} at {place}"
        ));
    }
    if first.bytes != other.bytes {
        return Some(format!(
            "its first or last bytes differ from those at {place}"
        ));
    }
    let both = first.identity.zip(other.identity);
    if both.is_some_and(|(one, other)| one.place == other.place && one != other) {
        return Some("it has changed since it was opened first".to_owned());
    }
    None
}

/// The identity of a file by its logical name and what was seen of it: the same at all of its places.
pub(crate) fn identity(name: &str, look: &Look) -> Identity {
    let sampled = look.bytes.concat();
    let state = format!("sample {:032x}", xxh3_128(&sampled));
    Identity::of_remote(name, look.size, &state)
}

/// A number for a file's draws, which differs between files.
pub(crate) fn seed(name: &str) -> u64 {
    xxhash_rust::xxh3::xxh3_64(name.as_bytes())
}

#[cfg(test)]
#[allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation,
    clippy::single_range_in_vec_init
)]
mod tests {
    use super::*;

    fn look(size: u64, bytes: &'static [u8], identity: Option<Identity>) -> Look {
        let bytes = vec![Bytes::from_static(bytes)];
        Look {
            place: "root://a//f".to_owned(),
            size,
            bytes,
            identity,
            checksums: Checksums::default(),
        }
    }

    #[test]
    fn samples_are_the_ends_and_do_not_overlap() {
        assert_eq!(sample(0), []);
        assert_eq!(sample(10), [0..10]);
        assert_eq!(sample(1500), [0..1024, 1024..1500]);
        assert_eq!(sample(5000), [0..1024, 3976..5000]);
    }

    #[test]
    fn samples_are_gathered_from_what_is_read() {
        let size = 3 << 20;
        let zeros = |range: &Range<u64>| Bytes::from(vec![0; (range.end - range.start) as usize]);
        let mut gathered = Gathered::new(size);
        let (head, tail) = (0..2000, size - 70_000..size);
        assert!(!gathered.asked(&[head.clone(), 5000..6000]));
        assert_eq!(gathered.came(&head, &zeros(&head)), None);
        assert!(gathered.asked(&[0..SAMPLED_FROM]), "much but the end");
        assert!(!gathered.asked(std::slice::from_ref(&tail)));
        assert_eq!(gathered.came(&(5..2000), &zeros(&(5..2000))), None);
        let mut bytes = vec![1; 70_000];
        bytes[70_000 - 1024] = 2;
        let here = gathered.came(&tail, &bytes.into()).unwrap();
        assert_eq!(here[0], [0; 1024].as_slice());
        assert_eq!((here[1].len(), here[1][0], here[1][1]), (1024, 2, 1));
    }

    #[test]
    fn sizes_bytes_and_states_of_one_place_must_agree() {
        let at = |url, state| Some(Identity::of_remote(url, 3, state));
        let first = look(3, b"abc", at("root://a//f", "1"));
        let differs = |other| difference(&first, &other);
        assert_eq!(differs(look(3, b"abc", None)), None);
        assert_eq!(differs(look(3, b"abc", at("root://b//f", "2"))), None);
        assert!(differs(look(4, b"abc", None)).is_some_and(|why| why.contains("4 bytes")));
        assert!(differs(look(3, b"abd", None)).is_some_and(|why| why.contains("last bytes")));
        let changed = differs(look(3, b"abc", at("root://a//f", "2")));
        assert!(changed.is_some_and(|why| why.contains("changed")));
    }

    #[test]
    fn checksums_must_agree_if_both_are_known_by_the_same() {
        let knowing = |known: &[(&str, &str)]| {
            let mut look = look(3, b"abc", None);
            for (name, value) in known {
                look.checksums.add(name, value);
            }
            look
        };
        let first = knowing(&[("adler32", "024d0127")]);
        let differs = |known: &[(&str, &str)]| difference(&first, &knowing(known));
        assert_eq!(differs(&[]), None);
        assert_eq!(difference(&knowing(&[]), &first), None);
        assert_eq!(differs(&[("ADLER32", "24D0127")]), None);
        assert_eq!(differs(&[("md5", &"0".repeat(32))]), None);
        let why = differs(&[("adler32", "24d0128"), ("md5", &"0".repeat(32))]).unwrap();
        assert_eq!(
            why,
            "its checksum adler32 is 024d0128 there, and 024d0127 at root://a//f"
        );
        let other = look(4, b"abc", None);
        assert!(difference(&first, &other).is_some_and(|why| why.contains("4 bytes")));
    }

    #[test]
    fn the_identity_is_that_of_the_content_and_not_of_the_place() {
        let one = look(3, b"abc", Some(Identity::of_remote("a", 3, "1")));
        let other = look(3, b"abc", None);
        assert_eq!(identity("lfn", &one), identity("lfn", &other));
        assert_ne!(
            identity("lfn", &one),
            identity("lfn", &look(3, b"abd", None))
        );
        assert_ne!(identity("lfn", &one), identity("other", &one));
    }
}
