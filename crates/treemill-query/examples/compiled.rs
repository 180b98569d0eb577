//! What a compiled loop over pairs and triples could take: the benchmark's dimuon and trijet tasks by
//! hand, over arrays in memory, all in registers, as a just-in-time compiler would have it. See
//! docs/decisions/0003-compiled-loops.md.
//!
//! `cargo run --release --package treemill-query --example compiled`
#![allow(clippy::restriction)]

mod jets;

use jets::{jet, multiplicity, random};
use std::hint::black_box;
use std::time::{Duration, Instant};

const EVENTS: usize = 20_000;
const REPEATS: usize = 300;

/// pt, eta, phi, mass of all jets, and where each event's start.
struct Jets {
    offsets: Vec<usize>,
    columns: [Vec<f32>; 4],
}

/// px, py, pz, energy.
type Momenta = [Vec<f64>; 4];

fn jets() -> Jets {
    let mut random = random();
    let mut offsets = vec![0];
    let mut columns: [Vec<f32>; 4] = Default::default();
    for _ in 0..EVENTS {
        for _ in 0..multiplicity(&mut random) {
            let values = jet(&mut random);
            for (column, value) in columns.iter_mut().zip(values) {
                column.push(value as f32);
            }
        }
        offsets.push(columns[0].len());
    }
    Jets { offsets, columns }
}

#[inline(always)]
fn momentum(jets: &Jets, i: usize) -> [f64; 4] {
    let [pt, eta, phi, mass] = [0, 1, 2, 3].map(|k| f64::from(jets.columns[k][i]));
    let pz = pt * eta.sinh();
    let energy = (mass * mass + pt * pt + pz * pz).sqrt();
    [pt * phi.cos(), pt * phi.sin(), pz, energy]
}

fn momenta(jets: &Jets) -> Momenta {
    let mut out: Momenta = Default::default();
    for i in 0..jets.columns[0].len() {
        for (to, x) in out.iter_mut().zip(momentum(jets, i)) {
            to.push(x);
        }
    }
    out
}

#[inline(always)]
fn mass(p: [f64; 4]) -> f64 {
    let m2 = p[3] * p[3] - p[0] * p[0] - p[1] * p[1] - p[2] * p[2];
    m2.abs().sqrt().copysign(m2)
}

#[inline(always)]
fn add(a: [f64; 4], b: [f64; 4]) -> [f64; 4] {
    [a[0] + b[0], a[1] + b[1], a[2] + b[2], a[3] + b[3]]
}

/// Triples and the sum of the best distances, that nothing is left out by the compiler.
fn trijets(offsets: &[usize], at: impl Fn(usize) -> [f64; 4]) -> (usize, f64) {
    let (mut count, mut sum) = (0, 0.0);
    let mut event = Vec::new();
    for ends in offsets.windows(2) {
        event.clear();
        event.extend((ends[0]..ends[1]).map(&at));
        let mut best = f64::INFINITY;
        for (i, a) in event.iter().enumerate() {
            for (j, b) in event.iter().enumerate().skip(i + 1) {
                let two = add(*a, *b);
                for c in &event[j + 1..] {
                    best = best.min((mass(add(two, *c)) - 172.5).abs());
                    count += 1;
                }
            }
        }
        if best.is_finite() {
            sum += best;
        }
    }
    (count, sum)
}

/// Events with a pair of 60 to 120 GeV.
fn pairs(offsets: &[usize], at: impl Fn(usize) -> [f64; 4]) -> (usize, f64) {
    let (mut count, mut found) = (0, 0);
    for ends in offsets.windows(2) {
        let mut any = false;
        for i in ends[0]..ends[1] {
            for j in i + 1..ends[1] {
                let m = mass(add(at(i), at(j)));
                any |= m > 60.0 && m < 120.0;
                count += 1;
            }
        }
        found += usize::from(any);
    }
    (count, found as f64)
}

fn timed<T>(mut run: impl FnMut() -> T) -> (Duration, T) {
    let mut best = Duration::MAX;
    let mut last = run();
    for _ in 0..REPEATS {
        let start = Instant::now();
        last = black_box(run());
        best = best.min(start.elapsed());
    }
    (best, last)
}

fn main() {
    let jets = jets();
    let n = jets.columns[0].len();
    let ms = |time: Duration| time.as_secs_f64() * 1e3;
    let (made, p) = timed(|| momenta(&jets));
    println!("{EVENTS} events, {n} jets, best of {REPEATS}");
    println!("px, py, pz, energy of all jets: {:.1} ms", ms(made));
    let at = |i: usize| [p[0][i], p[1][i], p[2][i], p[3][i]];
    for (name, (time, (count, sum))) in [
        ("pairs", timed(|| pairs(&jets.offsets, at))),
        ("trijets", timed(|| trijets(&jets.offsets, at))),
    ] {
        let each = time.as_secs_f64() * 1e9 / count as f64;
        println!(
            "{name}: {:.1} ms for {count}, {each:.2} ns each ({sum:.0})",
            ms(time)
        );
    }
}
