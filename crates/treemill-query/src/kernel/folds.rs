//! Reductions of lists that lie side by side, block by block: one value of each list. Knows no expression.

use super::interleaved::Block;
use super::pieces::WIDTH;

/// What has been found of the lists of one group whose combinations are in several blocks.
#[derive(Clone, Copy)]
pub(crate) struct Kept<T> {
    values: [T; WIDTH],
    /// Whole numbers, in the type of the values: one comparison then chooses both in the same way.
    numbers: [f64; WIDTH],
}

impl<T: Default + Copy> Default for Kept<T> {
    fn default() -> Self {
        Self {
            values: [T::default(); WIDTH],
            numbers: [0.0; WIDTH],
        }
    }
}

/// The best value of each list and its number, as `reduce::best` has it: of equal ones the first, NaN
/// last. `is_after(a, b)`: b comes before a, or is equal. Calls `found(list, number, value)`.
#[inline(always)]
pub(crate) fn best(
    block: &Block,
    values: &[f64],
    is_after: impl Fn(f64, f64) -> bool,
    kept: &mut Kept<f64>,
    mut found: impl FnMut(u32, u64, f64),
) {
    let (values, _) = values.as_chunks::<WIDTH>();
    for (lists, values) in block.groups.iter().zip(values.chunks(block.combinations())) {
        let mut best = match (block.first, values) {
            (0, [first, ..]) => Kept {
                values: *first,
                numbers: [0.0; WIDTH],
            },
            _ => *kept,
        };
        for (i, xs) in values.iter().enumerate() {
            let number = (block.first + i) as f64;
            for (lane, x) in xs.iter().enumerate() {
                // Not after it, or it is NaN; and no NaN itself.
                let is_better = !is_after(*x, best.values[lane]) & !x.is_nan();
                best.values[lane] = if is_better { *x } else { best.values[lane] };
                best.numbers[lane] = if is_better {
                    number
                } else {
                    best.numbers[lane]
                };
            }
        }
        *kept = best;
        if block.is_end {
            for (lane, list) in lists.iter().enumerate() {
                found(*list, best.numbers[lane] as u64, best.values[lane]);
            }
        }
    }
}

/// The sum of each list, in order from 0 on. Calls `found(list, sum)`.
#[inline(always)]
pub(crate) fn sums<T: Copy, S: Copy + Default>(
    block: &Block,
    values: &[T],
    plus: impl Fn(S, T) -> S,
    kept: &mut Kept<S>,
    mut found: impl FnMut(u32, S),
) {
    let (values, _) = values.as_chunks::<WIDTH>();
    for (lists, values) in block.groups.iter().zip(values.chunks(block.combinations())) {
        if block.first == 0 {
            *kept = Kept::default();
        }
        let mut sums = kept.values;
        for xs in values {
            for (sum, x) in sums.iter_mut().zip(xs) {
                *sum = plus(*sum, *x);
            }
        }
        kept.values = sums;
        if block.is_end {
            for (list, sum) in lists.iter().zip(sums) {
                found(*list, sum);
            }
        }
    }
}
