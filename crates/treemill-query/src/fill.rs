//! The loops that add values to accumulators without axes. Values come by chunks, widened; missing ones
//! add nothing.

use crate::cells::is_present;
use crate::chunk::{Wide, for_chunks};
use crate::compile::Type;
use crate::error::QueryError;
use crate::limits::CHUNK_POSITIONS;
use crate::moments::Moments;
use crate::outcome::Number;
use crate::partial::add_extent;
use crate::sketch::Sketch;
use crate::sum::Sum;
use crate::unique::Unique;
use crate::value::Value;
use std::cmp::Ordering;

/// Adds the weights of events and their squares.
pub(crate) fn weights(weight: &Value, n: usize, sums: &mut [f64; 2]) {
    for_present(weight, n, |chunk: &[f64]| {
        sums[0] += total(chunk);
        sums[1] += chunk.iter().map(|w| w * w).sum::<f64>();
    });
}

/// Adds values, each with its weight, and tells how many.
pub(crate) fn moments(value: &Value, weight: Option<&Value>, n: usize, to: &mut Moments) -> u64 {
    let mut added = 0;
    let Some(weight) = weight else {
        for_present(value, n, |chunk: &[f64]| {
            to.count_all(chunk);
            added += chunk.len() as u64;
        });
        return added;
    };
    let (mut values, mut weights) = ([0.0; CHUNK_POSITIONS], [0.0; CHUNK_POSITIONS]);
    let mut at = 0;
    while at < n {
        let size = CHUNK_POSITIONS.min(n - at);
        f64::read(value, at, &mut values[..size]);
        f64::read(weight, at, &mut weights[..size]);
        for (i, (x, w)) in values[..size].iter().zip(&weights).enumerate() {
            if is_present(value, at + i) && is_present(weight, at + i) {
                to.add(*x, *w);
                added += 1;
            }
        }
        at += size;
    }
    added
}

/// Notes the different values.
pub(crate) fn unique(
    value: &Value,
    ty: Type,
    n: usize,
    found: &mut Unique,
) -> Result<(), QueryError> {
    let mut result = Ok(());
    let mut also = |next: Result<(), QueryError>| {
        if result.is_ok() {
            result = next;
        }
    };
    match ty {
        Type::Str => {
            for i in (0..n).filter(|i| is_present(value, *i)) {
                also(found.add_string(value.string(i)));
            }
        }
        Type::Float => for_present(value, n, |chunk: &[f64]| also(found.add_floats(chunk))),
        Type::Bool => for_present(value, n, |chunk: &[i64]| {
            chunk.iter().for_each(|x| found.add_bool(*x != 0));
        }),
        Type::Int => for_present(value, n, |chunk: &[i64]| {
            also(found.add_ints(chunk.iter().map(|x| i128::from(*x)).collect()));
        }),
        Type::UInt => for_present(value, n, |chunk: &[i64]| {
            also(found.add_ints(chunk.iter().map(|x| i128::from(*x as u64)).collect()));
        }),
    }
    result
}

/// Adds values to a sketch.
pub(crate) fn quantiles(
    value: &Value,
    n: usize,
    bounded: bool,
    to: &mut Sketch,
) -> Result<(), QueryError> {
    let mut result = Ok(());
    for_present(value, n, |chunk: &[f64]| {
        if bounded {
            to.add_bounded(chunk);
        } else if result.is_ok() {
            result = to.add(chunk);
        }
    });
    result
}

/// Calls `body` for every chunk of values that are not missing.
fn for_present<T: Wide>(value: &Value, n: usize, mut body: impl FnMut(&[T])) {
    let mut present = [T::default(); CHUNK_POSITIONS];
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
            // An extent of floats is one of floats before the first value, too.
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
