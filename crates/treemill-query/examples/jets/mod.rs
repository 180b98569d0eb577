//! Jets such as the benchmark's, made up anew in each run and always the same: for the programs here
//! that time what is done with them.

/// Numbers from 0 to 1: xorshift, from a fixed seed.
pub fn random() -> impl FnMut() -> f64 {
    let mut state = 88172645463325252_u64;
    move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as f64 / (1_u64 << 53) as f64
    }
}

/// How many an event has, as the benchmark's: Poisson of mean 3.2, and 3 more in a tenth.
pub fn multiplicity(random: &mut impl FnMut() -> f64) -> i32 {
    let (mut n, mut product) = (0, random());
    while product > (-3.2_f64).exp() {
        n += 1;
        product *= random();
    }
    if random() < 0.1 { n + 3 } else { n }
}

/// pt, eta, phi and mass of one.
pub fn jet(random: &mut impl FnMut() -> f64) -> [f64; 4] {
    [
        15.0 - 25.0 * random().ln(),
        random() * 5.0 - 2.5,
        (random() * 2.0 - 1.0) * std::f64::consts::PI,
        random() * 15.0,
    ]
}
