//! The loops that add values to accumulators. Values come by chunks, widened; where there are none
//! to be had (missing), nothing is added.

use crate::axis::{Axis, DROP, Takes};
use crate::chunk::{CHUNK, Wide, for_chunks};
use crate::compile::Type;
use crate::partial::{Number, Sum, add_extent};
use crate::value::{Data, Value};
use std::cmp::Ordering;

/// Room for a chunk in every form that it takes.
struct Buffers {
    reals: [f64; CHUNK],
    integers: [i64; CHUNK],
    bools: [u8; CHUNK],
}

impl Buffers {
    fn new() -> Self {
        Self {
            reals: [0.0; CHUNK],
            integers: [0; CHUNK],
            bools: [0; CHUNK],
        }
    }

    /// Cells of an axis for the positions from `at` on, as many as `out` has.
    fn axis(&mut self, axis: &Axis, value: &Value, at: usize, out: &mut [u32]) {
        let n = out.len();
        match axis.takes() {
            Takes::Reals => axis.reals(chunk(value, at, n, &mut self.reals), out),
            Takes::Integers => {
                let chunk = chunk(value, at, n, &mut self.integers);
                if matches!(value.data, Data::U64(_)) {
                    axis.unsigned(chunk, out);
                } else {
                    axis.integers(chunk, out);
                }
            }
            Takes::Bools => {
                // By way of integers, so that no upper bits are lost.
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

/// Cells of all axes together, for `n` positions, handed out by chunks. `last` is the number of the
/// cell for what belongs to none.
fn for_cells(
    axes: &[Axis],
    values: &[&Value],
    weight: Option<&Value>,
    n: usize,
    last: u32,
    mut body: impl FnMut(usize, &[u32]),
) {
    let mut buffers = Buffers::new();
    let mut cells = [0_u32; CHUNK];
    let mut next = [0_u32; CHUNK];
    // Whether any position can belong to no cell.
    let dropped = axes.iter().any(Axis::drops)
        || values
            .iter()
            .copied()
            .chain(weight)
            .any(|value| value.valid.is_some());
    let mut at = 0;
    while at < n {
        let size = CHUNK.min(n - at);
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
        if let Some(weight) = weight {
            drop_missing(weight, at, cells);
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
pub(crate) fn count(axes: &[Axis], values: &[&Value], n: usize, counts: &mut [u64]) {
    let Some(last) = counts.len().checked_sub(1) else {
        return;
    };
    for_cells(axes, values, None, n, last as u32, |_, cells| {
        for cell in cells {
            // Always there: cells end at `last`.
            if let Some(count) = counts.get_mut(*cell as usize) {
                *count += 1;
            }
        }
    });
}

/// Adds each position's weight and its square.
pub(crate) fn weigh(
    axes: &[Axis],
    values: &[&Value],
    weight: &Value,
    n: usize,
    sums: &mut [[f64; 2]],
) {
    let Some(last) = sums.len().checked_sub(1) else {
        return;
    };
    let mut buffer = [0.0; CHUNK];
    for_cells(axes, values, Some(weight), n, last as u32, |at, cells| {
        let weights = chunk(weight, at, cells.len(), &mut buffer);
        for (cell, w) in cells.iter().zip(weights) {
            if let Some(to) = sums.get_mut(*cell as usize) {
                to[0] += w;
                to[1] += w * w;
            }
        }
    });
}

/// Calls `body` for every chunk of values that are not missing.
fn for_present<T: Wide>(value: &Value, n: usize, mut body: impl FnMut(&[T])) {
    let mut present = [T::default(); CHUNK];
    for_chunks(value, n, |at, chunk: &[T]| {
        let Some(valid) = &value.valid else {
            return body(chunk);
        };
        let mut count = 0;
        for (i, x) in chunk.iter().enumerate() {
            let flag = if value.is_scalar() {
                valid[0]
            } else {
                valid[at + i]
            };
            present[count] = *x;
            count += usize::from(flag != 0);
        }
        body(&present[..count]);
    });
}

/// Adds all values.
pub(crate) fn add(value: &Value, ty: Type, n: usize, sum: &mut Sum) {
    match ty {
        Type::Float | Type::Str => {
            // That there are floats counts also where there are none yet.
            sum.add_real(0.0, 0);
            for_present(value, n, |chunk: &[f64]| {
                sum.add_real(total(chunk), chunk.len() as u64);
            });
        }
        Type::UInt => for_present(value, n, |chunk: &[i64]| {
            let total = chunk.iter().map(|x| i128::from(*x as u64)).sum();
            sum.add_int(total, chunk.len() as u64);
        }),
        Type::Int | Type::Bool => for_present(value, n, |chunk: &[i64]| {
            let total = chunk.iter().map(|x| i128::from(*x)).sum();
            sum.add_int(total, chunk.len() as u64);
        }),
    }
}

/// Sum of a chunk, in eight lanes.
fn total(values: &[f64]) -> f64 {
    let mut lanes = [0.0; 8];
    let eights = values.chunks_exact(8);
    let rest: f64 = eights.remainder().iter().sum();
    for eight in eights {
        for (lane, x) in lanes.iter_mut().zip(eight) {
            *lane += x;
        }
    }
    lanes.iter().sum::<f64>() + rest
}

/// Smallest and largest value; floats that are not `wanted` are passed over.
pub(crate) fn extent(
    value: &Value,
    ty: Type,
    n: usize,
    wanted: impl Fn(f64) -> bool,
    found: &mut Option<(Number, Number, u64)>,
) {
    match ty {
        Type::Float | Type::Str => for_present(value, n, |chunk: &[f64]| {
            let (mut low, mut high, mut n) = (f64::INFINITY, f64::NEG_INFINITY, 0_u64);
            for x in chunk {
                let counts = wanted(*x);
                low = if counts && *x < low { *x } else { low };
                high = if counts && *x > high { *x } else { high };
                n += u64::from(counts);
            }
            if n > 0 {
                add_extent(found, (Number::Float(low), Number::Float(high), n));
            }
        }),
        Type::Bool => integers(value, n, found, |x| Number::Bool(x != 0), |x| x),
        Type::Int => integers(value, n, found, |x| Number::Int(i128::from(x)), |x| x),
        // The order of u64 is that of i64 with the uppermost bit turned.
        Type::UInt => integers(
            value,
            n,
            found,
            |x| Number::Int(i128::from(x as u64)),
            |x| x ^ i64::MIN,
        ),
    }
}

fn integers(
    value: &Value,
    n: usize,
    found: &mut Option<(Number, Number, u64)>,
    number: impl Fn(i64) -> Number,
    key: impl Fn(i64) -> i64,
) {
    for_present(value, n, |chunk: &[i64]| {
        let low = chunk.iter().copied().min_by_key(|x| key(*x));
        let high = chunk.iter().copied().max_by_key(|x| key(*x));
        if let (Some(low), Some(high)) = (low, high) {
            add_extent(found, (number(low), number(high), chunk.len() as u64));
        }
    });
}

/// Adds the smallest (`Less`) or largest (`Greater`) value.
pub(crate) fn best(
    value: &Value,
    ty: Type,
    n: usize,
    wanted: Ordering,
    found: &mut Option<Number>,
) {
    let mut range = None;
    extent(value, ty, n, |x| !x.is_nan(), &mut range);
    if let Some((low, high, _)) = range {
        let new = if wanted == Ordering::Less { low } else { high };
        *found = Some(found.map_or(new, |old| old.better(new, wanted)));
    }
}
