//! Elements of any number of bits up to 32, one after another from the least significant bit of the first byte
//! on; and the values of truncated and quantised elements.

use super::Run;
use crate::error::Result;

/// Appends elements of `bits` bits.
pub(super) fn unpack<T>(
    run: &Run<'_>,
    bits: u8,
    out: &mut Vec<T>,
    make: impl Fn(u32) -> T,
) -> Result<()> {
    let width = usize::from(bits);
    let needed = run.wanted.end.checked_mul(width).map(|n| n.div_ceil(8));
    if needed.is_none_or(|needed| needed > run.bytes.len()) || run.wanted.end > run.count {
        return Err(run.too_short());
    }
    let mask = u64::MAX >> 64_u32.saturating_sub(u32::from(bits));
    out.extend(run.wanted.clone().map(|i| {
        // `needed` was computed without overflow, and at most 7 + 32 bits are looked at.
        let first = i.wrapping_mul(width);
        let rest = run.bytes.get(first / 8..).unwrap_or_default();
        let word = match rest.first_chunk::<8>() {
            Some(word) => u64::from_le_bytes(*word),
            None => {
                let mut word = [0; 8];
                for (to, from) in word.iter_mut().zip(rest) {
                    *to = *from;
                }
                u64::from_le_bytes(word)
            }
        };
        make(((word >> (first % 8)) & mask) as u32)
    }));
    Ok(())
}

/// The single whose leading `bits` bits are stored, the others being 0.
pub(super) fn untruncate(stored: u32, bits: u8) -> f32 {
    f32::from_bits(stored.wrapping_shl(32_u32.wrapping_sub(u32::from(bits))))
}

/// The value of a quantised element: 0 is `min`, all ones is `max`, steps are even. The operations and their
/// order are ROOT's, so that its values are reproduced to the bit.
pub(super) fn unquantize(bits: u8, min: f64, max: f64) -> impl Fn(u32) -> f64 {
    let most = u32::MAX.wrapping_shr(32_u32.wrapping_sub(u32::from(bits)));
    let step = (max - min) / f64::from(most);
    move |stored| f64::from(stored) * step + min
}
