//! Random numbers from a seed, so that a history can be told again. Pure.

/// A generator of the kind "SplitMix64".
#[derive(Debug, Clone)]
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Random(seed)
    }

    /// A number from `[0, 1)`.
    #[allow(clippy::cast_precision_loss)]
    pub(crate) fn draw(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// A number from `0..end`; zero if that is empty.
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss
    )]
    pub(crate) fn below(&mut self, end: usize) -> usize {
        (self.draw() * end as f64) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_are_spread_and_repeat_with_their_seed() {
        let mut random = Random::new(7);
        let draws: Vec<f64> = (0..10_000).map(|_| random.draw()).collect();
        assert!(draws.iter().all(|draw| (0.0..1.0).contains(draw)));
        let mean = draws.iter().sum::<f64>() / 1e4;
        assert!((mean - 0.5).abs() < 0.02, "{mean}");
        let mut again = Random::new(7);
        assert!(
            draws
                .iter()
                .all(|draw| draw.to_bits() == again.draw().to_bits())
        );
    }
}
