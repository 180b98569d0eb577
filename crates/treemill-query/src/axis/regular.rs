//! Bins of equal width: the loop that most histograms spend their time in, written so that the compiler
//! makes vector code of it. The rules are boost-histogram's, as in the rest of the axes.

use super::Axis;
use crate::chunk::Widen;

impl Axis {
    /// Cells of values on a regular axis that is not circular. As in the library a value's place is
    /// found by a subtraction, a division and a multiplication, each of which rounds.
    pub(super) fn regular<T: Copy + Widen<f64>>(
        &self,
        min: f64,
        delta: f64,
        values: &[T],
        out: &mut [u32],
    ) {
        // A quotient by a power of two is the product by its inverse, to the bit, and that is had
        // several times as fast.
        let inverse = delta.recip();
        if is_power_of_two(delta) && is_power_of_two(inverse) {
            self.placed(|x| (x - min) * inverse, values, out);
        } else {
            self.placed(|x| (x - min) / delta, values, out);
        }
    }

    /// `place`: where a value lies in the axis, from 0 to 1.
    fn placed<T: Copy + Widen<f64>>(
        &self,
        place: impl Fn(f64) -> f64,
        values: &[T],
        out: &mut [u32],
    ) {
        let bins = f64::from(self.size);
        let first = f64::from(u8::from(self.underflow));
        let (below, above) = (f64::from(self.below()), f64::from(self.above()));
        if self.underflow && self.overflow {
            // Cells ascend with values, so that what is outside need only be held at the ends. What
            // is below 1 is below `bins` when multiplied, too.
            for (to, x) in out.iter_mut().zip(values) {
                let floor = floor(place(x.widen()) * bins);
                // NaN is not below anything.
                let cell = if floor < bins { floor } else { bins };
                let cell = if cell > -1.0 { cell } else { -1.0 };
                *to = lower_bits(cell + 1.0);
            }
            return;
        }
        // The upper edge belongs to the last bin where there is no overflow cell.
        let at_end = if self.overflow {
            above
        } else {
            bins - 1.0 + first
        };
        for (to, x) in out.iter_mut().zip(values) {
            let z = place(x.widen());
            // Inside, this is not negative and at most 2^27; outside it is not used.
            let cell = floor(z * bins) + first;
            let cell = if z < 0.0 { below } else { cell };
            // NaN is not below 1.
            let cell = if z < 1.0 { cell } else { above };
            let cell = if z == 1.0 { at_end } else { cell };
            *to = lower_bits(cell);
        }
    }
}

/// Adding 2^52 rounds to an integer, which then is the lower half of the bits.
const SHIFT: f64 = (1_u64 << 52) as f64;

/// Takes a number that is not negative and below 2^31. x86-64 has no vector instruction that makes an
/// unsigned integer of a float.
#[inline(always)]
fn lower_bits(whole: f64) -> u32 {
    (whole + SHIFT).to_bits() as u32
}

/// The largest integer that is not above; of what is negative, one that is.
#[inline(always)]
fn floor(x: f64) -> f64 {
    if cfg!(any(target_feature = "sse4.1", target_arch = "aarch64")) {
        x.floor() // one instruction
    } else {
        floor_by_rounding(x)
    }
}

/// The floor of a number where there is no vector instruction for it, as in x86-64's base set, and the library's is a
/// function that is called for each value. Numbers beyond 2^51 are only about right.
#[inline(always)]
fn floor_by_rounding(x: f64) -> f64 {
    let nearest = (x + SHIFT) - SHIFT;
    let floor = nearest - if nearest > x { 1.0 } else { 0.0 };
    if x < 0.0 && floor > -1.0 { -1.0 } else { floor }
}

/// Whether a number is a power of two, and neither subnormal nor infinite.
fn is_power_of_two(x: f64) -> bool {
    x.is_normal() && x > 0.0 && x.to_bits().trailing_zeros() >= f64::MANTISSA_DIGITS - 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_below_are_those_of_the_library() {
        let near = |x: f64| [x.next_down(), x, x.next_up()];
        let numbers = [0.0, 1.0, 2.0, 0.5, 1e-300, 127.0, 1e6, (1_u64 << 27) as f64];
        for x in numbers.into_iter().flat_map(near) {
            assert_eq!(floor_by_rounding(x.abs()), x.abs().floor(), "{x}");
            // A negative number need only be seen to be negative.
            assert!(x == 0.0 || floor_by_rounding(-x.abs()) <= -1.0, "{x}");
        }
        assert_eq!(floor_by_rounding(f64::INFINITY), f64::INFINITY);
        assert_eq!(floor_by_rounding(f64::NEG_INFINITY), f64::NEG_INFINITY);
        assert!(floor_by_rounding(f64::NAN).is_nan());
        assert!(floor_by_rounding(1e300) > 1e299 && floor_by_rounding(-1e300) < -1e299);
    }

    #[test]
    fn powers_of_two() {
        for x in [1.0, 256.0, 0.125, f64::MIN_POSITIVE] {
            assert!(is_power_of_two(x), "{x}");
        }
        let subnormal = f64::MIN_POSITIVE / 2.0;
        for x in [0.0, -2.0, 3.0, 1.5, subnormal, f64::INFINITY, f64::NAN] {
            assert!(!is_power_of_two(x), "{x}");
        }
    }
}
