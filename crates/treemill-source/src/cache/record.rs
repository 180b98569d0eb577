//! A record of a segment: a range of a file, its checksum, its bytes. Pure: bytes in, bytes out.
//!
//! `start`, `end` and the checksum are 64-bit numbers, little-endian; the bytes of the range follow. The checksum is XXH3
//! over `start`, `end` and the bytes, so that a record that was written in part is known as one.

use crate::Bytes;
use std::ops::Range;
use xxhash_rust::xxh3::Xxh3Default;

/// Bytes before the range's own.
pub(crate) const HEAD: usize = 24;

/// The head of a record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Head {
    pub(crate) range: Range<u64>,
    checksum: u64,
}

impl Head {
    /// The head of a record of these bytes of a file, which start at `start`.
    pub(crate) fn of(start: u64, bytes: &[u8]) -> Self {
        let range = start..start.saturating_add(bytes.len() as u64);
        let checksum = checksum(&range, bytes);
        Head { range, checksum }
    }

    pub(crate) fn encode(&self) -> [u8; HEAD] {
        let mut head = [0; HEAD];
        let numbers = [self.range.start, self.range.end, self.checksum];
        for (place, number) in head.chunks_exact_mut(8).zip(numbers) {
            place.copy_from_slice(&number.to_le_bytes());
        }
        head
    }

    /// The head in these bytes; `None` if it can be none.
    pub(crate) fn decode(bytes: &[u8; HEAD]) -> Option<Self> {
        let mut numbers = bytes.chunks_exact(8).map(|eight| {
            let mut number = [0; 8];
            number.copy_from_slice(eight);
            u64::from_le_bytes(number)
        });
        let (start, end, checksum) = (numbers.next()?, numbers.next()?, numbers.next()?);
        (start <= end).then_some(Head {
            range: start..end,
            checksum,
        })
    }

    /// Whether these are the bytes that the record was made of.
    pub(crate) fn agrees(&self, bytes: &[u8]) -> bool {
        checksum(&self.range, bytes) == self.checksum
    }
}

/// The records of a segment that is here as a whole, up to the first one that is not whole.
pub(crate) fn records(segment: &Bytes) -> impl Iterator<Item = (Range<u64>, Bytes)> {
    let mut rest = segment.clone();
    std::iter::from_fn(move || {
        let head = Head::decode(rest.first_chunk()?)?;
        let length = head.range.end.checked_sub(head.range.start)?;
        let end = HEAD.checked_add(usize::try_from(length).ok()?)?;
        if length == 0 || end > rest.len() {
            return None;
        }
        let bytes = rest.split_to(end).split_off(HEAD);
        head.agrees(&bytes).then_some((head.range, bytes))
    })
}

fn checksum(range: &Range<u64>, bytes: &[u8]) -> u64 {
    let mut hash = Xxh3Default::new();
    hash.update(&range.start.to_le_bytes());
    hash.update(&range.end.to_le_bytes());
    hash.update(bytes);
    hash.digest()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn heads_come_back_and_any_change_is_seen(
            start in 0_u64..1 << 60, bytes in prop::collection::vec(any::<u8>(), 1..100), at: usize, flip in 1_u8..=255,
        ) {
            let head = Head::of(start, &bytes);
            let found = Head::decode(&head.encode());
            prop_assert_eq!(found.as_ref(), Some(&head));
            prop_assert!(head.agrees(&bytes));
            let mut other = bytes.clone();
            let place = at.checked_rem(other.len()).unwrap_or(0);
            if let Some(byte) = other.get_mut(place) {
                *byte ^= flip;
            }
            prop_assert!(!head.agrees(&other));
        }

        #[test]
        fn a_segment_gives_its_records_up_to_where_it_is_cut_or_damaged(
            parts in prop::collection::vec((0_u64..1 << 60, prop::collection::vec(any::<u8>(), 1..50)), 0..6),
            place: usize, flip: Option<u8>,
        ) {
            let (mut segment, mut ends) = (Vec::new(), Vec::new());
            for (start, bytes) in &parts {
                segment.extend_from_slice(&Head::of(*start, bytes).encode());
                segment.extend_from_slice(bytes);
                ends.push(segment.len());
            }
            let place = place.checked_rem(segment.len().max(1)).unwrap_or(0);
            let mut sound = parts.len();
            match (flip, segment.get_mut(place)) {
                (Some(flip @ 1..), Some(byte)) => {
                    *byte ^= flip;
                    sound = ends.partition_point(|end| *end <= place);
                }
                (None, Some(_)) => {
                    segment.truncate(place);
                    sound = ends.partition_point(|end| *end <= place);
                }
                _ => {}
            }
            let found: Vec<_> = records(&Bytes::from(segment)).collect();
            prop_assert_eq!(found.len(), sound);
            for ((range, bytes), (start, expected)) in found.iter().zip(&parts) {
                prop_assert_eq!(range.start, *start);
                prop_assert_eq!(bytes, expected);
            }
        }

        #[test]
        fn any_bytes_are_a_head_or_none(bytes: [u8; HEAD]) {
            if let Some(head) = Head::decode(&bytes) {
                prop_assert!(head.range.start <= head.range.end);
                prop_assert_eq!(head.encode(), bytes);
            }
        }
    }
}
