//! Splits the combinations of lists' items into pieces: consecutive combinations that differ only in their last
//! item, which moves on by one each time. Values of combinations are then made by copying a few neighbouring
//! values of items at a time. No position of any combination is stored.

use crate::limits::TABLED_ITEMS;
use std::ops::Range;

/// The most combinations of a piece. Readers write as many for each piece, and the next piece overwrites the
/// surplus, so that no branch depends on a piece's length.
pub(crate) const WIDTH: usize = 4;

/// Numbers that are copied at a time, and the room that buffers need after their end.
pub(crate) const ROOM: usize = 8;

/// The combinations of all lists, in order.
#[derive(Default)]
pub(crate) struct Pieces {
    /// Number of the piece's first combination; after the last piece, the number of combinations.
    pub at: Vec<u32>,
    /// Positions of the items that all combinations of the piece share, from the first on.
    pub fixed: Vec<Vec<u32>>,
    /// Position of the last item of the piece's first combination.
    pub moving: Vec<u32>,
}

impl Pieces {
    /// Pieces of the combinations of `size` items of each list.
    pub fn count(offsets: &[i32], size: u8) -> usize {
        let lengths = offsets.windows(2).map(|ends| (ends[1] - ends[0]) as usize);
        let longest = lengths.clone().max().unwrap_or(0);
        // By a list's length: the pieces that begin with an item are those of one item fewer, of the list after it.
        let mut pieces: Vec<usize> = (0..=longest).map(|n| n.div_ceil(WIDTH)).collect();
        for _ in 1..size {
            let mut sum = 0;
            for to in &mut pieces {
                (*to, sum) = (sum, sum + *to);
            }
        }
        lengths.map(|n| pieces[n]).sum()
    }

    /// Pieces of combinations of one item more than there are buffers in `fixed`. Buffers are `ROOM` longer than
    /// `Pieces::count`, and `at` is longer by one more.
    #[inline(never)]
    pub fn new(offsets: &[i32], at: Vec<u32>, fixed: Vec<Vec<u32>>, moving: Vec<u32>) -> Self {
        let mut found = Self { at, fixed, moving };
        let short = Patterns::new(found.fixed.len());
        let (mut count, mut sum) = (0, 0);
        for ends in offsets.windows(2) {
            let (start, stop) = (ends[0] as u32, ends[1] as u32);
            (count, sum) = match short.get(stop - start) {
                Some(pattern) => short.copy(pattern, start, &mut found, count, sum),
                None => found.write_list(start, stop, count, sum),
            };
        }
        found.finish(count, sum);
        found
    }

    /// Records where the last piece ends, and truncates the buffers.
    fn finish(&mut self, count: usize, sum: u32) {
        self.at[count] = sum;
        self.at.truncate(count + 1);
        self.moving.truncate(count);
        for fixed in &mut self.fixed {
            fixed.truncate(count);
        }
    }

    /// The pieces of one list from number `count` on, before which there are `sum` combinations; gives
    /// both after it.
    fn write_list(&mut self, start: u32, stop: u32, count: usize, sum: u32) -> (usize, u32) {
        let mut to = Writer {
            at: &mut self.at,
            moving: &mut self.moving,
            count,
            sum,
        };
        match self.fixed.as_mut_slice() {
            [a] => {
                for i in start..stop {
                    to.run(i + 1, stop, |n| a[n] = i);
                }
            }
            [a, b] => {
                for i in start..stop {
                    for j in i + 1..stop {
                        to.run(j + 1, stop, |n| (a[n], b[n]) = (i, j));
                    }
                }
            }
            [a, b, c] => {
                for i in start..stop {
                    for j in i + 1..stop {
                        for k in j + 1..stop {
                            to.run(k + 1, stop, |n| (a[n], b[n], c[n]) = (i, j, k));
                        }
                    }
                }
            }
            _ => (),
        }
        (to.count, to.sum)
    }

    /// Number of combinations.
    pub fn combinations(&self) -> usize {
        self.at.last().map_or(0, |end| *end as usize)
    }

    /// The range of pieces, from one on, that has at most `most` combinations: how many these are, and the next piece.
    pub fn chunk(&self, first: usize, most: usize) -> (usize, usize) {
        let last = (first + most / WIDTH).min(self.moving.len());
        let size = self.at[last].wrapping_sub(self.at[first]);
        (size as usize, last)
    }

    /// The values of each combination's `which`-th item, for some of the pieces. `out` has room for
    /// `WIDTH` more.
    #[inline(never)]
    pub fn items<T: Copy + Default>(
        &self,
        range: Range<usize>,
        which: u8,
        items: &[T],
        out: &mut [T],
    ) {
        let at = &self.at[range.clone()];
        let base = at.first().copied().unwrap_or(0);
        match self.fixed.get(usize::from(which)) {
            Some(fixed) => {
                for (at, item) in at.iter().zip(&fixed[range]) {
                    write(out, at - base, [items[*item as usize]; WIDTH]);
                }
            }
            None => {
                for (at, item) in at.iter().zip(&self.moving[range]) {
                    let next = neighbours(items, *item);
                    write(out, at - base, next);
                }
            }
        }
    }

    /// The sum of the values of each combination's items, from the first on; else as `items`.
    #[inline(never)]
    pub fn sums(&self, range: Range<usize>, items: &[f64], out: &mut [f64]) {
        let (at, moving) = (&self.at[range.clone()], &self.moving[range.clone()]);
        let value = |item: &u32| items[*item as usize];
        match self.fixed.as_slice() {
            [a] => {
                let fixed = a[range].iter().map(value);
                add(at, moving, fixed, items, out);
            }
            [a, b] => {
                let fixed = a[range.clone()].iter().zip(&b[range]);
                let fixed = fixed.map(|(a, b)| value(a) + value(b));
                add(at, moving, fixed, items, out);
            }
            [a, b, c] => {
                let fixed = a[range.clone()].iter().zip(&b[range.clone()]);
                let fixed = fixed.zip(&c[range]);
                let fixed = fixed.map(|((a, b), c)| value(a) + value(b) + value(c));
                add(at, moving, fixed, items, out);
            }
            _ => (),
        }
    }
}

/// Adds the values of the moving items to what is fixed in each piece.
#[inline(always)]
fn add(
    at: &[u32],
    moving: &[u32],
    fixed: impl Iterator<Item = f64>,
    items: &[f64],
    out: &mut [f64],
) {
    let base = at.first().copied().unwrap_or(0);
    for ((at, item), fixed) in at.iter().zip(moving).zip(fixed) {
        let mut sums = neighbours(items, *item);
        for sum in &mut sums {
            *sum += fixed;
        }
        write(out, at - base, sums);
    }
}

/// An item's value and those of the next.
#[inline(always)]
pub(super) fn neighbours<T: Copy + Default>(items: &[T], first: u32) -> [T; WIDTH] {
    match items[first as usize..].first_chunk() {
        Some(found) => *found,
        None => last(items, first),
    }
}

/// The last items, and any values after them.
#[cold]
fn last<T: Copy + Default>(items: &[T], first: u32) -> [T; WIDTH] {
    std::array::from_fn(|i| items.get(first as usize + i).copied().unwrap_or_default())
}

#[inline(always)]
pub(super) fn write<T>(out: &mut [T], at: u32, values: [T; WIDTH]) {
    if let Some(to) = out[at as usize..].first_chunk_mut() {
        *to = values;
    }
}

struct Writer<'a> {
    at: &'a mut [u32],
    moving: &'a mut [u32],
    /// Pieces so far, and combinations.
    count: usize,
    sum: u32,
}

impl Writer<'_> {
    /// The pieces of the combinations whose last items are `from .. stop`; `fix` writes the others.
    #[inline(always)]
    fn run(&mut self, from: u32, stop: u32, mut fix: impl FnMut(usize)) {
        let mut item = from;
        while item < stop {
            (self.at[self.count], self.moving[self.count]) = (self.sum, item);
            fix(self.count);
            self.count += 1;
            let size = (stop - item).min(WIDTH as u32);
            self.sum += size;
            item += size;
        }
    }
}

/// The pieces of short lists, for one list of each length. To compute them anew for each list would mispredict the
/// ends of loops.
struct Patterns {
    all: Pieces,
    /// Patterns by the length of the list.
    lists: Vec<Pattern>,
}

#[derive(Clone, Copy)]
struct Pattern {
    first: usize,
    pieces: usize,
    combinations: u32,
}

impl Patterns {
    /// Patterns of combinations of one item more than `fixed`.
    fn new(fixed: usize) -> Self {
        let mut all = Pieces::default();
        let mut lists = Vec::with_capacity(TABLED_ITEMS + 1);
        let room: usize = (0..=TABLED_ITEMS as i32)
            .map(|n| Pieces::count(&[0, n], fixed as u8 + 1))
            .sum();
        all.at = vec![0; room + ROOM];
        all.moving = vec![0; room + ROOM];
        all.fixed = vec![vec![0; room + ROOM]; fixed];
        let mut count = 0;
        for n in 0..=TABLED_ITEMS as u32 {
            let (end, combinations) = all.write_list(0, n, count, 0);
            lists.push(Pattern {
                first: count,
                pieces: end - count,
                combinations,
            });
            count = end;
        }
        Self { all, lists }
    }

    fn get(&self, len: u32) -> Option<Pattern> {
        self.lists.get(len as usize).copied()
    }

    /// Copies the pieces that `Pieces::write_list` would write for a list that begins at `start`.
    #[inline(always)]
    fn copy(
        &self,
        pattern: Pattern,
        start: u32,
        to: &mut Pieces,
        count: usize,
        sum: u32,
    ) -> (usize, u32) {
        let Pattern { first, pieces, .. } = pattern;
        // A fixed number at a time, at least once. That is enough for most lists, and no branch depends on them.
        let mut done = 0;
        loop {
            let (from, at) = (first + done, count + done);
            moved(&self.all.at[from..], &mut to.at[at..], sum);
            moved(&self.all.moving[from..], &mut to.moving[at..], start);
            for (all, to) in self.all.fixed.iter().zip(&mut to.fixed) {
                moved(&all[from..], &mut to[at..], start);
            }
            done += ROOM;
            if done >= pieces {
                break;
            }
        }
        (count + pieces, sum + pattern.combinations)
    }
}

/// The first numbers, so much larger.
#[inline(always)]
fn moved(from: &[u32], to: &mut [u32], by: u32) {
    if let (Some(from), Some(to)) = (from.first_chunk(), to.first_chunk_mut()) {
        let mut block: [u32; ROOM] = *from;
        for x in &mut block {
            *x += by;
        }
        *to = block;
    }
}
