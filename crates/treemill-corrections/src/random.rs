//! Numbers that are a function of the inputs' bits: XXH64 of them is the seed of a PCG generator, whose
//! first numbers make one of a distribution.

use crate::variable::Slot;
use xxhash_rust::xxh64::xxh64;

/// Inputs that need no memory of their own.
const FEW: usize = 8;

/// What numbers are drawn from.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Distribution {
    /// Uniform in [0, 1).
    Flat,
    /// Mean 0, standard deviation 1, as libstdc++ makes it.
    StandardNormal,
    /// The same, as correctionlib makes it.
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

    /// In [0, 1), as libstdc++'s `generate_canonical` makes it of two numbers.
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

    /// In [-1, 1).
    fn sided(&mut self) -> f64 {
        f64::from(self.next()) / 2_147_483_648.0 - 1.0
    }
}

/// The hash of the inputs' bits.
fn seed(inputs: &[usize], slots: &[Slot<'_>]) -> u64 {
    let bits = inputs
        .iter()
        .filter_map(|input| slots.get(*input))
        .map(|slot| match slot {
            Slot::Real(x) => x.to_bits(),
            Slot::Integer(x) => *x as u64,
            Slot::Text(_) => 0,
        });
    let mut few = [0_u8; 8 * FEW];
    if inputs.len() > FEW {
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

/// The number of a distribution for these inputs.
pub(crate) fn drawn(distribution: Distribution, inputs: &[usize], slots: &[Slot<'_>]) -> f64 {
    let mut generator = Generator::new(seed(inputs, slots));
    match distribution {
        Distribution::Flat => generator.unit(),
        Distribution::StandardNormal => loop {
            let x = 2.0 * generator.unit() - 1.0;
            let y = 2.0 * generator.unit() - 1.0;
            let square = x * x + y * y;
            if square <= 1.0 && square != 0.0 {
                return y * (-2.0 * square.ln() / square).sqrt();
            }
        },
        Distribution::Normal => loop {
            let u = generator.sided();
            let v = generator.sided();
            let square = u * u + v * v;
            if square < 1.0 && square != 0.0 {
                return u * (-2.0 * square.ln() / square).sqrt();
            }
        },
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
}
