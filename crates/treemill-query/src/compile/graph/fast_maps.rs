//! Maps and sets of a query's own parts, by a hash that costs a few instructions: a compiler asks them all
//! the time. Names from files have no place in them: those could be made to collide.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasherDefault, Hasher};

pub(in crate::compile) type FastMap<K, V> = HashMap<K, V, BuildHasherDefault<FastHasher>>;

pub(in crate::compile) type FastSet<K> = HashSet<K, BuildHasherDefault<FastHasher>>;

/// An odd number whose bits are mixed well (of the golden ratio).
const MIX: u64 = 0x9e37_79b9_7f4a_7c15;

/// A word after another: turned, added, multiplied.
#[derive(Debug, Default, Clone, Copy)]
pub(in crate::compile) struct FastHasher(u64);

impl FastHasher {
    fn add(&mut self, word: u64) {
        self.0 = (self.0.rotate_left(5) ^ word).wrapping_mul(MIX);
    }
}

impl Hasher for FastHasher {
    fn write(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            for (to, from) in word.iter_mut().zip(chunk) {
                *to = *from;
            }
            self.add(u64::from_le_bytes(word));
        }
    }

    fn write_u8(&mut self, i: u8) {
        self.add(u64::from(i));
    }

    fn write_u32(&mut self, i: u32) {
        self.add(u64::from(i));
    }

    fn write_u64(&mut self, i: u64) {
        self.add(i);
    }

    fn write_usize(&mut self, i: usize) {
        self.add(i as u64);
    }

    fn write_isize(&mut self, i: isize) {
        self.add(i as u64);
    }

    fn finish(&self) -> u64 {
        // Tables go by the lowest bits, which a product mixes least, and by the highest.
        self.0 ^ (self.0 >> 32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::hash::Hash;

    fn hash(value: impl Hash) -> u64 {
        let mut hasher = FastHasher::default();
        value.hash(&mut hasher);
        hasher.finish()
    }

    #[test]
    fn near_values_do_not_collide_in_the_bits_that_tables_use() {
        let values = (0_u32..1 << 14).map(|i| hash((i % 128, vec![i / 128], "x")));
        let mut low = FastMap::<u64, u32>::default();
        let mut high = FastMap::<u64, u32>::default();
        for value in values {
            *low.entry(value % 1024).or_default() += 1;
            *high.entry(value >> 57).or_default() += 1;
        }
        assert!(low.len() > 1000 && high.len() > 120);
        assert!(low.values().all(|&n| n < 64));
        assert!(high.values().all(|&n| n < 256));
    }

    #[test]
    fn all_bytes_and_their_order_count() {
        let words = [
            "",
            "a",
            "b",
            "ab",
            "ba",
            "abcdefgh",
            "abcdefghi",
            "abcdefgi",
        ];
        let different: HashSet<u64> = words.iter().map(hash).collect();
        assert_eq!(different.len(), words.len());
    }
}
