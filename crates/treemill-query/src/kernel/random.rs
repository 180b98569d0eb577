//! Random numbers that are a function of counters: the same for the same entry, whatever the order in
//! which entries are worked on. SplitMix64's steps, one for each counter.

use super::{map1, map2, trig};

/// The fraction of the golden ratio, in 64 bits.
const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

/// SplitMix64's output function: a bijection in which every bit depends on every one.
fn mixed(x: u64) -> u64 {
    let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// The state after a counter: the counter's place in the sequence that begins with the state.
pub(crate) fn counted(state: u64, counter: u64) -> u64 {
    mixed(state.wrapping_add(counter.wrapping_add(1).wrapping_mul(STEP)))
}

pub(crate) fn count(states: &[i64], counters: &[i64], out: &mut [i64]) {
    map2(states, counters, out, |state, counter| {
        counted(state as u64, counter as u64) as i64
    });
}

/// Numbers in [0, 1), from the upper 53 bits.
fn unit(state: u64) -> f64 {
    (state >> 11) as f64 * (1.0 / (1_u64 << 53) as f64)
}

pub(crate) fn uniform(states: &[i64], out: &mut [f64]) {
    map1(states, out, |state| unit(state as u64));
}

/// Numbers with mean 0 and standard deviation 1, by the method of Box and Muller.
pub(crate) fn normal(states: &[i64], out: &mut [f64]) {
    map1(states, out, |state| {
        let state = state as u64;
        let radius = (-2.0 * (1.0 - unit(state)).ln()).sqrt();
        let (_, cosine) = trig::turned(std::f64::consts::TAU * unit(counted(state, 0)));
        radius * cosine
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn states(n: i64) -> Vec<i64> {
        let seed = counted(0, 1) as i64;
        let counters: Vec<i64> = (0..n).collect();
        let mut out = vec![0; counters.len()];
        count(&vec![seed; counters.len()], &counters, &mut out);
        out
    }

    #[test]
    fn they_are_those_of_splitmix64() {
        // Its first numbers from the seed 1234567, as its author's program gives them.
        let known = [
            6457827717110365317_u64,
            3203168211198807973,
            9817491932198370423,
        ];
        for (i, wanted) in known.into_iter().enumerate() {
            assert_eq!(counted(1234567, i as u64), wanted);
        }
    }

    #[test]
    fn they_are_spread_as_they_should() {
        let states = states(100_000);
        let mut found = vec![0.0; states.len()];
        uniform(&states, &mut found);
        let n = found.len() as f64;
        assert!(found.iter().all(|x| (0.0..1.0).contains(x)));
        let mean = found.iter().sum::<f64>() / n;
        assert!((mean - 0.5).abs() < 5.0 / (12.0 * n).sqrt(), "{mean}");
        let next: f64 = found.windows(2).map(|x| (x[0] - 0.5) * (x[1] - 0.5)).sum();
        assert!((next / n).abs() < 5.0 / (144.0 * n).sqrt());
        normal(&states, &mut found);
        let moment = |k: i32| found.iter().map(|x| x.powi(k)).sum::<f64>() / n;
        for (k, wanted, variance) in [(1, 0.0, 1.0), (2, 1.0, 2.0), (3, 0.0, 15.0), (4, 3.0, 96.0)]
        {
            let error: f64 = moment(k) - wanted;
            assert!(error.abs() < 5.0 * f64::sqrt(variance / n), "{k}: {error}");
        }
    }
}
