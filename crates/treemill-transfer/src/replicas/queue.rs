//! Parts that no source was asked for yet, in the order in which they are needed. One source takes them from the front, a
//! second one from the back, so that each reads nearly contiguous bytes, and both end together whatever their speeds
//! are. Pure; knows no source.

use crate::replicas::limits::STRETCH;
use std::collections::VecDeque;

/// The number of a part: a range that was wanted, or a piece of it.
pub(crate) type PartId = u64;

/// Where a source takes parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    /// What is needed first.
    Front,
    /// What is needed last of the stretch that is needed first.
    Back,
}

/// Parts that are read from both ends. A reader that wants all in order waits for the end of a stretch, not for that of
/// the queue.
#[derive(Debug, Default)]
struct Stretch {
    parts: VecDeque<(PartId, u64)>,
    /// Bytes that were put in, gone or not.
    put: u64,
}

#[derive(Debug, Default)]
pub(crate) struct Queue {
    stretches: VecDeque<Stretch>,
    bytes: u64,
}

impl Queue {
    /// Bytes of all parts.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.stretches.is_empty()
    }

    /// Adds a part of this number of bytes, which is needed after the others.
    pub(crate) fn push(&mut self, part: PartId, bytes: u64) {
        if self.stretches.back().is_none_or(|last| last.put >= STRETCH) {
            self.stretches.push_back(Stretch::default());
        }
        if let Some(last) = self.stretches.back_mut() {
            last.parts.push_back((part, bytes));
            last.put = last.put.saturating_add(bytes);
            self.bytes = self.bytes.saturating_add(bytes);
        }
    }

    /// Takes parts of about this number of bytes: a part is taken if at least half of it is within them. In order
    /// of need.
    pub(crate) fn take(&mut self, end: End, bytes: u64) -> Vec<PartId> {
        let (mut taken, mut sum) = (Vec::new(), 0_u64);
        while let Some(stretch) = self.stretches.front_mut() {
            let next = match end {
                End::Front => stretch.parts.front(),
                End::Back => stretch.parts.back(),
            };
            let Some(&(part, length)) = next else {
                self.stretches.pop_front();
                continue;
            };
            if sum.saturating_add(length.div_ceil(2)) > bytes {
                break;
            }
            match end {
                End::Front => stretch.parts.pop_front(),
                End::Back => stretch.parts.pop_back(),
            };
            taken.push(part);
            sum = sum.saturating_add(length);
        }
        self.bytes = self.bytes.saturating_sub(sum);
        if end == End::Back {
            taken.reverse();
        }
        taken
    }
}

#[cfg(test)]
#[allow(clippy::arithmetic_side_effects, clippy::indexing_slicing)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use proptest::test_runner::RngSeed;

    fn queue(lengths: &[u64]) -> Queue {
        let mut queue = Queue::default();
        for (part, length) in (0..).zip(lengths) {
            queue.push(part, *length);
        }
        queue
    }

    #[test]
    fn one_source_takes_the_front_and_one_the_back() {
        let mut queue = queue(&[100; 6]);
        assert_eq!(queue.take(End::Front, 200), [0, 1]);
        assert_eq!(queue.take(End::Back, 249), [4, 5]);
        assert_eq!(queue.take(End::Back, 49), []);
        assert_eq!(queue.take(End::Back, 50), [3]);
        assert_eq!(queue.bytes(), 100);
        assert_eq!(queue.take(End::Front, u64::MAX), [2]);
        assert!(queue.is_empty() && queue.bytes() == 0);
    }

    #[test]
    fn the_back_is_that_of_the_first_stretch() {
        let mut queue = queue(&[STRETCH / 2; 4]);
        assert_eq!(queue.take(End::Back, STRETCH / 2), [1]);
        assert_eq!(queue.take(End::Back, STRETCH), [3, 0]);
    }

    proptest! {
        #![proptest_config(ProptestConfig {
            failure_persistence: None, rng_seed: RngSeed::Fixed(15), ..ProptestConfig::default()
        })]

        #[test]
        fn every_part_is_taken_once(
            lengths in prop::collection::vec(1..STRETCH, 0..40),
            takes in prop::collection::vec((any::<bool>(), 0..2 * STRETCH), 0..40),
        ) {
            let mut queue = queue(&lengths);
            let mut taken = Vec::new();
            for (is_front, bytes) in takes {
                let end = if is_front { End::Front } else { End::Back };
                taken.extend(queue.take(end, bytes));
                let gone = taken.iter().map(|part| lengths[*part as usize]).sum::<u64>();
                prop_assert_eq!(queue.bytes(), lengths.iter().sum::<u64>() - gone);
            }
            taken.extend(queue.take(End::Front, u64::MAX));
            taken.sort_unstable();
            prop_assert_eq!(taken, (0..lengths.len() as u64).collect::<Vec<_>>());
        }

        /// Shares that are all of the bytes together leave nothing.
        #[test]
        fn both_ends_together_take_all(
            lengths in prop::collection::vec(1..STRETCH / 8, 1..8), share in 0.0..1.0,
        ) {
            let mut queue = queue(&lengths);
            let all = queue.bytes();
            let front = (all as f64 * share) as u64;
            let mut taken = queue.take(End::Front, front);
            taken.extend(queue.take(End::Back, all - front));
            prop_assert_eq!(taken, (0..lengths.len() as u64).collect::<Vec<_>>());
        }
    }
}
