//! sin, cos and sinh of chunks: without branches, so that the compiler computes several at a time.
//! Exact to a few units in the last place. Arguments that are too large, and NaN, are left to the
//! standard library.
//!
//! Method: the argument less a multiple of pi/2 (of ln 2), taken off in parts so that nothing is
//! lost; then a polynomial, with the coefficients of the nearest one for sin and cos, of Taylor for
//! exp.

/// Adding and subtracting it rounds to an integer, whose bits are the lowest of the sum.
const ROUND: f64 = 6755399441055744.0; // 1.5 * 2^52
/// Angles up to this are reduced exactly enough.
const LARGEST_ANGLE: f64 = 1e5;
/// The largest power of e that is computed here: exp overflows soon beyond it.
const LARGEST_POWER: f64 = 700.0;

/// pi/2 in three parts; multiples of the first two with fewer than 20 bits are exact.
const HALF_PI: [f64; 3] = [
    1.570_796_326_734_125_6,
    6.077_100_506_303_966e-11,
    2.022_266_248_795_950_6e-21,
];
/// ln 2 in two parts.
const LN_2: [f64; 2] = [6.931_471_803_691_238e-1, 1.908_214_929_270_587_7e-10];

const SIN: [f64; 6] = [
    -1.666_666_666_666_663_2e-1,
    8.333_333_333_322_49e-3,
    -1.984_126_982_985_795e-4,
    2.755_731_370_707_006_8e-6,
    -2.505_076_025_340_686_3e-8,
    1.589_690_995_211_55e-10,
];
const COS: [f64; 6] = [
    4.166_666_666_666_66e-2,
    -1.388_888_888_887_411e-3,
    2.480_158_728_947_673e-5,
    -2.755_731_435_139_066_3e-7,
    2.087_572_321_298_175e-9,
    -1.135_964_755_778_819_5e-11,
];

/// 1 / n! from 1/2 on. A loop that divides by n takes ten times as long, because the compiler does not vectorise it.
const EXP: [f64; 12] = [
    1.0 / 2.0,
    1.0 / 6.0,
    1.0 / 24.0,
    1.0 / 120.0,
    1.0 / 720.0,
    1.0 / 5040.0,
    1.0 / 40320.0,
    1.0 / 362880.0,
    1.0 / 3628800.0,
    1.0 / 39916800.0,
    1.0 / 479001600.0,
    1.0 / 6227020800.0,
];

pub(crate) fn sin(a: &[f64], out: &mut [f64]) {
    let mut inside = true;
    for (to, x) in out.iter_mut().zip(a) {
        inside &= is_angle(*x);
        *to = turned(*x).0;
    }
    if !inside {
        repair(a, out, LARGEST_ANGLE, f64::sin);
    }
}

pub(crate) fn cos(a: &[f64], out: &mut [f64]) {
    let mut inside = true;
    for (to, x) in out.iter_mut().zip(a) {
        inside &= is_angle(*x);
        *to = turned(*x).1;
    }
    if !inside {
        repair(a, out, LARGEST_ANGLE, f64::cos);
    }
}

/// Sines and cosines, in little more time than one of them.
pub(crate) fn sin_cos(a: &[f64], sines: &mut [f64], cosines: &mut [f64]) {
    let mut inside = true;
    for ((sine, cosine), x) in sines.iter_mut().zip(cosines.iter_mut()).zip(a) {
        inside &= is_angle(*x);
        (*sine, *cosine) = turned(*x);
    }
    if !inside {
        repair(a, sines, LARGEST_ANGLE, f64::sin);
        repair(a, cosines, LARGEST_ANGLE, f64::cos);
    }
}

/// Whether `turned` knows an angle.
#[inline(always)]
pub(super) fn is_angle(x: f64) -> bool {
    x.abs() <= LARGEST_ANGLE
}

/// Sine and cosine of any angle, as `sin_cos` has them.
pub(super) fn any_turned(x: f64) -> (f64, f64) {
    if is_angle(x) {
        turned(x)
    } else {
        (x.sin(), x.cos())
    }
}

/// Sine and cosine of an angle that is not too large.
#[inline(always)]
pub(super) fn turned(x: f64) -> (f64, f64) {
    let rounded = x * std::f64::consts::FRAC_2_PI + ROUND;
    let (turns, quarter) = (rounded - ROUND, rounded.to_bits());
    // The remainder, and its rounding error.
    let near = x - turns * HALF_PI[0];
    let off = turns * HALF_PI[1];
    let rest = near - off;
    let off = turns * HALF_PI[2] - ((near - rest) - off);
    let r = rest - off;
    let lost = (rest - r) - off;

    let z = r * r;
    let tail = SIN[1] + z * (SIN[2] + z * (SIN[3] + z * (SIN[4] + z * SIN[5])));
    let cube = z * r;
    let sine = r - ((z * (0.5 * lost - cube * tail) - lost) - cube * SIN[0]);
    let tail = COS[2] + z * (COS[3] + z * (COS[4] + z * COS[5]));
    let tail = z * (COS[0] + z * (COS[1] + z * tail));
    let half = 0.5 * z;
    let first = 1.0 - half;
    let cosine = first + (((1.0 - first) - half) + (z * tail - r * lost));

    // The cosine is the sine a quarter turn ahead; the third and fourth quarter are negative.
    // Masks instead of a condition, which not every build vectorises.
    let signed = |quarter: u64| {
        let odd = (quarter & 1).wrapping_neg();
        let size = (sine.to_bits() & !odd) | (cosine.to_bits() & odd);
        f64::from_bits(size ^ ((quarter & 2) << 62))
    };
    (signed(quarter), signed(quarter.wrapping_add(1)))
}

pub(crate) fn sinh(a: &[f64], out: &mut [f64]) {
    let mut inside = true;
    for (to, x) in out.iter_mut().zip(a) {
        inside &= is_power(*x);
        *to = grown(*x);
    }
    if !inside {
        repair(a, out, LARGEST_POWER, f64::sinh);
    }
}

/// Whether `grown` knows an argument.
#[inline(always)]
pub(super) fn is_power(x: f64) -> bool {
    x.abs() <= LARGEST_POWER
}

/// sinh of any argument, as `sinh` has it.
pub(super) fn any_grown(x: f64) -> f64 {
    if is_power(x) { grown(x) } else { x.sinh() }
}

/// sinh of an argument that is not too large.
#[inline(always)]
pub(super) fn grown(x: f64) -> f64 {
    let size = x.abs();
    let rounded = size * std::f64::consts::LOG2_E + ROUND;
    let k = rounded - ROUND;
    let r = (size - k * LN_2[0]) - k * LN_2[1];
    // exp(r) - 1
    let z = r * r;
    let tail = EXP[6] + r * (EXP[7] + r * (EXP[8] + r * (EXP[9] + r * (EXP[10] + r * EXP[11]))));
    let tail = EXP[2] + r * (EXP[3] + r * (EXP[4] + r * (EXP[5] + r * tail)));
    let p = r + (z * EXP[0] + z * r * (EXP[1] + r * tail));
    // exp(size) - 1
    let power = f64::from_bits(rounded.to_bits().wrapping_add(1023) << 52);
    let t = power * p + (power - 1.0);
    (0.5 * (t + t / (t + 1.0))).copysign(x)
}

#[cold]
fn repair(a: &[f64], out: &mut [f64], largest: f64, exact: fn(f64) -> f64) {
    for (to, x) in out.iter_mut().zip(a) {
        if x.is_nan() || x.abs() > largest {
            *to = exact(*x);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(name: &str, run: fn(&[f64], &mut [f64]), exact: fn(f64) -> f64, largest: f64) {
        let mut points = vec![
            0.0,
            -0.0,
            1e-300,
            1e-9,
            f64::NAN,
            f64::INFINITY,
            f64::NEG_INFINITY,
            1e300,
            std::f64::consts::PI,
            std::f64::consts::FRAC_PI_2,
            -std::f64::consts::PI,
            711.0,
        ];
        // Points of all sizes, by a fixed sequence.
        let mut state = 1_u64;
        for _ in 0..200_000 {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1);
            let unit = (state >> 11) as f64 / (1_u64 << 53) as f64;
            let scale = 10.0_f64.powi((state % 14) as i32 - 9);
            points.push(((unit - 0.5) * scale).clamp(-largest, largest));
        }
        let mut found = vec![9.0; points.len()];
        run(&points, &mut found);
        for (x, found) in points.iter().zip(&found) {
            let wanted = exact(*x);
            if wanted.is_finite() {
                let error = (found - wanted).abs() / wanted.abs().max(f64::MIN_POSITIVE);
                assert!(error < 8.9e-16, "{name}({x:e}): {found:e}, not {wanted:e}");
                assert_eq!(found.is_sign_negative(), wanted.is_sign_negative(), "{x:e}");
            } else {
                assert_eq!(found.is_nan(), wanted.is_nan(), "{name}({x:e})");
                assert!(wanted.is_nan() || *found == wanted, "{name}({x:e})");
            }
        }
    }

    #[test]
    fn they_are_the_standard_librarys_to_the_last_places() {
        check("sin", sin, f64::sin, 1e5);
        check("cos", cos, f64::cos, 1e5);
        check("sinh", sinh, f64::sinh, 700.0);
        let sines = |a: &[f64], out: &mut [f64]| sin_cos(a, out, &mut vec![9.0; a.len()]);
        check("sin of both", sines, f64::sin, 1e5);
        let cosines = |a: &[f64], out: &mut [f64]| sin_cos(a, &mut vec![9.0; a.len()], out);
        check("cos of both", cosines, f64::cos, 1e5);
    }
}
