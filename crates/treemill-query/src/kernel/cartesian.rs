//! Momentum and energy from transverse momentum, pseudorapidity, azimuth and mass: each alone, and two
//! of them in one loop, equal to the bit.

use super::trig;

/// px alone.
pub(crate) fn px(pt: &[f64], phi: &[f64], x: &mut [f64]) {
    trig::cos(phi, x);
    times(pt, x);
}

/// py alone.
pub(crate) fn py(pt: &[f64], phi: &[f64], y: &mut [f64]) {
    trig::sin(phi, y);
    times(pt, y);
}

/// pz alone.
pub(crate) fn pz(pt: &[f64], eta: &[f64], z: &mut [f64]) {
    trig::sinh(eta, z);
    times(pt, z);
}

/// The energy alone.
pub(crate) fn energy(pt: &[f64], z: &[f64], mass: &[f64], energy: &mut [f64]) {
    super::map3(pt, z, mass, energy, energy_of);
}

fn times(by: &[f64], to: &mut [f64]) {
    for (to, by) in to.iter_mut().zip(by) {
        *to *= by;
    }
}

// Functions that compute pairs are not inlined, because the compiler knows of parameters that they do not overlap.
// It does not check this by itself for as many slices as a loop over more of them would have.

/// px and py.
#[inline(never)]
pub(super) fn px_py(pt: &[f64], phi: &[f64], x: &mut [f64], y: &mut [f64]) {
    let n = pt.len().min(phi.len()).min(x.len()).min(y.len());
    let (pt, phi, x, y) = (&pt[..n], &phi[..n], &mut x[..n], &mut y[..n]);
    let mut inside = true;
    for i in 0..n {
        inside &= trig::is_angle(phi[i]);
        let (sin, cos) = trig::turned(phi[i]);
        x[i] = pt[i] * cos;
        y[i] = pt[i] * sin;
    }
    if !inside {
        for i in 0..n {
            let (sin, cos) = trig::any_turned(phi[i]);
            (x[i], y[i]) = (pt[i] * cos, pt[i] * sin);
        }
    }
}

/// pz and the energy.
#[inline(never)]
pub(super) fn pz_energy(pt: &[f64], eta: &[f64], mass: &[f64], z: &mut [f64], energy: &mut [f64]) {
    let n = pt.len().min(eta.len()).min(mass.len());
    let n = n.min(z.len()).min(energy.len());
    let (pt, eta, mass) = (&pt[..n], &eta[..n], &mass[..n]);
    let (z, energy) = (&mut z[..n], &mut energy[..n]);
    let mut inside = true;
    for i in 0..n {
        inside &= trig::is_power(eta[i]);
        z[i] = pt[i] * trig::grown(eta[i]);
        energy[i] = energy_of(pt[i], z[i], mass[i]);
    }
    if !inside {
        for i in 0..n {
            z[i] = pt[i] * trig::any_grown(eta[i]);
            energy[i] = energy_of(pt[i], z[i], mass[i]);
        }
    }
}

/// A squared mass may be negative.
#[inline(always)]
fn energy_of(pt: f64, z: f64, mass: f64) -> f64 {
    let square = (mass * mass).copysign(mass) + (pt * pt + z * z);
    let square = if square >= 0.0 || square.is_nan() {
        square
    } else {
        0.0
    };
    square.sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::math::{Real2, real2};

    #[test]
    fn they_are_those_of_single_steps_to_the_bit() {
        let odd = [f64::NAN, f64::INFINITY, -0.0, 0.0, -3.5, 1e6, 711.0, 800.0];
        // All by all of these, and numbers between them, by a fixed sequence.
        let number = |i: usize| match odd.get(i % 11) {
            Some(x) => *x,
            None => (i * 37 % 101) as f64 / 16.0 - 3.0,
        };
        for n in [1, 3, 8, 509] {
            let all: [Vec<f64>; 4] =
                [1, 2, 3, 5].map(|k| (0..n).map(|i| number(i * k + i / 11)).collect());
            let [pt, eta, phi, mass] = &all;
            let mut found: [Vec<f64>; 4] = std::array::from_fn(|_| vec![9.0; n]);
            let [x, y, z, e] = &mut found;
            px_py(pt, phi, x, y);
            pz_energy(pt, eta, mass, z, e);
            let mut alone: [Vec<f64>; 4] = std::array::from_fn(|_| vec![9.0; n]);
            let [x, y, z, e] = &mut alone;
            px(pt, phi, x);
            py(pt, phi, y);
            pz(pt, eta, z);
            energy(pt, z, mass, e);
            let (mut sin, mut cos) = (vec![9.0; n], vec![9.0; n]);
            let (mut sinh, mut most) = (vec![9.0; n], vec![9.0; n]);
            trig::sin_cos(phi, &mut sin, &mut cos);
            trig::sinh(eta, &mut sinh);
            let squares: Vec<f64> = (0..n)
                .map(|i| {
                    let z = pt[i] * sinh[i];
                    (mass[i] * mass[i]).copysign(mass[i]) + (pt[i] * pt[i] + z * z)
                })
                .collect();
            real2(Real2::Max)(&squares, &vec![0.0; n], &mut most);
            for i in 0..n {
                let wanted = [
                    pt[i] * cos[i],
                    pt[i] * sin[i],
                    pt[i] * sinh[i],
                    most[i].sqrt(),
                ];
                for ((found, alone), wanted) in found.iter().zip(&alone).zip(wanted) {
                    for found in [found[i], alone[i]] {
                        let same = found.to_bits() == wanted.to_bits();
                        assert!(same || (found.is_nan() && wanted.is_nan()), "{i} of {n}");
                    }
                }
            }
        }
    }
}
