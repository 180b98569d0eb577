//! Splits vectored reads into requests that a server takes, and puts the answers together. Knows no connection.

use crate::limits;
use crate::wire::{Handle, WireError, bodies};

/// What a server takes in one vectored read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Most {
    /// Ranges of one request.
    pub ranges: usize,
    /// Bytes of one range.
    pub bytes: u32,
}

impl Default for Most {
    fn default() -> Self {
        Most {
            ranges: limits::RANGES,
            bytes: limits::RANGE_BYTES,
        }
    }
}

impl Most {
    /// The names of the values in a server's configuration.
    pub const NAMES: [&str; 2] = ["readv_iov_max", "readv_ior_max"];

    /// The server's own limits where it says them, and none above this client's.
    #[must_use]
    pub fn from_values(values: &[Option<String>]) -> Self {
        let number = |at: usize| {
            values
                .get(at)?
                .as_ref()?
                .parse::<u32>()
                .ok()
                .filter(|&n| n > 0)
        };
        let usual = Most::default();
        Most {
            ranges: number(0)
                .and_then(|n| usize::try_from(n).ok())
                .unwrap_or(usual.ranges)
                .min(usual.ranges),
            bytes: number(1).unwrap_or(usual.bytes).min(usual.bytes),
        }
    }
}

/// The ranges of each request, in the order asked for; ranges that are too long are cut, empty ones left out.
#[must_use]
pub fn plan(handle: Handle, ranges: &[(u64, u32)], most: Most) -> Vec<Vec<(Handle, u32, u64)>> {
    let (mut requests, mut request, mut bytes) = (Vec::new(), Vec::new(), 0_u64);
    for &(offset, length) in ranges {
        let (mut offset, mut left) = (offset, length);
        while left > 0 {
            let piece = left.min(most.bytes.max(1));
            let more = bytes.saturating_add(u64::from(piece));
            let full = request.len() >= most.ranges || more > limits::VECTOR_BYTES;
            if full && !request.is_empty() {
                requests.push(std::mem::take(&mut request));
                bytes = 0;
            }
            request.push((handle, piece, offset));
            bytes = bytes.saturating_add(u64::from(piece));
            offset = offset.saturating_add(u64::from(piece));
            left = left.saturating_sub(piece);
        }
    }
    if !request.is_empty() {
        requests.push(request);
    }
    requests
}

/// Bytes of the answer to one such request: 16 of header before each range's data.
#[must_use]
pub fn answer_size(request: &[(Handle, u32, u64)]) -> usize {
    let one = |range: &(Handle, u32, u64)| usize::try_from(range.1).unwrap_or(usize::MAX);
    let add = |sum: usize, size: usize| sum.saturating_add(size).saturating_add(16);
    request.iter().map(one).fold(0, add)
}

/// The bytes of each range, from the answers to all requests of its plan.
///
/// # Errors
/// If an answer is not that of its request.
pub fn join(
    ranges: &[(u64, u32)],
    requests: &[Vec<(Handle, u32, u64)>],
    answers: &[Vec<u8>],
) -> Result<Vec<Vec<u8>>, WireError> {
    let mut pieces = Vec::new();
    for (request, answer) in requests.iter().zip(answers) {
        pieces.extend(bodies::segments(answer, request)?);
    }
    let mut pieces = pieces.into_iter();
    let one = |&(_, length): &(u64, u32)| {
        let length = usize::try_from(length).unwrap_or(usize::MAX);
        let mut bytes = Vec::new();
        while bytes.len() < length {
            let piece = pieces
                .next()
                .ok_or_else(|| WireError::new("the answer to a vectored read ends early"))?;
            bytes.extend_from_slice(piece);
        }
        Ok(bytes)
    };
    ranges.iter().map(one).collect()
}

#[cfg(test)]
mod tests {
    #![allow(
        clippy::unwrap_used,
        clippy::indexing_slicing,
        clippy::cast_possible_truncation
    )]
    use super::*;
    use proptest::prelude::*;

    fn answer(file: &[u8], request: &[(Handle, u32, u64)]) -> Vec<u8> {
        let mut body = Vec::new();
        for (handle, length, offset) in request {
            body.extend(handle);
            body.extend(length.to_be_bytes());
            body.extend(offset.to_be_bytes());
            body.extend(&file[*offset as usize..][..*length as usize]);
        }
        body
    }

    proptest! {
        #[test]
        fn joined_answers_are_the_ranges(
            ranges in prop::collection::vec((0_u64..900, 0_u32..100), 0..50),
            (count, bytes) in (1_usize..9, 1_u32..40),
        ) {
            let file: Vec<u8> = (0..1000).map(|i| (i % 251) as u8).collect();
            let requests = plan([1; 4], &ranges, Most { ranges: count, bytes });
            prop_assert!(requests.iter().all(|r| r.len() <= count && r.iter().all(|p| p.1 <= bytes)));
            let answers: Vec<_> = requests.iter().map(|request| answer(&file, request)).collect();
            prop_assert!(requests.iter().zip(&answers).all(|(r, a)| answer_size(r) == a.len()));
            let found = join(&ranges, &requests, &answers).unwrap();
            for (&(offset, length), bytes) in ranges.iter().zip(&found) {
                prop_assert_eq!(&file[offset as usize..][..length as usize], &bytes[..]);
            }
        }
    }

    #[test]
    fn servers_limits_are_taken_up_to_ours() {
        let values = |a: &str, b: &str| Most::from_values(&[Some(a.into()), Some(b.into())]);
        assert_eq!(
            values("10", "999"),
            Most {
                ranges: 10,
                bytes: 999
            }
        );
        assert_eq!(values("99999999", "0"), Most::default());
        assert_eq!(Most::from_values(&[None]), Most::default());
    }
}
