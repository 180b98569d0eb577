//! Counts of floats in cells of equal relative width, from which quantiles are read.
//!
//! A cell holds the values that share sign, exponent and the first 11 bits of the mantissa, so it is
//! narrower than 2^-11 (0.05 %) of what lies in it; it keeps their number and the smallest and
//! largest of them. The cells do not depend on the order in which values come, so merging is exact:
//! a quantile is the same whatever the packets were. A value's rank is exact; the value given for it
//! lies in the right cell. Where a cell holds one value only, as with small integers, so is that.

use crate::error::QueryError;
use crate::limits::{SKETCH_BITS, SKETCH_PAGES};
use serde::{Deserialize, Serialize};

const CELLS: usize = 1 << SKETCH_BITS;
/// One page for each sign and exponent.
const PAGES: usize = 1 << 12;
/// 2^120 and 2^-120.
const HUGE: f64 = 1_329_227_995_784_915_872_903_807_060_280_344_576.0;
const TINY: f64 = 1.0 / HUGE;

#[derive(Debug, Clone, Copy, PartialEq)]
struct Cell {
    n: u64,
    low: f64,
    high: f64,
}

const EMPTY: Cell = Cell {
    n: 0,
    low: f64::INFINITY,
    high: f64::NEG_INFINITY,
};

/// The sketch of some values.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(from = "Vec<(u32, u64, f64, f64)>", into = "Vec<(u32, u64, f64, f64)>")]
pub(crate) struct Sketch {
    /// Pages by sign and exponent, in ascending order of values; none until the first value.
    pages: Vec<Option<Box<[Cell]>>>,
    used: usize,
}

/// Place of a float among all, ascending.
fn place(x: f64) -> u64 {
    // -0.0 is 0.0.
    let bits = (x + 0.0).to_bits();
    if bits >> 63 == 1 {
        !bits
    } else {
        bits | (1 << 63)
    }
}

impl Sketch {
    /// Adds values; NaN is passed over. Error: they span more powers of two than are kept.
    pub fn add(&mut self, values: &[f64]) -> Result<(), QueryError> {
        for x in values {
            if !x.is_nan() {
                let key = (place(*x) >> (52 - SKETCH_BITS)) as u32;
                self.put(key, 1, *x + 0.0, *x + 0.0);
            }
        }
        self.check()
    }

    /// Adds values, however far apart: those smaller than 2^-120 as 0, those larger than 2^120 as
    /// infinite, either of their sign. There are never too many powers of two among these.
    pub fn add_bounded(&mut self, values: &[f64]) {
        for x in values {
            if x.is_nan() {
                continue;
            }
            let size = x.abs();
            let x = if size < TINY {
                0.0
            } else if size > HUGE {
                f64::INFINITY.copysign(*x)
            } else {
                *x
            };
            self.put((place(x) >> (52 - SKETCH_BITS)) as u32, 1, x, x);
        }
    }

    fn check(&self) -> Result<(), QueryError> {
        if self.used > SKETCH_PAGES {
            return Err(QueryError::limit(format!(
                "the values of a quantile span more than {SKETCH_PAGES} powers of two (counting \
                 negative ones apart): take quantiles of their logarithm"
            )));
        }
        Ok(())
    }

    fn put(&mut self, key: u32, n: u64, low: f64, high: f64) {
        if self.pages.is_empty() {
            self.pages.resize(PAGES, None);
        }
        let (page, cell) = (key as usize >> SKETCH_BITS, key as usize & (CELLS - 1));
        let Some(slot) = self.pages.get_mut(page) else {
            return;
        };
        let used = &mut self.used;
        let cells = slot.get_or_insert_with(|| {
            *used += 1;
            vec![EMPTY; CELLS].into_boxed_slice()
        });
        if let Some(cell) = cells.get_mut(cell) {
            cell.n = cell.n.wrapping_add(n);
            cell.low = cell.low.min(low);
            cell.high = cell.high.max(high);
        }
    }

    fn cells(&self) -> impl Iterator<Item = (u32, &Cell)> {
        let pages = self.pages.iter().zip(0_u32..);
        pages
            .filter_map(|(page, number)| Some((page.as_deref()?, number)))
            .flat_map(|(cells, number)| cells.iter().zip(number << SKETCH_BITS..))
            .filter(|(cell, _)| cell.n > 0)
            .map(|(cell, key)| (key, cell))
    }

    pub fn merge(&mut self, other: &Self) -> Result<(), QueryError> {
        for (key, cell) in other.cells() {
            self.put(key, cell.n, cell.low, cell.high);
        }
        self.check()
    }

    /// The quantile at `q` (0 to 1), linear between the values of neighbouring ranks as numpy's;
    /// `None` without values.
    pub fn quantile(&self, q: f64) -> Option<f64> {
        let n: u64 = self.cells().map(|(_, cell)| cell.n).sum();
        let last = n.checked_sub(1)?;
        let rank = q.clamp(0.0, 1.0) * last as f64;
        let low = self.ranked(rank.floor() as u64)?;
        let high = self.ranked((rank.ceil() as u64).min(last))?;
        let part = rank - rank.floor();
        // Infinities have no distance.
        Some(if low == high || part == 0.0 {
            low
        } else {
            low + (high - low) * part
        })
    }

    /// The value of a rank, from 0 on.
    fn ranked(&self, rank: u64) -> Option<f64> {
        let mut before = 0_u64;
        for (_, cell) in self.cells() {
            let Some(inside) = rank.checked_sub(before).filter(|i| *i < cell.n) else {
                before += cell.n;
                continue;
            };
            if inside == 0 || cell.low == cell.high {
                return Some(cell.low);
            }
            let part = inside as f64 / (cell.n - 1) as f64;
            return Some((cell.low + (cell.high - cell.low) * part).min(cell.high));
        }
        None
    }
}

impl From<Sketch> for Vec<(u32, u64, f64, f64)> {
    fn from(sketch: Sketch) -> Self {
        let cells = sketch.cells();
        cells
            .map(|(key, cell)| (key, cell.n, cell.low, cell.high))
            .collect()
    }
}

impl From<Vec<(u32, u64, f64, f64)>> for Sketch {
    fn from(cells: Vec<(u32, u64, f64, f64)>) -> Self {
        let mut made = Self::default();
        for (key, n, low, high) in cells {
            made.put(key, n, low, high);
        }
        made
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn sketch(values: &[f64]) -> Sketch {
        let mut made = Sketch::default();
        made.add(values).unwrap_or_default();
        made
    }

    proptest! {
        #[test]
        fn within_the_bound(
            mut values in prop::collection::vec(-1e4..1e4_f64, 1..400),
            q in 0.0..=1.0_f64,
        ) {
            let found = sketch(&values).quantile(q).unwrap_or(f64::NAN);
            values.sort_by(f64::total_cmp);
            let rank = q * (values.len() - 1) as f64;
            let (low, high) = (values[rank.floor() as usize], values[rank.ceil() as usize]);
            let exact = low + (high - low) * (rank - rank.floor());
            let bound = low.abs().max(high.abs()) / 2048.0 + 1e-12;
            prop_assert!((found - exact).abs() <= bound, "{found} {exact}");
        }

        #[test]
        fn the_order_does_not_matter(
            a in prop::collection::vec(-1e3..1e3_f64, 0..50),
            b in prop::collection::vec(-1e3..1e3_f64, 0..50),
        ) {
            let whole = sketch(&[a.clone(), b.clone()].concat());
            for (first, second) in [(&a, &b), (&b, &a)] {
                let mut merged = sketch(first);
                prop_assert!(merged.merge(&sketch(second)).is_ok());
                for q in [0.0, 0.3, 1.0] {
                    prop_assert_eq!(merged.quantile(q), whole.quantile(q));
                }
            }
        }
    }

    #[test]
    fn exact_for_small_integers_and_infinities() {
        let values = sketch(&[3.0, 1.0, 2.0, f64::NAN, f64::INFINITY, -0.0]);
        assert_eq!(values.quantile(0.0), Some(0.0));
        assert_eq!(values.quantile(0.5), Some(2.0));
        assert_eq!(values.quantile(1.0), Some(f64::INFINITY));
        assert_eq!(Sketch::default().quantile(0.5), None);
    }

    #[test]
    fn a_bounded_one_takes_any_span() {
        let powers = || (-1074..1024).map(|i| 2_f64.powi(i));
        let values: Vec<f64> = powers().chain(powers().map(|x| -x)).collect();
        let mut made = Sketch::default();
        made.add_bounded(&values);
        assert!(made.check().is_ok());
        assert_eq!(made.quantile(0.5), Some(0.0));
        assert_eq!(made.quantile(1.0), Some(f64::INFINITY));
        assert_eq!(made.quantile(0.0), Some(f64::NEG_INFINITY));
        let mut plain = Sketch::default();
        plain.add_bounded(&[1.0, 2.0, -0.0, f64::NAN]);
        assert_eq!(plain, sketch(&[1.0, 2.0, 0.0]));
    }

    #[test]
    fn too_wide_a_span_is_refused() {
        let values: Vec<f64> = (0..1000).map(|i| 2_f64.powi(i)).collect();
        assert!(Sketch::default().add(&values).is_err());
    }
}
