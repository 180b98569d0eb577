//! Momentum and energy from transverse momentum, pseudorapidity, azimuth and mass: what the single steps
//! would give, to the bit, with fewer writes and reads between them.

use super::trig;

/// The four coordinates.
const DIMENSIONS: usize = 4;

/// px, py, pz, energy of pt, eta, phi, mass; all slices are as long.
pub(crate) fn cartesian(from: [&[f64]; DIMENSIONS], to: [&mut [f64]; DIMENSIONS]) {
    let [pt, eta, phi, mass] = from;
    let [x, y, z, energy] = to;
    across(pt, phi, x, y);
    along(pt, eta, mass, z, energy);
}

// Each a function of its own that is not inlined: only of parameters the compiler knows that they do not
// overlap, and of more than some slices it does not find out in the loop.

/// px and py.
#[inline(never)]
fn across(pt: &[f64], phi: &[f64], x: &mut [f64], y: &mut [f64]) {
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
fn along(pt: &[f64], eta: &[f64], mass: &[f64], z: &mut [f64], energy: &mut [f64]) {
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

/// As `compile::vectors` writes it; a squared mass may be negative.
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
            let from = std::array::from_fn(|i| all[i].as_slice());
            cartesian(from, found.each_mut().map(Vec::as_mut_slice));
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
                for (found, wanted) in found.iter().zip(wanted) {
                    let same = found[i].to_bits() == wanted.to_bits();
                    assert!(same || (found[i].is_nan() && wanted.is_nan()), "{i} of {n}");
                }
            }
        }
    }
}
