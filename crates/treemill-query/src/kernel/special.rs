//! Functions of one float that the standard library lacks, or computes for some arguments with a loss
//! of digits: the inverse hyperbolic ones, the error function and the gamma function.

use std::f64::consts::LN_2;

/// Above this, adding 1 to the square of a number changes nothing.
const LARGE: f64 = 67_108_864.0; // 2^26

/// The formulas of fdlibm: no step overflows before the result does, and none takes nearly equal numbers
/// from one another.
pub(super) fn asinh(x: f64) -> f64 {
    let size = x.abs();
    let found = if size > LARGE {
        size.ln() + LN_2
    } else if size > 2.0 {
        (2.0 * size + 1.0 / ((size * size + 1.0).sqrt() + size)).ln()
    } else {
        let square = size * size;
        (size + square / ((square + 1.0).sqrt() + 1.0)).ln_1p()
    };
    found.copysign(x)
}

pub(super) fn acosh(x: f64) -> f64 {
    if x < 1.0 {
        f64::NAN
    } else if x > LARGE {
        x.ln() + LN_2
    } else if x > 2.0 {
        (2.0 * x - 1.0 / ((x * x - 1.0).sqrt() + x)).ln()
    } else {
        let above = x - 1.0;
        (above + (above * above + 2.0 * above).sqrt()).ln_1p()
    }
}

pub(super) fn atanh(x: f64) -> f64 {
    let size = x.abs();
    let twice = size + size;
    let found = if size < 0.5 {
        twice + twice * size / (1.0 - size)
    } else {
        twice / (1.0 - size)
    };
    (0.5 * found.ln_1p()).copysign(x)
}

pub(super) fn erf(x: f64) -> f64 {
    libm::erf(x)
}

pub(super) fn erfc(x: f64) -> f64 {
    libm::erfc(x)
}

pub(super) fn gamma(x: f64) -> f64 {
    libm::tgamma(x)
}

pub(super) fn lgamma(x: f64) -> f64 {
    libm::lgamma(x)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An argument and the value there, rounded from 50 digits.
    type Known = (f64, f64);

    fn check(name: &str, run: fn(f64) -> f64, known: &[Known], ulps: f64) {
        for (x, wanted) in known {
            let found = run(*x);
            let error = (found - wanted).abs() / (wanted.abs() * f64::EPSILON);
            assert!(
                found == *wanted || error <= ulps,
                "{name}({x:e}) is {found:e}, not {wanted:e}"
            );
        }
    }

    #[test]
    fn they_are_exact_at_both_ends() {
        let known = [
            (1e-300, 1e-300),
            (1e-09, 1e-09),
            (0.001, 0.0009999998333334083),
            (0.3, 0.29567304756342244),
            (1.0, 0.881373587019543),
            (2.5, 1.6472311463710958),
            (-7.0, -2.644120761058629),
            (100000.0, 12.206072645555174),
            (1000000000.0, 21.416413017506358),
            (1e+200, 461.2101657793691),
            (9e+307, 709.7839953070682),
            (1.7976931348623157e+308, 710.475860073944),
        ];
        check("asinh", asinh, &known, 2.0);
        let known = [
            (1.0, 0.0),
            (1.0000000000000002, 2.1073424255447014e-08),
            (1.0000000000009095, 1.3486991523485068e-06),
            (1.0001, 0.014142017775251545),
            (1.2, 0.6223625037147786),
            (1.99, 1.3111650524067855),
            (2.5, 1.566799236972411),
            (100000.0, 12.206072645505174),
            (1000000000.0, 21.416413017506358),
            (9e+307, 709.7839953070682),
            (1.7976931348623157e+308, 710.475860073944),
        ];
        check("acosh", acosh, &known, 2.0);
        let known = [
            (1e-300, 1e-300),
            (1e-09, 1e-09),
            (0.001, 0.0010000003333335333),
            (0.3, 0.3095196042031117),
            (-0.4, -0.42364893019360184),
            (0.49, 0.5360603366105666),
            (0.5, 0.5493061443340549),
            (0.7, 0.8673005276940531),
            (0.999, 3.8002011672501994),
            (0.9999999999990905, 14.20951720147865),
            (0.9999999999999999, 18.714973875118524),
        ];
        check("atanh", atanh, &known, 2.0);
    }

    #[test]
    fn what_has_no_value_is_nan() {
        for x in [0.999, 0.0, -1.0, -3.0, f64::NAN] {
            assert!(acosh(x).is_nan(), "{x}");
        }
        assert!(atanh(1.5).is_nan() && atanh(f64::NAN).is_nan() && asinh(f64::NAN).is_nan());
        assert_eq!(atanh(1.0), f64::INFINITY);
        assert_eq!(asinh(f64::NEG_INFINITY), f64::NEG_INFINITY);
        assert_eq!(acosh(f64::INFINITY), f64::INFINITY);
        assert!(asinh(-0.0).is_sign_negative() && atanh(-0.0).is_sign_negative());
    }
}
