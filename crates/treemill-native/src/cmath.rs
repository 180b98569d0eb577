//! Functions of C's mathematical library that Rust's standard library lacks (`erf`) or computes by formulas of its
//! own: with them, results are those of programs in C on the same machine, to the bit. Declaring
//! them takes `unsafe`. Knows nothing of what calls them.

// SAFETY: these have the types of C's standard (7.12.4, 7.12.5 and 7.12.8), take every number, and keep nothing.
unsafe extern "C" {
    /// The error function.
    ///
    /// ```
    /// assert_eq!(treemill_native::cmath::erf(f64::INFINITY), 1.0);
    /// ```
    #[must_use]
    pub safe fn erf(x: f64) -> f64;

    /// The inverse hyperbolic cosine; NaN below 1.
    #[must_use]
    pub safe fn acosh(x: f64) -> f64;

    /// The inverse hyperbolic sine.
    #[must_use]
    pub safe fn asinh(x: f64) -> f64;

    /// The inverse hyperbolic tangent; NaN outside of [-1, 1].
    #[must_use]
    pub safe fn atanh(x: f64) -> f64;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_is_the_function_of_its_name() {
        for x in [-0.9, -0.3, 0.0, 0.2, 0.7_f64] {
            assert!((asinh(x.sinh()) - x).abs() < 1e-15);
            assert!((atanh(x.tanh()) - x).abs() < 1e-15);
            assert!((acosh(x.cosh()) - x.abs()).abs() < 1e-15);
            let slope = (erf(x + 1e-6) - erf(x - 1e-6)) / 2e-6;
            assert!((slope - 2.0 / std::f64::consts::PI.sqrt() * (-x * x).exp()).abs() < 1e-9);
        }
    }

    #[test]
    fn where_there_is_no_value() {
        assert!(acosh(0.5).is_nan() && atanh(1.5).is_nan() && erf(f64::NAN).is_nan());
        assert_eq!(atanh(1.0), f64::INFINITY);
        assert!(asinh(-0.0).is_sign_negative());
    }
}
