//! Booleans of baskets: a byte each in the file, a bit each in Arrow. Packed as they come.

use crate::memory::Spares;
use crate::numbers::Booleans;
use arrow_buffer::{BooleanBuffer, Buffer};

/// Booleans packed to bits, the first the lowest.
#[derive(Debug)]
pub struct Bits {
    packed: Vec<u8>,
    /// The last bits, which do not fill a byte yet.
    rest: [u8; 8],
    held: usize,
}

impl Bits {
    pub(crate) fn push(&mut self, byte: u8) {
        if let Some(place) = self.rest.get_mut(self.held) {
            *place = byte;
        }
        self.held = self.held.saturating_add(1);
        if self.held == self.rest.len() {
            self.packed.push(pack_eight(self.rest));
            self.held = 0;
        }
    }

    /// Appends a boolean for each byte.
    pub(crate) fn extend_packed(&mut self, bytes: &[u8]) {
        let missing = match self.held {
            0 => 0,
            held => self.rest.len().saturating_sub(held).min(bytes.len()),
        };
        let (first, bytes) = bytes.split_at_checked(missing).unwrap_or_default();
        first.iter().for_each(|byte| self.push(*byte));
        let (whole, last) = bytes.as_chunks::<8>();
        self.packed
            .extend(whole.iter().map(|eight| pack_eight(*eight)));
        last.iter().for_each(|byte| self.push(*byte));
    }
}

impl Booleans for Bits {
    fn new(room: usize, spares: &mut Spares) -> Self {
        Bits {
            packed: spares.vec(room.div_ceil(8)),
            rest: [0; 8],
            held: 0,
        }
    }

    fn len(&self) -> usize {
        self.packed
            .len()
            .saturating_mul(8)
            .saturating_add(self.held)
    }

    fn pack(mut self, spares: &mut Spares) -> BooleanBuffer {
        let len = self.len();
        if self.held > 0 {
            let unused = self.rest.iter_mut().skip(self.held);
            unused.for_each(|byte| *byte = 0);
            self.packed.push(pack_eight(self.rest));
        }
        let packed = Buffer::from_vec(self.packed);
        spares.hold(&packed);
        BooleanBuffer::new(packed, 0, len)
    }
}

impl Extend<u8> for Bits {
    fn extend<I: IntoIterator<Item = u8>>(&mut self, bytes: I) {
        bytes.into_iter().for_each(|byte| self.push(byte));
    }
}

/// One bit for each byte, the first the lowest, set where a byte is not 0.
#[inline]
fn pack_eight(bytes: [u8; 8]) -> u8 {
    const LOW: u64 = 0x7f7f_7f7f_7f7f_7f7f;
    let bytes = u64::from_le_bytes(bytes);
    // A byte's highest bit: its own, or the carry out of the others, if any of them is set.
    let high = (bytes | (bytes & LOW).wrapping_add(LOW)) & !LOW;
    let ones = high >> 7;
    // Byte i's bit lands at bit 56 + i; no two meet.
    ones.wrapping_mul(0x0102_0408_1020_4080).to_be_bytes()[0]
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn pieces_of_any_length_come_to_the_same_bits(
            pieces in proptest::collection::vec(proptest::collection::vec(0_u8..3, 0..40), 0..12),
        ) {
            let mut spares = Spares::default();
            let mut bits = Bits::new(0, &mut spares);
            for (i, piece) in pieces.iter().enumerate() {
                match i % 2 {
                    0 => bits.extend_packed(piece),
                    _ => bits.extend(piece.iter().copied()),
                }
            }
            let expected: Vec<bool> = pieces.concat().iter().map(|byte| *byte != 0).collect();
            prop_assert_eq!(bits.len(), expected.len());
            let made: Vec<bool> = bits.pack(&mut spares).iter().collect();
            prop_assert_eq!(made, expected);
        }
    }
}
