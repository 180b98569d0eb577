//! The numbers of a tree's leaves, in tables of a few lengths: an index that is cut off at the length needs no check, and
//! no branch.

use crate::limits::ROWS;
use crate::trees::rank::Rank;
use crate::trees::real::Real;

/// The numbers of up to 256 leaves.
#[derive(Debug, Clone)]
pub(crate) enum Leaves<T> {
    Few(Box<[T; 32]>),
    More(Box<[T; 64]>),
    Most(Box<[T; 256]>),
}

impl<T: Real> Leaves<T> {
    pub fn new(leaves: &[T]) -> Self {
        match leaves.len() {
            0..=32 => Self::Few(table(leaves)),
            33..=64 => Self::More(table(leaves)),
            _ => Self::Most(table(leaves)),
        }
    }

    /// Adds the number of each row's leaf.
    pub fn add<R: Rank>(&self, leaf: &[R; ROWS], sum: &mut [T; ROWS]) {
        match self {
            Self::Few(all) => added(all, leaf, sum),
            Self::More(all) => added(all, leaf, sum),
            Self::Most(all) => added(all, leaf, sum),
        }
    }
}

fn table<T: Real, const N: usize>(leaves: &[T]) -> Box<[T; N]> {
    let mut all = Box::new([T::ZERO; N]);
    for (to, leaf) in all.iter_mut().zip(leaves) {
        *to = *leaf;
    }
    all
}

fn added<R: Rank, T: Real, const N: usize>(all: &[T; N], leaf: &[R; ROWS], sum: &mut [T; ROWS]) {
    for (sum, leaf) in sum.iter_mut().zip(leaf) {
        // N is a power of two.
        let leaf = leaf.index() & N.wrapping_sub(1);
        *sum = sum.plus(all.get(leaf).copied().unwrap_or(T::ZERO));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_row_gets_the_number_of_its_leaf() {
        for count in [1, 2, 31, 32, 33, 64, 65, 200, 256_u16] {
            let numbers: Vec<f64> = (0..count).map(|i| f64::from(i) + 0.5).collect();
            let mut leaf = [0_u8; ROWS];
            for (row, to) in (0_u16..).zip(&mut leaf) {
                *to = u8::try_from(row.wrapping_mul(7) % count).unwrap_or(0);
            }
            let mut sum = [1.0; ROWS];
            Leaves::new(&numbers).add(&leaf, &mut sum);
            for (sum, leaf) in sum.iter().zip(&leaf) {
                assert_eq!(*sum, f64::from(*leaf) + 1.5, "of {count}");
            }
        }
    }
}
