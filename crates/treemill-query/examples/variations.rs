//! What a variation of jets costs beside the plainest loop that does the same, over arrays in memory:
//! `cargo run --release --package treemill-query --example variations [variations] [rounds]`.
//!
//! For each variation jets are scaled, events with two above 30 GeV are kept, and the sum of these jets' pt is filled
//! with a weight. With one round the loop is left out, so that `valgrind --tool=callgrind` counts treemill's instructions.
#![allow(clippy::restriction)]

#[path = "../tests/query/common/mod.rs"]
mod common;

use arrow_array::types::{Float32Type, UInt32Type};
use arrow_array::{Array, ArrayRef, ListArray, PrimitiveArray, cast::AsArray};
use arrow_buffer::OffsetBuffer;
use common::Steps;
use std::error::Error;
use std::sync::Arc;
use std::time::{Duration, Instant};
use treemill_query::spec::Axis;
use treemill_query::{ColumnType, Columns, DType, Field, Outcome, Query, Schema, Scratch};

const EVENTS: usize = 1_000_000;
const BATCH: usize = 32_000;
const BINS: usize = 50;
const NAMES: [&str; 3] = ["nMuon", "nJet", "Jet_pt"];

/// One batch's columns.
type Parts = [ArrayRef; 3];

struct Batch<'a> {
    rows: usize,
    columns: Vec<&'a ArrayRef>,
}

impl Columns for Batch<'_> {
    fn rows(&self) -> usize {
        self.rows
    }
    fn column(&mut self, index: usize) -> Result<ArrayRef, Box<dyn Error + Send + Sync>> {
        Ok(self.columns[index].clone())
    }
}

/// 3.2 jets in the mean, every fifth of them above 30 GeV.
fn data() -> Vec<Parts> {
    let mut state = 88172645463325252_u64;
    let mut random = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as f64 / (1_u64 << 53) as f64
    };
    let mut parts: Vec<Parts> = Vec::new();
    for first in (0..EVENTS).step_by(BATCH) {
        let rows = BATCH.min(EVENTS - first);
        let muons = (0..rows).map(|_| (random() * 3.0) as u32);
        let muons = PrimitiveArray::<UInt32Type>::from_iter_values(muons);
        // Poisson: how many numbers it takes until their product is small.
        let lengths: Vec<usize> = (0..rows)
            .map(|_| {
                let (mut product, mut count) = (random(), 0);
                while product > (-3.2_f64).exp() {
                    product *= random();
                    count += 1;
                }
                count
            })
            .collect();
        let jets: usize = lengths.iter().sum();
        let counts = lengths.iter().map(|len| *len as u32);
        let counts = PrimitiveArray::<UInt32Type>::from_iter_values(counts);
        let pt = (0..jets).map(|_| (15.0 - 9.0 * random().ln()) as f32);
        let pt = PrimitiveArray::<Float32Type>::from_iter_values(pt);
        let field = arrow_schema::Field::new("item", pt.data_type().clone(), false);
        let offsets = OffsetBuffer::from_lengths(lengths);
        let pt = ListArray::new(Arc::new(field), offsets, Arc::new(pt), None);
        parts.push([Arc::new(muons), Arc::new(counts), Arc::new(pt)]);
    }
    parts
}

fn factor(variation: usize) -> f64 {
    1.0 + variation as f64 / 1000.0
}

fn query(variations: usize) -> Query {
    let axis = Axis::Regular {
        bins: BINS as _,
        start: 0.0,
        stop: 500.0,
        underflow: true,
        overflow: true,
        circular: false,
        transform: None,
    };
    let mut steps = Steps::new().define("weight", "nMuon + 0.5");
    for variation in 0..=variations {
        steps = steps.at(Some(0));
        if variation > 0 {
            steps = steps.define("Jet_pt", &format!("Jet_pt * {}", factor(variation)));
        }
        steps = steps
            .define("ht", "sum(Jet_pt[Jet_pt > 30])")
            .define("two", "sum(Jet_pt > 30) >= 2")
            .filter("two")
            .hist(&[("ht", axis.clone())], Some("weight"));
    }
    let list = ColumnType::List {
        item: DType::F32,
        counter: Some("nJet".to_owned()),
    };
    let fields = vec![
        Field::new("nMuon", ColumnType::Scalar(DType::U32)),
        Field::new("nJet", ColumnType::Scalar(DType::U32)),
        Field::new("Jet_pt", list),
    ];
    Query::compile(&steps.spec.expect("a specification"), &Schema::new(fields)).expect("a query")
}

#[inline(never)]
fn engine(query: &Query, data: &[Parts], scratch: &mut Scratch) -> Vec<Vec<f64>> {
    let mut partial = query.partial();
    for part in data {
        let columns = query.columns().iter().map(|wanted| {
            let found = NAMES.iter().position(|name| name == wanted);
            &part[found.expect("a column")]
        });
        let mut batch = Batch {
            rows: part[0].len(),
            columns: columns.collect(),
        };
        query
            .process(&mut batch, &mut partial, scratch)
            .expect("a result");
    }
    let values = partial.results().into_iter().map(|outcome| match outcome {
        Outcome::Hist { values, .. } => values,
        _ => Vec::new(),
    });
    values.collect()
}

fn by_hand(variations: usize, data: &[Parts]) -> Vec<Vec<f64>> {
    let mut bins = vec![vec![[0.0; 2]; BINS + 2]; variations + 1];
    for [muons, _, pt] in data {
        let muons = muons.as_primitive::<UInt32Type>().values();
        let list: &ListArray = pt.as_list();
        let pt = list.values().as_primitive::<Float32Type>().values();
        for (variation, bins) in bins.iter_mut().enumerate() {
            let factor = factor(variation);
            for (muons, ends) in muons.iter().zip(list.offsets().windows(2)) {
                let (mut count, mut ht) = (0, 0.0);
                for pt in &pt[ends[0] as usize..ends[1] as usize] {
                    let pt = f64::from(*pt) * factor;
                    if pt > 30.0 {
                        count += 1;
                        ht += pt;
                    }
                }
                if count >= 2 {
                    let cell = ((ht / 500.0 * BINS as f64) as usize + 1).min(BINS + 1);
                    let weight = f64::from(*muons) + 0.5;
                    bins[cell][0] += weight;
                    bins[cell][1] += weight * weight;
                }
            }
        }
    }
    let values = |bins: Vec<[f64; 2]>| bins.into_iter().map(|cell| cell[0]).collect();
    bins.into_iter().map(values).collect()
}

/// Best time of a round, and what it made.
fn timed<T>(rounds: usize, mut run: impl FnMut() -> T) -> (Duration, T) {
    let mut best = Duration::MAX;
    let mut last = run();
    for _ in 1..rounds {
        let start = Instant::now();
        last = run();
        best = best.min(start.elapsed());
    }
    (best, last)
}

fn main() {
    let mut arguments = std::env::args()
        .skip(1)
        .filter_map(|text| text.parse().ok());
    let variations: usize = arguments.next().unwrap_or(20);
    let rounds: usize = arguments.next().unwrap_or(20);
    let data = data();
    let mut scratch = Scratch::default();
    let mut each = Vec::new();
    for number in [0, variations] {
        let query = query(number);
        let (time, found) = timed(rounds, || engine(&query, &data, &mut scratch));
        let hand = (rounds > 1).then(|| timed(rounds, || by_hand(number, &data)));
        let (hand, expected) = hand.unwrap_or((time, found.clone()));
        assert_eq!(found, expected);
        each.push([time, hand].map(|time| time.as_secs_f64() * 1e9 / EVENTS as f64));
    }
    println!("ns for an event, best of {rounds}: treemill, by hand");
    let [[nominal, plain], [all, plain_all]] = each[..] else {
        return;
    };
    let n = variations.max(1) as f64;
    println!("nominal          {nominal:6.2} {plain:6.2}");
    let (one, plain_one) = ((all - nominal) / n, (plain_all - plain) / n);
    println!("each variation   {one:6.2} {plain_one:6.2}");
}
