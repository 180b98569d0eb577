//! What is in the cells of a histogram's or profile's axes. A small one has all its cells in each partial.
//! A large one has a list of what was filled, in a worker's partial, until the list would take more memory
//! than the cells; when lists are merged, cells come into being, block by block where something is. So there is
//! one copy of the cells of a large result, in the merged partial, however many workers there are. Knows neither
//! expressions nor columns.

mod block;
mod list;

use crate::limits::{BLOCK_BYTES, LARGE_RESULT_BYTES, LARGE_RESULTS_BYTES};
use crate::moments::Moments;
use block::Block;
use list::List;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::fmt::Debug;
use std::ops::Range;
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

/// What accumulates in one cell. All bytes 0 is an empty one.
pub(crate) trait Cell:
    Copy
    + Debug
    + Default
    + PartialEq
    + Serialize
    + DeserializeOwned
    + Send
    + Sync
    + 'static
    + FromBytes
    + IntoBytes
    + Immutable
    + KnownLayout
{
    /// Whether its bytes travel as they are. Counts do not: most are small, and take a byte each then.
    const TRAVELS_RAW: bool;
    /// What one position adds to it.
    type Fill: Copy + Debug + PartialEq + Serialize + DeserializeOwned + Send + Sync;
    fn add(&mut self, fill: Self::Fill);
    fn merge(&mut self, other: &Self);
}

/// A count.
impl Cell for u64 {
    const TRAVELS_RAW: bool = false;
    type Fill = ();
    #[inline]
    fn add(&mut self, (): ()) {
        *self = self.wrapping_add(1);
    }
    #[inline]
    fn merge(&mut self, other: &Self) {
        *self = self.wrapping_add(*other);
    }
}

/// A sum of weights.
impl Cell for f64 {
    const TRAVELS_RAW: bool = true;
    type Fill = f64;
    #[inline]
    fn add(&mut self, weight: f64) {
        *self += weight;
    }
    #[inline]
    fn merge(&mut self, other: &Self) {
        *self += other;
    }
}

/// Sums of weights and of their squares.
impl Cell for [f64; 2] {
    const TRAVELS_RAW: bool = true;
    type Fill = f64;
    #[inline]
    fn add(&mut self, weight: f64) {
        self[0] += weight;
        self[1] += weight * weight;
    }
    #[inline]
    fn merge(&mut self, other: &Self) {
        self[0] += other[0];
        self[1] += other[1];
    }
}

/// Sums of a sample: a fill is a value and its weight.
impl Cell for Moments {
    const TRAVELS_RAW: bool = true;
    type Fill = (f64, f64);
    #[inline]
    fn add(&mut self, (x, weight): (f64, f64)) {
        Moments::add(self, x, weight);
    }
    #[inline]
    fn merge(&mut self, other: &Self) {
        Moments::merge(self, other);
    }
}

/// The cells of all axes, in C order.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(bound = "")]
pub(crate) struct Bins<C: Cell> {
    shape: Vec<u32>,
    form: Form<C>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(bound = "")]
enum Form<C: Cell> {
    /// All cells, and one more for what belongs to none: so that fills need not look.
    Small(Vec<C>),
    /// A large one: what was filled.
    List(List<C>),
    /// A large one: the blocks of cells in which something is.
    Blocks(Vec<Option<Block<C>>>),
}

/// Whether a histogram of `bytes` is a large one, in a query whose histograms take `all` bytes.
pub(crate) fn is_large(bytes: u64, all: u64) -> bool {
    bytes >= LARGE_RESULT_BYTES && all >= LARGE_RESULTS_BYTES
}

/// Cells of a block.
const fn per_block<C>() -> usize {
    BLOCK_BYTES / size_of::<C>()
}

/// The number of cells; `None`: more than there can be.
fn product(shape: &[u32]) -> Option<usize> {
    let mut sizes = shape.iter();
    let cells = sizes.try_fold(1_usize, |product, n| product.checked_mul(*n as usize));
    cells.filter(|cells| u32::try_from(*cells).is_ok())
}

impl<C: Cell> Bins<C> {
    /// Empty cells.
    pub fn new(shape: Vec<u32>, large: bool) -> Self {
        let form = match (large, product(&shape)) {
            (false, Some(cells)) => Form::Small(vec![C::default(); cells + 1]),
            _ => Form::List(List::default()),
        };
        Self { shape, form }
    }

    pub fn shape(&self) -> &[u32] {
        &self.shape
    }

    /// The number of the cells, which is also the number of the one for what belongs to none.
    pub fn cells(&self) -> usize {
        product(&self.shape).unwrap_or(0)
    }

    /// Whether both have the same axes, and are both small or large.
    pub fn is_like(&self, other: &Self) -> bool {
        let is_small = |bins: &Self| matches!(bins.form, Form::Small(_));
        self.shape == other.shape && is_small(self) == is_small(other)
    }

    /// Whether it is as the shape says: bytes from outside may say anything.
    pub fn is_sound(&self) -> bool {
        let Some(cells) = product(&self.shape) else {
            return false;
        };
        match &self.form {
            Form::Small(all) => all.len() == cells + 1,
            Form::List(list) => list.is_below(cells),
            Form::Blocks(blocks) => {
                let sizes = block_sizes::<C>(cells);
                let fits = |(block, size): (&Option<Block<C>>, usize)| {
                    block
                        .as_ref()
                        .is_none_or(|block| block.cells().len() == size)
                };
                blocks.len() == sizes.len() && blocks.iter().zip(sizes).all(fits)
            }
        }
    }

    /// Bytes of all cells of a large one; 0 of a small one.
    pub fn large_bytes(&self) -> usize {
        match &self.form {
            Form::Small(_) => 0,
            Form::List(_) | Form::Blocks(_) => self.cells().saturating_mul(size_of::<C>()),
        }
    }

    /// Bytes of the list of a large one, about.
    pub fn listed_bytes(&self) -> usize {
        match &self.form {
            Form::List(list) => list.bytes(),
            Form::Small(_) | Form::Blocks(_) => 0,
        }
    }

    /// The cells of a small one, and one more.
    pub fn small(&mut self) -> Option<&mut [C]> {
        match &mut self.form {
            Form::Small(cells) => Some(cells),
            Form::List(_) | Form::Blocks(_) => None,
        }
    }

    /// Adds fills of a large one, each to a cell; what belongs to none adds nothing.
    pub fn extend(&mut self, cells: &[u32], fills: impl Iterator<Item = C::Fill>) {
        let end = self.cells() as u32;
        let there = cells.iter().copied().zip(fills);
        let there = there.filter(|(cell, _)| *cell < end);
        match &mut self.form {
            Form::List(list) => list.extend(there, cells.len()),
            Form::Blocks(blocks) => there.for_each(|(cell, fill)| {
                let cell = cell as usize;
                let size = size_at::<C>(end as usize, cell / per_block::<C>());
                if let Some(block) = blocks.get_mut(cell / per_block::<C>()) {
                    let block = block.get_or_insert_with(|| Block::empty(size));
                    block.cells_mut()[cell % per_block::<C>()].add(fill);
                }
            }),
            Form::Small(_) => (),
        }
    }

    /// Ends a batch's fills: a list that takes more memory than the cells becomes these.
    pub fn settle(&mut self) {
        if self.listed_bytes() > self.large_bytes() {
            self.spread();
        }
    }

    /// Makes blocks of a list.
    fn spread(&mut self) {
        let cells = self.cells();
        if let Form::List(list) = &mut self.form {
            let list = std::mem::take(list);
            let mut blocks = vec![None; block_sizes::<C>(cells).len()];
            add_list(&mut blocks, &list, cells);
            self.form = Form::Blocks(blocks);
        }
    }

    /// Adds the other's, which is like it.
    pub fn merge(&mut self, other: &Self) {
        let cells = self.cells();
        if let (Form::List(ours), Form::List(theirs)) = (&mut self.form, &other.form)
            && ours.bytes() == 0
        {
            *ours = theirs.clone();
            return;
        }
        self.spread();
        match (&mut self.form, &other.form) {
            (Form::Small(ours), Form::Small(theirs)) => add_cells(ours, theirs),
            (Form::Blocks(ours), Form::List(list)) => add_list(ours, list, cells),
            (Form::Blocks(ours), Form::Blocks(theirs)) => {
                for (ours, theirs) in ours.iter_mut().zip(theirs) {
                    match (ours, theirs) {
                        (_, None) => (),
                        (ours @ None, Some(theirs)) => *ours = Some(theirs.clone()),
                        (Some(ours), Some(theirs)) => {
                            add_cells(ours.cells_mut(), theirs.cells());
                        }
                    }
                }
            }
            _ => (),
        }
    }

    /// What is in the cells now, to be read by `read`: it shares the blocks of a large one until these change.
    pub fn now(&self) -> Self {
        let mut now = self.clone();
        now.spread();
        now
    }

    /// Gives these cells to `body`, in order, in pieces. `false`: nothing is in any of them, and none was given.
    pub fn read(&self, range: Range<usize>, mut body: impl FnMut(&[C])) -> bool {
        match &self.form {
            Form::Small(cells) => {
                body(cells.get(range).unwrap_or(&[]));
                true
            }
            Form::List(_) => false,
            Form::Blocks(blocks) => {
                let per = per_block::<C>();
                let those = range.start / per..range.end.div_ceil(per);
                let some = blocks.get(those.clone()).unwrap_or(&[]);
                if some.iter().all(Option::is_none) {
                    return false;
                }
                for (number, block) in those.zip(some) {
                    let first = number * per;
                    let part = range.start.saturating_sub(first)..(range.end - first).min(per);
                    match block {
                        Some(block) => body(block.cells().get(part).unwrap_or(&[])),
                        None => part.for_each(|_| body(&[C::default()])),
                    }
                }
                true
            }
        }
    }

    /// Frees the blocks of the cells before this one, which will not be read any more.
    pub fn free_before(&mut self, cell: usize) {
        if let Form::Blocks(blocks) = &mut self.form {
            let spent = blocks.iter_mut().take(cell / per_block::<C>());
            spent.for_each(|block| *block = None);
        }
    }
}

/// The sizes of the blocks of this many cells.
fn block_sizes<C>(cells: usize) -> impl ExactSizeIterator<Item = usize> {
    (0..cells.div_ceil(per_block::<C>())).map(move |number| size_at::<C>(cells, number))
}

fn size_at<C>(cells: usize, number: usize) -> usize {
    let first = number * per_block::<C>();
    cells.saturating_sub(first).min(per_block::<C>())
}

fn add_cells<C: Cell>(to: &mut [C], from: &[C]) {
    for (to, from) in to.iter_mut().zip(from) {
        to.merge(from);
    }
}

fn add_list<C: Cell>(blocks: &mut [Option<Block<C>>], list: &List<C>, cells: usize) {
    // Whether a block is shared is asked once for each, not for each fill.
    let mut wanted = vec![false; blocks.len()];
    for (cell, _) in list.iter() {
        if let Some(wanted) = wanted.get_mut(cell as usize / per_block::<C>()) {
            *wanted = true;
        }
    }
    let opened = blocks.iter_mut().zip(wanted).enumerate();
    let mut open: Vec<&mut [C]> = opened
        .map(|(number, (block, wanted))| match wanted {
            true => block
                .get_or_insert_with(|| Block::empty(size_at::<C>(cells, number)))
                .cells_mut(),
            false => &mut [],
        })
        .collect();
    for (cell, fill) in list.iter() {
        let cell = cell as usize;
        if let Some(block) = open.get_mut(cell / per_block::<C>())
            && let Some(to) = block.get_mut(cell % per_block::<C>())
        {
            to.add(fill);
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
