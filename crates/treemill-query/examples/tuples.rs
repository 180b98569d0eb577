//! Times queries over pairs and triples of four-vectors in memory: what `compiled` does by hand, as
//! users write it. `cargo run --release --package treemill-query --example tuples`
#![allow(clippy::restriction)]

#[path = "../tests/query/common/mod.rs"]
mod common;
mod jets;

use common::table::Table;
use common::{Steps, regular};
use jets::{jet, multiplicity, random};
use std::hint::black_box;
use std::time::{Duration, Instant};
use treemill_query::{DType, Scratch};

const EVENTS: usize = 100_000;
const BATCH: usize = 10_000;
const REPEATS: usize = 100;

/// What it is, what is defined for it, and the values that are booked.
type Case = (
    &'static str,
    &'static [(&'static str, &'static str)],
    &'static [&'static str],
);

const QUERIES: &[Case] = &[
    (
        "four coordinates of every jet",
        &[],
        &["sum(j.px + j.py + j.pz + j.energy for j in Jet)"],
    ),
    (
        "any pair of 60 to 120 GeV",
        &[],
        &["any(60 < (a + b).mass < 120 for a, b in combinations(Jet, 2))"],
    ),
    (
        "any such pair of opposite charge",
        &[],
        &["any(60 < (a + b).mass < 120 for a, b in combinations(Jet, 2) if a.charge != b.charge)"],
    ),
    (
        "least distance of a triple's mass",
        &[],
        &["min(abs((a + b + c).mass - 172.5) for a, b, c in combinations(Jet, 3))"],
    ),
    (
        "pt and tag of the closest triple",
        &[(
            "top",
            "min(combinations(Jet, 3), key=lambda t: abs((t[0] + t[1] + t[2]).mass - 172.5))",
        )],
        &[
            "(top[0] + top[1] + top[2]).pt",
            "max(top[0].btag, top[1].btag, top[2].btag)",
        ],
    ),
    (
        "leading lepton beside the closest pair",
        &[
            ("ls", "concat(Electron, Muon)"),
            (
                "z",
                "min([(a[0], b[0], a[1] + b[1]) for a, b in combinations(enumerate(ls), 2) \
                 if (a[0] < nElectron) == (b[0] < nElectron) and a[1].charge != b[1].charge], \
                 key=lambda i, j, sum: abs(sum.mass - 91.2))",
            ),
            (
                "o",
                "max([l for i, l in enumerate(ls) if z[0] != i != z[1]], key=lambda l: l.pt)",
            ),
        ],
        &["o.pt"],
    ),
];

const MEMBERS: [&str; 6] = ["pt", "eta", "phi", "mass", "btag", "charge"];

/// Adds a collection, with `counts` items in the events.
fn with(table: Table, name: &str, counts: &[i32], random: &mut impl FnMut() -> f64) -> Table {
    let mut columns: Vec<Vec<Vec<f64>>> = vec![Vec::new(); MEMBERS.len()];
    for n in counts {
        let mut lists: Vec<Vec<f64>> = vec![Vec::new(); MEMBERS.len()];
        for _ in 0..*n {
            let [pt, eta, phi, mass] = jet(random);
            let tag = random();
            let charge = if random() < 0.5 { -1.0 } else { 1.0 };
            let values = [pt, eta, phi, mass, tag, charge];
            for (list, value) in lists.iter_mut().zip(values) {
                list.push(value);
            }
        }
        for (column, list) in columns.iter_mut().zip(lists) {
            column.push(list);
        }
    }
    let counter = format!("n{name}");
    let counts: Vec<f64> = counts.iter().map(|n| f64::from(*n)).collect();
    let mut table = table.scalar(&counter, DType::U32, &counts);
    for (member, column) in MEMBERS.iter().zip(columns) {
        let column_name = format!("{name}_{member}");
        table = table.list(&column_name, DType::F32, Some(&counter), &column);
    }
    table
}

fn table() -> (Table, usize) {
    let mut random = random();
    let jets: Vec<i32> = (0..EVENTS).map(|_| multiplicity(&mut random)).collect();
    let triples: i32 = jets.iter().map(|n| n * (n - 1) * (n - 2) / 6).sum();
    let mut table = with(Table::new(), "Jet", &jets, &mut random);
    for name in ["Electron", "Muon"] {
        let counts: Vec<i32> = (0..EVENTS).map(|_| 1 + (random() * 2.0) as i32).collect();
        table = with(table, name, &counts, &mut random);
    }
    (table, triples as usize)
}

fn main() {
    let (table, triples) = table();
    let chosen: Vec<String> = std::env::args().skip(1).collect();
    println!("{EVENTS} events, {triples} triples, batches of {BATCH}, best of {REPEATS}");
    for (i, (name, definitions, values)) in QUERIES.iter().enumerate() {
        if !chosen.is_empty() && !chosen.contains(&i.to_string()) {
            continue;
        }
        let mut steps = Steps::new();
        for (name, text) in *definitions {
            steps = steps.define(name, text);
        }
        for value in *values {
            steps = steps.hist(&[(value, regular(128, 0.0, 256.0))], None);
        }
        let query = steps.compile(&table).expect("a query");
        let mut scratch = Scratch::default();
        let mut best = Duration::MAX;
        for _ in 0..REPEATS {
            let mut partial = query.partial();
            let start = Instant::now();
            for start in (0..EVENTS).step_by(BATCH) {
                let mut batch = table.batch(&query, start, start + BATCH);
                query
                    .process(&mut batch, &mut partial, &mut scratch)
                    .expect("values");
            }
            best = best.min(start.elapsed());
            black_box(partial);
        }
        println!("{name}: {:.2} ms", best.as_secs_f64() * 1e3);
    }
}
