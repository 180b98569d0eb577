//! Operations with two results that cost little more than one of them. Knows no programs.

use super::{cartesian, trig};

/// An operation with two results, all of floats.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Bundle {
    /// Sine and cosine of an angle.
    SinCos,
    /// px and py of pt and phi.
    PxPy,
    /// pz and energy of pt, eta and mass.
    PzEnergy,
}

/// Arguments of the largest bundle.
pub(crate) const MOST_ARGUMENTS: usize = 3;

impl Bundle {
    /// Number of arguments.
    pub fn arguments(self) -> usize {
        match self {
            Self::SinCos => 1,
            Self::PxPy => 2,
            Self::PzEnergy => 3,
        }
    }

    /// Computes both results. Arguments that the bundle does not have are empty.
    pub fn run(self, [a, b, c]: [&[f64]; MOST_ARGUMENTS], first: &mut [f64], second: &mut [f64]) {
        match self {
            Self::SinCos => trig::sin_cos(a, first, second),
            Self::PxPy => cartesian::px_py(a, b, first, second),
            Self::PzEnergy => cartesian::pz_energy(a, b, c, first, second),
        }
    }
}
