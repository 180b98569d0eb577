//! IEEE 754 half precision, widened exactly to single.

/// Bits of a half's mantissa, and the further bits of a single's.
const MANTISSA: u32 = 10;
const MORE_MANTISSA: u32 = 13;

/// The single that has the value of these bits of a half.
pub(super) fn to_f32(bits: u16) -> f32 {
    let bits = u32::from(bits);
    let sign = (bits & 0x8000) << 16;
    let exponent = (bits >> MANTISSA) & 0x1f;
    let mantissa = bits & 0x3ff;
    match exponent {
        // Zero and subnormal numbers: multiples of 2^-24, which a single holds exactly.
        0 => {
            let value = mantissa as f32 * f32::from_bits(0x3380_0000);
            f32::from_bits(value.to_bits() | sign)
        }
        // Infinity, and numbers that are none, whose payload is kept.
        0x1f => f32::from_bits(sign | 0x7f80_0000 | mantissa << MORE_MANTISSA),
        _ => {
            let exponent = exponent.wrapping_add(127 - 15) << 23;
            f32::from_bits(sign | exponent | mantissa << MORE_MANTISSA)
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::float_cmp)]
    use super::*;

    #[test]
    fn known_values() {
        for (bits, value) in [
            (0x0000, 0.0),
            (0x3c00, 1.0),
            (0xc000, -2.0),
            (0x7bff, 65504.0),
            (0x0001, 2_f32.powi(-24)),
            (0x03ff, 1023.0 * 2_f32.powi(-24)),
            (0x8400, -(2_f32.powi(-14))),
            (0x3555, 0.333_251_95),
            (0x7c00, f32::INFINITY),
            (0xfc00, f32::NEG_INFINITY),
        ] {
            assert_eq!(to_f32(bits), value, "{bits:#06x}");
        }
        assert!(to_f32(0x8000).is_sign_negative());
        assert!(to_f32(0x7e00).is_nan() && to_f32(0x7c01).is_nan());
    }
}
