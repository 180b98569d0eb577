//! The loops that add values to the cells of axes: histograms and profiles. A missing
//! value, weight or sample adds nothing.

use crate::axis::{Axis, DROP, Takes};
use crate::binned::Binned;
use crate::bins::{Bins, Cell};
use crate::chunk::Wide;
use crate::limits::CHUNK_POSITIONS;
use crate::moments::Moments;
use crate::value::{Data, Value, View};
use std::iter::repeat;

/// Room for a chunk in every form that it takes.
struct Buffers {
    reals: [f64; CHUNK_POSITIONS],
    integers: [i64; CHUNK_POSITIONS],
    bools: [u8; CHUNK_POSITIONS],
}

impl Buffers {
    fn new() -> Self {
        Self {
            reals: [0.0; CHUNK_POSITIONS],
            integers: [0; CHUNK_POSITIONS],
            bools: [0; CHUNK_POSITIONS],
        }
    }

    /// Cells of an axis for the positions from `at` on, as many as `out` has.
    fn axis(&mut self, axis: &Axis, value: &Value, at: usize, out: &mut [u32]) {
        let n = out.len();
        match axis.takes() {
            Takes::Reals => match (&value.data, &value.view) {
                // Most columns are of this type: no copy is made of what is widened.
                (Data::F32(all), View::Direct) => axis.reals(&all[at..at + n], out),
                _ => axis.reals(chunk(value, at, n, &mut self.reals), out),
            },
            Takes::Integers => {
                let chunk = chunk(value, at, n, &mut self.integers);
                if matches!(value.data, Data::U64(_)) {
                    axis.unsigned(chunk, out);
                } else {
                    axis.integers(chunk, out);
                }
            }
            Takes::Bools => {
                // Through integers, so that no upper bits are lost.
                let chunk = chunk(value, at, n, &mut self.integers);
                for (to, x) in self.bools.iter_mut().zip(chunk) {
                    *to = u8::from(*x != 0);
                }
                axis.bools(&self.bools[..n], out);
            }
            Takes::Strings => {
                for (i, to) in out.iter_mut().enumerate() {
                    *to = axis.string(value.string(at + i));
                }
            }
        }
        drop_missing(value, at, out);
    }
}

/// Cells that several bookings fill, of one batch.
pub(crate) struct Cells {
    found: Vec<Option<Vec<u32>>>,
}

impl Cells {
    /// Room for the cells of `shared` groups of bookings.
    pub fn new(shared: usize) -> Self {
        Self {
            found: vec![None; shared],
        }
    }
}

/// Cells of all axes together, for `n` positions, handed out by chunks. `last` is the number of the
/// cell for what belongs to none.
fn for_cells(
    binned: &Binned,
    values: &[&Value],
    n: usize,
    last: u32,
    shared: &mut Cells,
    mut body: impl FnMut(usize, &[u32]),
) {
    let Some(place) = binned.shared.and_then(|id| shared.found.get_mut(id)) else {
        return find_cells(&binned.axes, values, n, last, body);
    };
    let all = place.get_or_insert_with(|| {
        let mut all = Vec::with_capacity(n);
        find_cells(&binned.axes, values, n, last, |_, cells| {
            all.extend_from_slice(cells);
        });
        all
    });
    for (i, cells) in all.chunks(CHUNK_POSITIONS).enumerate() {
        body(i * CHUNK_POSITIONS, cells);
    }
}

fn find_cells(
    axes: &[Axis],
    values: &[&Value],
    n: usize,
    last: u32,
    mut body: impl FnMut(usize, &[u32]),
) {
    let mut buffers = Buffers::new();
    let mut cells = [0_u32; CHUNK_POSITIONS];
    let mut next = [0_u32; CHUNK_POSITIONS];
    // Whether any position can belong to no cell.
    let dropped = axes.iter().any(Axis::drops) || values.iter().any(|value| value.valid.is_some());
    let mut at = 0;
    while at < n {
        let size = CHUNK_POSITIONS.min(n - at);
        let cells = &mut cells[..size];
        for (i, (axis, value)) in axes.iter().zip(values).enumerate() {
            if i == 0 {
                buffers.axis(axis, value, at, cells);
                continue;
            }
            let next = &mut next[..size];
            buffers.axis(axis, value, at, next);
            let extent = axis.cells();
            for (to, cell) in cells.iter_mut().zip(&*next) {
                // Products stay below 2^27: the cells of a booking are limited to that.
                let both = (*to & !DROP)
                    .wrapping_mul(extent)
                    .wrapping_add(*cell & !DROP);
                *to = both | ((*to | *cell) & DROP);
            }
        }
        if dropped {
            for cell in cells.iter_mut() {
                *cell = (*cell).min(last);
            }
        }
        body(at, cells);
        at += size;
    }
}

fn chunk<'a, T: Wide>(value: &'a Value, at: usize, n: usize, buffer: &'a mut [T]) -> &'a [T] {
    match T::direct(value) {
        Some(all) => &all[at..at + n],
        None => {
            T::read(value, at, &mut buffer[..n]);
            &buffer[..n]
        }
    }
}

fn drop_missing(value: &Value, at: usize, cells: &mut [u32]) {
    if let Some(valid) = &value.valid {
        let present = if value.is_scalar() {
            // One flag for all.
            if valid.first() == Some(&0) {
                cells.fill(DROP);
            }
            return;
        } else {
            &valid[at..]
        };
        for (cell, present) in cells.iter_mut().zip(present) {
            *cell |= if *present == 0 { DROP } else { 0 };
        }
    }
}

/// Adds one to the cell of each of `n` positions.
pub(crate) fn count(
    binned: &Binned,
    values: &[&Value],
    n: usize,
    shared: &mut Cells,
    bins: &mut Bins<u64>,
) {
    let last = bins.cells() as u32;
    let Some(counts) = bins.small() else {
        for_cells(binned, values, n, last, shared, |_, cells| {
            bins.extend(cells, repeat(()));
        });
        return bins.settle();
    };
    for_cells(binned, values, n, last, shared, |_, cells| {
        for cell in cells {
            // Always there: cells end at `last`.
            if let Some(count) = counts.get_mut(*cell as usize) {
                *count += 1;
            }
        }
    });
}

/// Adds each position's weight. Gives the number of positions that are in a cell.
pub(crate) fn weigh<C: Cell<Fill = f64>>(
    binned: &Binned,
    values: &[&Value],
    weight: &Value,
    n: usize,
    shared: &mut Cells,
    bins: &mut Bins<C>,
) -> u64 {
    let last = bins.cells();
    let mut fills = 0;
    let mut buffer = [0.0; CHUNK_POSITIONS];
    let mut there = [0; CHUNK_POSITIONS];
    for_cells(binned, values, n, last as u32, shared, |at, cells| {
        let weights = chunk(weight, at, cells.len(), &mut buffer);
        let cells = match &weight.valid {
            None => cells,
            Some(_) => {
                for (i, (to, cell)) in there.iter_mut().zip(cells).enumerate() {
                    let is_there = is_present(weight, at + i);
                    *to = if is_there { *cell } else { last as u32 };
                }
                &there[..cells.len()]
            }
        };
        fills += kept(cells, last);
        match bins.small() {
            Some(sums) => {
                for (cell, w) in cells.iter().zip(weights) {
                    // Always there: cells end at `last`.
                    if let Some(to) = sums.get_mut(*cell as usize) {
                        to.add(*w);
                    }
                }
            }
            None => bins.extend(cells, weights.iter().copied()),
        }
    });
    bins.settle();
    fills
}

/// The number of positions that are in a cell.
fn kept(cells: &[u32], last: usize) -> u64 {
    cells.iter().filter(|cell| **cell as usize != last).count() as u64
}

/// Adds each position's sample to the mean of its cell. Gives the number of positions that are in a cell.
pub(crate) fn profile(
    binned: &Binned,
    values: &[&Value],
    sample: &Value,
    weight: Option<&Value>,
    n: usize,
    shared: &mut Cells,
    bins: &mut Bins<Moments>,
) -> u64 {
    let last = bins.cells();
    let mut fills = 0;
    let (mut samples, mut weights) = ([0.0; CHUNK_POSITIONS], [0.0; CHUNK_POSITIONS]);
    let mut there = [0; CHUNK_POSITIONS];
    for_cells(binned, values, n, last as u32, shared, |at, cells| {
        let is_there = |i: usize| {
            let all = [Some(sample), weight].into_iter().flatten();
            all.into_iter().all(|value| is_present(value, at + i))
        };
        for (i, (to, cell)) in there.iter_mut().zip(cells).enumerate() {
            *to = if is_there(i) { *cell } else { last as u32 };
        }
        let cells = &there[..cells.len()];
        fills += kept(cells, last);
        let samples = chunk(sample, at, cells.len(), &mut samples);
        let weights = weight.map(|weight| chunk(weight, at, cells.len(), &mut weights));
        let pairs = cells.iter().zip(samples);
        match (bins.small(), weights) {
            (Some(means), Some(weights)) => {
                for ((cell, x), weight) in pairs.zip(weights) {
                    // Always there: cells end at `last`.
                    if let Some(to) = means.get_mut(*cell as usize) {
                        to.add(*x, *weight);
                    }
                }
            }
            (Some(means), None) => {
                for (cell, x) in pairs {
                    if let Some(to) = means.get_mut(*cell as usize) {
                        to.count(*x);
                    }
                }
            }
            (None, Some(weights)) => {
                bins.extend(cells, samples.iter().copied().zip(weights.iter().copied()));
            }
            (None, None) => bins.extend(cells, samples.iter().map(|x| (*x, 1.0))),
        }
    });
    bins.settle();
    fills
}

/// Whether there is a value at a position.
pub(crate) fn is_present(value: &Value, i: usize) -> bool {
    match &value.valid {
        None => true,
        Some(valid) => valid.get(if value.is_scalar() { 0 } else { i }) != Some(&0),
    }
}
