//! A record of a segment: a range of a file, its checksum, its bytes. Pure: bytes in, bytes out.
//!
//! `start`, `end` and the checksum are 64-bit numbers, little-endian; the bytes of the range follow. The checksum is XXH3
//! over `start`, `end` and the bytes, so that a record that was written in part is known as one.

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
        fn any_bytes_are_a_head_or_none(bytes: [u8; HEAD]) {
            if let Some(head) = Head::decode(&bytes) {
                prop_assert!(head.range.start <= head.range.end);
                prop_assert_eq!(head.encode(), bytes);
            }
        }
    }
}
