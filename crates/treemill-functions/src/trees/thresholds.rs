//! The thresholds of a feature, and how many of them are below a number: its rank.

use crate::limits::{BUCKET, COUNTED_THRESHOLDS, ROWS};
use crate::trees::real::Real;

/// Thresholds in order, each once.
#[derive(Debug, Clone)]
pub(crate) struct Thresholds<T> {
    all: Vec<T>,
    /// Whether a threshold itself goes left, so that it is not below an equal number.
    closed: bool,
    /// If there are many: the last threshold of each full bucket, and the buckets, which end with NaN, which is
    /// below no number.
    last: Vec<T>,
    buckets: Vec<[T; BUCKET]>,
}

impl<T: Real> Thresholds<T> {
    pub fn new(mut all: Vec<T>, closed: bool) -> Self {
        all.sort_by(|a, b| a.partial_cmp(b).unwrap_or(std::cmp::Ordering::Equal));
        all.dedup_by(|a, b| a == b);
        all.shrink_to_fit();
        let (mut last, mut buckets) = (Vec::new(), Vec::new());
        if all.len() > COUNTED_THRESHOLDS {
            let full = all.chunks_exact(BUCKET);
            let rest = full.remainder();
            for bucket in full {
                last.extend(bucket.last());
                buckets.extend(<[T; BUCKET]>::try_from(bucket));
            }
            let mut bucket = [T::NAN; BUCKET];
            for (to, threshold) in bucket.iter_mut().zip(rest) {
                *to = *threshold;
            }
            buckets.push(bucket);
        }
        Self {
            all,
            closed,
            last,
            buckets,
        }
    }

    pub fn len(&self) -> usize {
        self.all.len()
    }

    /// The place of a threshold.
    pub fn place(&self, threshold: T) -> u32 {
        let found = self.all.partition_point(|t| *t < threshold);
        u32::try_from(found).unwrap_or(u32::MAX)
    }

    /// The rank of a number.
    pub fn rank(&self, x: T) -> u32 {
        let found = match self.closed {
            true => self.all.partition_point(|t| *t < x),
            false => self.all.partition_point(|t| *t <= x),
        };
        u32::try_from(found).unwrap_or(u32::MAX)
    }

    /// The ranks of many.
    pub fn ranks(&self, numbers: &[T; ROWS], ranks: &mut [u32; ROWS]) {
        // The compiler makes one loop for each.
        match self.closed {
            true => self.counted(numbers, ranks, |t, x| t < x),
            false => self.counted(numbers, ranks, |t, x| t <= x),
        }
    }

    fn counted(
        &self,
        numbers: &[T; ROWS],
        ranks: &mut [u32; ROWS],
        below: impl Fn(T, T) -> bool + Copy,
    ) {
        if self.buckets.is_empty() {
            count(&self.all, numbers, ranks, below);
            return;
        }
        if self.last.len() > COUNTED_THRESHOLDS {
            for (rank, x) in ranks.iter_mut().zip(numbers) {
                let full = self.last.partition_point(|t| below(*t, *x));
                *rank = u32::try_from(full).unwrap_or(u32::MAX);
            }
        } else {
            count(&self.last, numbers, ranks, below);
        }
        for (rank, x) in ranks.iter_mut().zip(numbers) {
            let full = *rank;
            let within = self.buckets.get(full as usize).map_or(0, |bucket| {
                let each = bucket.iter().map(|t| u32::from(below(*t, *x)));
                each.fold(0, u32::wrapping_add)
            });
            *rank = full.wrapping_mul(BUCKET as u32).wrapping_add(within);
        }
    }
}

/// Compares all thresholds with all numbers.
fn count<T: Real>(
    thresholds: &[T],
    numbers: &[T; ROWS],
    ranks: &mut [u32; ROWS],
    below: impl Fn(T, T) -> bool,
) {
    *ranks = [0; ROWS];
    for threshold in thresholds {
        for (rank, x) in ranks.iter_mut().zip(numbers) {
            *rank = rank.wrapping_add(u32::from(below(*threshold, *x)));
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::indexing_slicing, clippy::arithmetic_side_effects)]
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn ranks_are_counts(
            all in prop::collection::vec(-50..50_i32, 0..2000),
            step in 1..40_i32,
            closed in any::<bool>(),
        ) {
            let all: Vec<f32> = all.iter().map(|x| (x * step) as f32 / 7.0).collect();
            let mut numbers = [f32::NAN; ROWS];
            for (i, x) in numbers.iter_mut().enumerate().skip(3) {
                *x = match i % 3 {
                    0 => all.get(i % all.len().max(1)).copied().unwrap_or(1.0),
                    1 => (i as f32).sin() * 100.0,
                    _ => [f32::INFINITY, f32::NEG_INFINITY, 0.0, -0.0][i % 4],
                };
            }
            let thresholds = Thresholds::new(all.clone(), closed);
            let mut found = [0; ROWS];
            thresholds.ranks(&numbers, &mut found);
            let mut once = all;
            once.sort_by(f32::total_cmp);
            once.dedup_by(|a, b| a == b);
            for (x, rank) in numbers.iter().zip(found) {
                let below = once.iter().filter(|t| if closed { *t < x } else { *t <= x }).count();
                prop_assert_eq!(rank as usize, below);
                if !x.is_nan() {
                    prop_assert_eq!(thresholds.rank(*x), rank);
                }
            }
        }
    }
}
