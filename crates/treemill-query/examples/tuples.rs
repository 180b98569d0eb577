//! Times queries over pairs and triples of four-vectors in memory: what `compiled` does by hand, as
//! users write it. `cargo run --release --package treemill-query --example tuples`
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects
)]

#[path = "../tests/common/mod.rs"]
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

/// What it is, and the values that are booked.
const QUERIES: &[(&str, &[&str])] = &[
    (
        "four coordinates of every jet",
        &["sum(j.px + j.py + j.pz + j.energy for j in Jet)"],
    ),
    (
        "any pair of 60 to 120 GeV",
        &["any(60 < (a + b).mass < 120 for a, b in combinations(Jet, 2))"],
    ),
    (
        "any such pair of opposite charge",
        &["any(60 < (a + b).mass < 120 for a, b in combinations(Jet, 2) if a.charge != b.charge)"],
    ),
    (
        "least distance of a triple's mass",
        &["min(abs((a + b + c).mass - 172.5) for a, b, c in combinations(Jet, 3))"],
    ),
    (
        "pt and tag of the closest triple",
        &[
            "(top[0] + top[1] + top[2]).pt",
            "max(top[0].btag, top[1].btag, top[2].btag)",
        ],
    ),
];

fn table() -> (Table, usize) {
    let mut random = random();
    let mut columns: Vec<Vec<Vec<f64>>> = vec![Vec::new(); 6];
    let (mut triples, mut counts) = (0, Vec::new());
    for _ in 0..EVENTS {
        let n = multiplicity(&mut random);
        let mut lists: Vec<Vec<f64>> = vec![Vec::new(); 6];
        for _ in 0..n {
            let [pt, eta, phi, mass] = jet(&mut random);
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
        counts.push(f64::from(n));
        triples += (n * (n - 1) * (n - 2) / 6) as usize;
    }
    let names = ["pt", "eta", "phi", "mass", "btag", "charge"];
    let mut table = Table::new().scalar("nJet", DType::U32, &counts);
    for (name, column) in names.iter().zip(columns) {
        table = table.list(&format!("Jet_{name}"), DType::F32, Some("nJet"), &column);
    }
    (table, triples)
}

fn main() {
    let (table, triples) = table();
    let chosen: Vec<String> = std::env::args().skip(1).collect();
    println!("{EVENTS} events, {triples} triples, batches of {BATCH}, best of {REPEATS}");
    for (i, (name, values)) in QUERIES.iter().enumerate() {
        if !chosen.is_empty() && !chosen.contains(&i.to_string()) {
            continue;
        }
        let key = "abs((t[0] + t[1] + t[2]).mass - 172.5)";
        let mut steps = Steps::new().define(
            "top",
            &format!("min(combinations(Jet, 3), key=lambda t: {key})"),
        );
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
