//! Numbers that are a function of the inputs' bits: XXH64 of them is the seed of a PCG generator, whose
//! first numbers make one of a distribution.

use crate::corrections::variable::{Argument, Slot};
use crate::limits::{DRAWN_ROWS, HASHED_INPUTS, SEED_INPUTS};
use std::ops::Range;
use xxhash_rust::xxh64::xxh64;

/// What numbers are drawn from.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Distribution {
    /// Uniform in [0, 1).
    Flat,
    /// Mean 0, standard deviation 1, as libstdc++ makes it.
    StandardNormal,
    /// Mean 0, standard deviation 1, as correctionlib makes it.
    Normal,
}

const MULTIPLIER: u64 = 6_364_136_223_846_793_005;
const INCREMENT: u64 = 1_442_695_040_888_963_407;

/// PCG with 64 bits of state and 32 bits of output, of one sequence (`pcg32_oneseq`).
struct Generator(u64);

impl Generator {
    fn new(seed: u64) -> Self {
        Self(
            seed.wrapping_add(INCREMENT)
                .wrapping_mul(MULTIPLIER)
                .wrapping_add(INCREMENT),
        )
    }

    fn next(&mut self) -> u32 {
        let state = self.0;
        self.0 = state.wrapping_mul(MULTIPLIER).wrapping_add(INCREMENT);
        let mixed = (((state >> 18) ^ state) >> 27) as u32;
        mixed.rotate_right((state >> 59) as u32)
    }

    /// A number in [0, 1), as libstdc++'s `generate_canonical` makes it of two numbers.
    fn unit(&mut self) -> f64 {
        const RANGE: f64 = 4_294_967_296.0;
        let low = f64::from(self.next());
        let sum = low + f64::from(self.next()) * RANGE;
        let unit = sum / (RANGE * RANGE);
        if unit >= 1.0 {
            1.0_f64.next_down()
        } else {
            unit
        }
    }

    /// A number in [-1, 1).
    fn sided(&mut self) -> f64 {
        f64::from(self.next()) / 2_147_483_648.0 - 1.0
    }
}

/// The bits of an input that are hashed.
fn bits(slot: &Slot<'_>) -> u64 {
    match slot {
        Slot::Real(x) => x.to_bits(),
        Slot::Integer(x) => *x as u64,
        Slot::Text(_) => 0,
    }
}

// XXH64's primes.
const P1: u64 = 0x9E37_79B1_85EB_CA87;
const P2: u64 = 0xC2B2_AE3D_27D4_EB4F;
const P3: u64 = 0x1656_67B1_9E37_79F9;
const P4: u64 = 0x85EB_CA77_C2B2_AE63;
const P5: u64 = 0x27D4_EB2F_1656_67C5;

/// XXH64, with the seed 0, of fewer than four words. Longer inputs are hashed in another way.
#[inline(always)]
fn hashed(words: impl ExactSizeIterator<Item = u64>) -> u64 {
    let length = (words.len() as u64).wrapping_mul(8);
    let mut hash = P5.wrapping_add(length);
    for word in words {
        hash ^= word.wrapping_mul(P2).rotate_left(31).wrapping_mul(P1);
        hash = hash.rotate_left(27).wrapping_mul(P1).wrapping_add(P4);
    }
    hash = (hash ^ (hash >> 33)).wrapping_mul(P2);
    hash = (hash ^ (hash >> 29)).wrapping_mul(P3);
    hash ^ (hash >> 32)
}

/// The hash of the inputs' bits.
fn seed(inputs: &[usize], slots: &[Slot<'_>]) -> u64 {
    let bits = inputs
        .iter()
        .filter_map(|input| slots.get(*input))
        .map(bits);
    let mut few = [0_u8; 8 * SEED_INPUTS];
    if inputs.len() > SEED_INPUTS {
        let bytes: Vec<u8> = bits.flat_map(u64::to_le_bytes).collect();
        return xxh64(&bytes, 0);
    }
    let mut length = 0_usize;
    for (to, bits) in few.chunks_exact_mut(8).zip(bits) {
        to.copy_from_slice(&bits.to_le_bytes());
        length = length.saturating_add(8);
    }
    xxh64(few.get(..length).unwrap_or_default(), 0)
}

/// Two numbers of a square in which a circle lies, and the one of them that is the result's direction.
type Pair = (f64, f64);

impl Distribution {
    /// Two numbers on both sides of 0, the second of which makes the result.
    #[inline(always)]
    fn pair(self, generator: &mut Generator) -> Pair {
        match self {
            Self::Normal => {
                let u = generator.sided();
                let v = generator.sided();
                (v, u)
            }
            Self::StandardNormal | Self::Flat => {
                let x = 2.0 * generator.unit() - 1.0;
                let y = 2.0 * generator.unit() - 1.0;
                (x, y)
            }
        }
    }

    /// Whether a pair with this sum of squares lies in the circle.
    #[inline(always)]
    fn takes(self, square: f64) -> bool {
        let is_inside = match self {
            Self::Normal => square < 1.0,
            Self::StandardNormal | Self::Flat => square <= 1.0,
        };
        is_inside & (square != 0.0)
    }
}

/// The sum of a pair's squares, in the order in which correctionlib adds them.
#[inline(always)]
fn square(distribution: Distribution, (other, chosen): Pair) -> f64 {
    match distribution {
        Distribution::Normal => chosen * chosen + other * other,
        Distribution::StandardNormal | Distribution::Flat => other * other + chosen * chosen,
    }
}

#[inline(always)]
fn normal(chosen: f64, square: f64) -> f64 {
    chosen * (-2.0 * square.ln() / square).sqrt()
}

/// The number of a distribution for these inputs.
pub(crate) fn drawn(distribution: Distribution, inputs: &[usize], slots: &[Slot<'_>]) -> f64 {
    let mut generator = Generator::new(seed(inputs, slots));
    if distribution == Distribution::Flat {
        return generator.unit();
    }
    loop {
        let pair = distribution.pair(&mut generator);
        let square = square(distribution, pair);
        if distribution.takes(square) {
            return normal(pair.1, square);
        }
    }
}

/// Draws like `drawn` for many rows, from the inputs' columns; `None` if there are too many inputs.
pub(crate) fn drawn_of_rows(
    distribution: Distribution,
    inputs: &[Argument<'_>],
    rows: Range<usize>,
    out: &mut [f64],
) -> Option<()> {
    let mut at = rows.start;
    for out in out.chunks_mut(DRAWN_ROWS) {
        let mut words = [[0_u64; DRAWN_ROWS]; HASHED_INPUTS];
        for (to, input) in words.iter_mut().zip(inputs) {
            input.bits(at, to.get_mut(..out.len())?)?;
        }
        let mut seeds = [0_u64; DRAWN_ROWS];
        let [a, b, c] = &words;
        match inputs.len() {
            1 => seeds
                .iter_mut()
                .zip(a)
                .for_each(|(to, a)| *to = hashed([*a].into_iter())),
            2 => {
                for ((to, a), b) in seeds.iter_mut().zip(a).zip(b) {
                    *to = hashed([*a, *b].into_iter());
                }
            }
            3 => {
                for (((to, a), b), c) in seeds.iter_mut().zip(a).zip(b).zip(c) {
                    *to = hashed([*a, *b, *c].into_iter());
                }
            }
            _ => return None,
        }
        match distribution {
            Distribution::Flat => {
                for (to, seed) in out.iter_mut().zip(&seeds) {
                    *to = Generator::new(*seed).unit();
                }
            }
            Distribution::StandardNormal => normals::<true>(&seeds, out),
            Distribution::Normal => normals::<false>(&seeds, out),
        }
        at = at.saturating_add(DRAWN_ROWS);
    }
    Some(())
}

/// Normal numbers for all seeds. Those that a pair gives none for wait for the next round: which they are is not
/// foreseeable, and a loop for each would mispredict its end.
#[inline(always)]
fn normals<const STANDARD: bool>(seeds: &[u64; DRAWN_ROWS], out: &mut [f64]) {
    let distribution = match STANDARD {
        true => Distribution::StandardNormal,
        false => Distribution::Normal,
    };
    let mut generators = [const { Generator(0) }; DRAWN_ROWS];
    let mut squares = [1.0_f64; DRAWN_ROWS];
    let mut waiting = [0_u8; DRAWN_ROWS];
    let mut count = 0_usize;
    let rows = (0_u8..=u8::MAX).zip(&mut generators).zip(seeds);
    for (((row, generator), seed), (to, of)) in rows.zip(out.iter_mut().zip(&mut squares)) {
        *generator = Generator::new(*seed);
        let pair = distribution.pair(generator);
        (*to, *of) = (pair.1, square(distribution, pair));
        if let Some(next) = waiting.get_mut(count) {
            *next = row;
        }
        count = count.saturating_add(usize::from(!distribution.takes(*of)));
    }
    while count > 0 {
        let mut left = 0_usize;
        for place in 0..count {
            let row = waiting.get(place).copied().unwrap_or_default();
            let number = usize::from(row);
            if let (Some(generator), Some(to), Some(of)) = (
                generators.get_mut(number),
                out.get_mut(number),
                squares.get_mut(number),
            ) {
                let pair = distribution.pair(generator);
                (*to, *of) = (pair.1, square(distribution, pair));
                if let Some(next) = waiting.get_mut(left) {
                    *next = row;
                }
                left = left.saturating_add(usize::from(!distribution.takes(*of)));
            }
        }
        count = left;
    }
    for (to, of) in out.iter_mut().zip(&squares) {
        *to = normal(*to, *of);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers that correctionlib's own tests know.
    #[test]
    fn they_are_correctionlibs() {
        let slots = [Slot::Real(1.2), Slot::Real(2.3), Slot::Integer(5)];
        let drawn = |of| drawn(of, &[0, 1, 2], &slots);
        assert_eq!(drawn(Distribution::Normal), -1.263776278956304);
        assert_eq!(drawn(Distribution::Flat), 0.5312947726732237);
        let known = [0.5320038585132821, 2.227655564267796];
        assert!(known.contains(&drawn(Distribution::StandardNormal)));
    }

    #[test]
    fn many_rows_are_as_each_alone() {
        let reals: Vec<f64> = (0..1000_u32).map(|i| f64::from(i) * 0.37 - 20.0).collect();
        let integers: Vec<i64> = (0..1000).map(|i| i * i - 300).collect();
        let one = [2.5];
        let columns = [
            Argument::Real(&reals),
            Argument::Integer(&integers),
            Argument::Real(&one),
        ];
        for distribution in [
            Distribution::Flat,
            Distribution::StandardNormal,
            Distribution::Normal,
        ] {
            for number in 1..=3 {
                let inputs: Vec<usize> = (0..number).collect();
                let some: Vec<Argument<'_>> = columns.iter().take(number).copied().collect();
                let mut out = vec![f64::NAN; 700];
                let found = drawn_of_rows(distribution, &some, 200..900, &mut out);
                assert_eq!(found, Some(()));
                let rows = reals.iter().zip(&integers).skip(200);
                for ((real, integer), found) in rows.zip(out) {
                    let slots = [Slot::Real(*real), Slot::Integer(*integer), Slot::Real(2.5)];
                    let alone = drawn(distribution, &inputs, &slots);
                    assert_eq!(found.to_bits(), alone.to_bits(), "{real} {number}");
                }
            }
        }
    }
}
