//! Combinations of the items of several lists at once: lists of one length lie side by side, item beside
//! item, so that each operation does the same combination of all of them. Every place of a vector is
//! used, however short the lists are, no end of a list is mispredicted, and the best of each list is
//! found beside that of its neighbours. Knows no expression.

use super::pieces::WIDTH;
use super::tuples::{choose, combinations};
use crate::limits::{COMBINATIONS_WRITTEN, INTERLEAVED_ITEMS};

/// Lists in groups of one length each.
pub(crate) struct Interleaved {
    /// Items of a combination.
    size: u8,
    /// Lists by length; the last of each length stands in the rest of its group.
    lists: Vec<u32>,
    runs: Vec<Run>,
}

/// The lists of one length.
struct Run {
    len: usize,
    /// Number of the first, and of all, with those that are repeated.
    first: usize,
    count: usize,
}

/// Some combinations of some groups of lists of one length. Positions are ordered by group, then by
/// combination, then by list.
pub(crate) struct Block<'a> {
    pub groups: &'a [[u32; WIDTH]],
    /// Items of each list.
    pub len: usize,
    /// Positions in the list of each combination's items, from the first item on.
    pub places: Vec<&'a [u32]>,
    /// Number of the first combination.
    pub first: usize,
    /// Whether the last combination is among them.
    pub is_end: bool,
}

impl Interleaved {
    /// Room that a buffer for the lists needs.
    pub fn room(offsets: &[i32]) -> usize {
        offsets.len() + (longest(offsets) + 1) * WIDTH
    }

    /// The lists with combinations of `size` items. Gives the buffer back where lists of one length are
    /// few, so that too much would be done twice, or where lists are too long. `lists` has `room`.
    pub fn new(offsets: &[i32], size: u8, mut lists: Vec<u32>) -> Result<Self, Vec<u32>> {
        let longest = longest(offsets);
        if choose(longest as u64, size) > COMBINATIONS_WRITTEN {
            return Err(lists);
        }
        let mut counts = vec![0_usize; longest + 1];
        for ends in offsets.windows(2) {
            counts[(ends[1] - ends[0]) as usize] += 1;
        }
        let (mut wanted, mut done) = (0, 0);
        for (len, count) in counts.iter().enumerate() {
            let here = choose(len as u64, size);
            wanted += here * *count as u64;
            done += here * count.next_multiple_of(WIDTH) as u64;
        }
        if done > wanted + wanted / 4 {
            return Err(lists);
        }
        let mut runs = Vec::with_capacity(longest + 1);
        let mut first = 0;
        for (len, count) in counts.iter().enumerate() {
            let count = count.next_multiple_of(WIDTH);
            runs.push(Run { len, first, count });
            first += count;
        }
        let mut next: Vec<usize> = runs.iter().map(|run| run.first).collect();
        for (list, ends) in offsets.windows(2).enumerate() {
            let next = &mut next[(ends[1] - ends[0]) as usize];
            lists[*next] = list as u32;
            *next += 1;
        }
        for (run, next) in runs.iter().zip(next) {
            if let Some(last) = next.checked_sub(1).filter(|last| *last >= run.first) {
                let last = lists[last];
                lists[next..run.first + run.count].fill(last);
            }
        }
        lists.truncate(first);
        runs.retain(|run| run.count > 0 && run.len >= usize::from(size));
        Ok(Self { size, lists, runs })
    }

    pub fn into_lists(self) -> Vec<u32> {
        self.lists
    }

    /// Items that are side by side in one block, of all its groups, at most.
    pub fn items(&self) -> usize {
        let longest = self.runs.last().map_or(0, |run| run.len);
        longest.max(INTERLEAVED_ITEMS) * WIDTH
    }

    /// Calls a function with all combinations, in blocks of at most `positions` positions.
    pub fn blocks(&self, positions: usize, mut f: impl FnMut(&Block)) {
        let most = positions / WIDTH;
        for run in &self.runs {
            let count = choose(run.len as u64, self.size) as usize;
            let mut places = vec![vec![0_u32; count]; usize::from(self.size)];
            combinations(&[0, run.len as i32], &mut places);
            let (groups, _) = self.lists[run.first..run.first + run.count].as_chunks();
            let together = (most / count).min(INTERLEAVED_ITEMS / run.len).max(1);
            for groups in groups.chunks(together) {
                let mut first = 0;
                while first < count {
                    let end = count.min(first + most / groups.len());
                    f(&Block {
                        groups,
                        len: run.len,
                        places: places.iter().map(|places| &places[first..end]).collect(),
                        first,
                        is_end: end == count,
                    });
                    first = end;
                }
            }
        }
    }
}

fn longest(offsets: &[i32]) -> usize {
    let lengths = offsets.windows(2).map(|ends| (ends[1] - ends[0]) as usize);
    lengths.max().unwrap_or(0)
}

impl Block<'_> {
    /// Combinations of each group.
    pub fn combinations(&self) -> usize {
        self.places.first().map_or(0, |places| places.len())
    }

    pub fn positions(&self) -> usize {
        self.groups.len() * self.combinations() * WIDTH
    }

    /// Lays the lists' items side by side: the first of a group's lists, the second ones ...; of lists
    /// that an earlier block began, they lie there.
    pub fn start<T: Copy>(&self, offsets: &[i32], items: &[T], out: &mut [T]) {
        if self.first > 0 {
            return;
        }
        let (out, _) = out.as_chunks_mut::<WIDTH>();
        for (lists, out) in self.groups.iter().zip(out.chunks_exact_mut(self.len)) {
            let mut own: [&[T]; WIDTH] = [&[]; WIDTH];
            for (own, list) in own.iter_mut().zip(lists) {
                *own = &items[offsets[*list as usize] as usize..][..self.len];
            }
            for (item, to) in out.iter_mut().enumerate() {
                for lane in 0..WIDTH {
                    to[lane] = own[lane][item];
                }
            }
        }
    }

    /// The values of each combination's `which`-th item, of items side by side.
    pub fn items<T: Copy>(&self, which: u8, items: &[T], out: &mut [T]) {
        let Some(places) = self.places.get(usize::from(which)) else {
            return;
        };
        let ((items, _), (out, _)) = (items.as_chunks::<WIDTH>(), out.as_chunks_mut::<WIDTH>());
        let groups = items.chunks_exact(self.len);
        for (items, out) in groups.zip(out.chunks_exact_mut(places.len())) {
            for (to, place) in out.iter_mut().zip(*places) {
                *to = items[*place as usize];
            }
        }
    }

    /// What a function makes of the sums over each combination's items, from the first on, of several
    /// columns of items side by side.
    #[inline(always)]
    pub fn of_sums<const N: usize>(
        &self,
        items: [&[f64]; N],
        out: &mut [f64],
        f: impl Fn([f64; N]) -> f64,
    ) {
        match *self.places.as_slice() {
            [a, b] => self.each([a, b], items, out, f),
            [a, b, c] => self.each([a, b, c], items, out, f),
            [a, b, c, d] => self.each([a, b, c, d], items, out, f),
            _ => (),
        }
    }

    #[inline(always)]
    fn each<const N: usize, const K: usize>(
        &self,
        places: [&[u32]; K],
        items: [&[f64]; N],
        out: &mut [f64],
        f: impl Fn([f64; N]) -> f64,
    ) {
        let count = self.combinations();
        let mut own: [&[u32]; K] = [&[]; K];
        for (own, places) in own.iter_mut().zip(places) {
            *own = &places[..count];
        }
        let items = items.map(|items| items.as_chunks::<WIDTH>().0);
        let (out, _) = out.as_chunks_mut::<WIDTH>();
        let groups = out.chunks_exact_mut(count).take(self.groups.len());
        for (group, out) in groups.enumerate() {
            // All have one length, so that one bounds check does for all.
            let mut values: [&[[f64; WIDTH]]; N] = [&[]; N];
            for (to, items) in values.iter_mut().zip(items) {
                *to = &items[group * self.len..][..self.len];
            }
            for (n, to) in out.iter_mut().enumerate() {
                let mut sums = [[0.0; N]; WIDTH];
                for c in 0..N {
                    let mut sum = values[c][own[0][n] as usize];
                    for k in 1..K {
                        let next = values[c][own[k][n] as usize];
                        for lane in 0..WIDTH {
                            sum[lane] += next[lane];
                        }
                    }
                    for lane in 0..WIDTH {
                        sums[lane][c] = sum[lane];
                    }
                }
                for lane in 0..WIDTH {
                    to[lane] = f(sums[lane]);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::super::folds::{Kept, best, sums};
    use super::*;
    use proptest::prelude::*;

    /// Offsets of lists of these lengths.
    fn offsets(lengths: &[usize]) -> Vec<i32> {
        let mut offsets = vec![0];
        for len in lengths {
            offsets.push(offsets[offsets.len() - 1] + *len as i32);
        }
        offsets
    }

    fn grouped(offsets: &[i32], size: u8) -> Option<Interleaved> {
        let room = vec![77; Interleaved::room(offsets)];
        Interleaved::new(offsets, size, room).ok()
    }

    /// The best of each list by a loop over its combinations, one after another.
    fn wanted(offsets: &[i32], size: u8, items: &[f64]) -> Vec<Option<(u64, f64, f64)>> {
        let lists = offsets.windows(2).map(|ends| {
            let count = choose((ends[1] - ends[0]) as u64, size) as usize;
            let mut places = vec![vec![0; count]; usize::from(size)];
            combinations(&[ends[0], ends[1]], &mut places);
            let sum = |n: usize| {
                let mut sum = items[places[0][n] as usize];
                for places in &places[1..] {
                    sum += items[places[n] as usize];
                }
                sum
            };
            let order = |n: &usize| (sum(*n).is_nan(), sum(*n));
            let best = (0..count).min_by(|a, b| {
                order(a)
                    .partial_cmp(&order(b))
                    .unwrap_or(order(a).0.cmp(&order(b).0))
            })?;
            let total = (0..count).map(sum).fold(0.0, |total, x| total + x);
            Some((best as u64, sum(best), total))
        });
        lists.collect()
    }

    fn check(lengths: &[usize], size: u8, positions: usize, is_grouped: bool) {
        let offsets = offsets(lengths);
        let count = offsets[offsets.len() - 1] as usize;
        let items: Vec<f64> = (0..count)
            .map(|i| match i * i % 37 {
                0 => f64::NAN,
                1 => f64::INFINITY,
                x => (x % 9) as f64 / 3.0 - 1.0,
            })
            .collect();
        let Some(lists) = grouped(&offsets, size) else {
            assert!(!is_grouped);
            return;
        };
        let mut found = vec![None; lengths.len()];
        let mut beside = vec![f64::NAN; lists.items()];
        let mut values = vec![f64::NAN; positions];
        let (mut best_kept, mut sum_kept) = (Kept::default(), Kept::default());
        lists.blocks(positions, |block| {
            let n = block.positions();
            assert!(n <= positions && n > 0);
            block.start(&offsets, &items, &mut beside);
            block.of_sums([&beside], &mut values, |[sum]| sum);
            best(
                block,
                &values[..n],
                |a, b| a >= b,
                &mut best_kept,
                |list, number, x| {
                    found[list as usize] = Some((number, x, 0.0));
                },
            );
            let plus = |sum: f64, x: f64| sum + x;
            sums(block, &values[..n], plus, &mut sum_kept, |list, sum| {
                found[list as usize].as_mut().unwrap().2 = sum;
            });
        });
        let bits = |all: &[Option<(u64, f64, f64)>]| -> Vec<_> {
            let one = |(at, x, sum): (u64, f64, f64)| (at, x.to_bits(), sum.to_bits());
            all.iter().map(|found| found.map(one)).collect()
        };
        assert_eq!(
            bits(&found),
            bits(&wanted(&offsets, size, &items)),
            "{lengths:?}"
        );
    }

    proptest! {
        #[test]
        fn each_list_is_reduced_as_if_it_were_alone(
            lengths in prop::collection::vec(0..8_usize, 0..60),
            size in 2..=4_u8,
        ) {
            // Each length four times: none is repeated too often to be worth it.
            let lengths = lengths.repeat(4);
            check(&lengths, size, 64, true);
        }
    }

    #[test]
    fn a_list_may_have_more_combinations_than_a_block() {
        for size in 2..=4 {
            check(
                &[0, 13, 2, 13, 0, 13, 13, 2, 2, 2, 5, 0, 5, 5, 5, 5, 5, 5],
                size,
                32,
                true,
            );
        }
    }

    #[test]
    fn few_lists_of_a_length_and_long_lists_are_left_to_pieces() {
        check(&[5], 3, 64, false);
        check(&[4, 5, 6, 7, 8], 2, 64, false);
        check(&[2000; 4], 3, 64, false);
        check(&[], 2, 64, true);
        check(&[0, 1, 1], 2, 64, true);
    }
}
