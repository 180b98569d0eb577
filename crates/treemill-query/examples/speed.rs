//! Times the benchmark's queries over arrays in memory, each beside a loop written by hand that does
//! the same: `cargo run --release --package treemill-query --example speed`.
#![allow(clippy::restriction)]

use arrow_array::types::Float32Type;
use arrow_array::{Array, ArrayRef, ListArray, PrimitiveArray, cast::AsArray};
use arrow_buffer::OffsetBuffer;
use std::error::Error;
use std::sync::Arc;
use std::time::{Duration, Instant};
use treemill_query::spec::{Action, Axis, AxisFill, Booking, Expression, Spec, Step, Wanted};
use treemill_query::{ColumnType, Columns, DType, Field, Outcome, Partial, Query, Schema, Scratch};

const EVENTS: usize = 1_000_000;
const BATCH: usize = 32_000;
const REPEATS: usize = 60;

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

/// One batch's columns: MET_pt, Jet_pt, Jet_eta.
type Parts = [ArrayRef; 3];
const NAMES: [&str; 3] = ["MET_pt", "Jet_pt", "Jet_eta"];

fn data() -> Vec<Parts> {
    let mut state = 88172645463325252_u64;
    let mut random = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as f64 / (1_u64 << 53) as f64
    };
    let mut parts = Vec::new();
    let mut left = EVENTS;
    while left > 0 {
        let rows = left.min(BATCH);
        left -= rows;
        let met = (0..rows).map(|_| (-30.0 * random().ln()) as f32);
        let met = PrimitiveArray::<Float32Type>::from_iter_values(met);
        let lengths: Vec<usize> = (0..rows)
            .map(|_| (random() * random() * 12.0) as usize)
            .collect();
        let jets: usize = lengths.iter().sum();
        let pt: Vec<f32> = (0..jets)
            .map(|_| (15.0 - 25.0 * random().ln()) as f32)
            .collect();
        let eta: Vec<f32> = (0..jets).map(|_| (random() * 5.0 - 2.5) as f32).collect();
        let offsets = OffsetBuffer::from_lengths(lengths);
        let list = |values: Vec<f32>| -> ArrayRef {
            let values = PrimitiveArray::<Float32Type>::from_iter_values(values);
            let field = arrow_schema::Field::new("item", values.data_type().clone(), false);
            Arc::new(ListArray::new(
                Arc::new(field),
                offsets.clone(),
                Arc::new(values),
                None,
            ))
        };
        parts.push([Arc::new(met), list(pt), list(eta)]);
    }
    parts
}

fn schema() -> Schema {
    let list = || ColumnType::List {
        item: DType::F32,
        counter: Some("nJet".to_owned()),
    };
    Schema::new(vec![
        Field::new("nJet", ColumnType::Scalar(DType::U32)),
        Field::new("MET_pt", ColumnType::Scalar(DType::F32)),
        Field::new("Jet_pt", list()),
        Field::new("Jet_eta", list()),
    ])
}

fn expression(json: &str) -> Expression {
    Expression {
        text: json.to_owned(),
        tree: serde_json::from_str(json).expect("an expression"),
    }
}

fn name(id: &str) -> String {
    format!(r#"{{"kind":"name","id":"{id}","at":[0,0]}}"#)
}

fn number(value: &str) -> String {
    format!(r#"{{"kind":"const","value":{value},"at":[0,0]}}"#)
}

fn compare(left: &str, op: &str, right: &str) -> String {
    format!(r#"{{"kind":"compare","left":{left},"ops":["{op}"],"rights":[{right}],"at":[0,0]}}"#)
}

fn call(function: &str, argument: &str) -> String {
    let function = name(function);
    format!(
        r#"{{"kind":"call","function":{function},"args":[{argument}],"keywords":[],"at":[0,0]}}"#
    )
}

fn index(value: &str, index: &str) -> String {
    format!(r#"{{"kind":"index","value":{value},"index":{index},"at":[0,0]}}"#)
}

fn query(filter: Option<&str>, value: &str, weight: Option<&str>) -> Query {
    let axis = Axis::Regular {
        bins: 100,
        start: 0.0,
        stop: 200.0,
        underflow: true,
        overflow: true,
        circular: false,
        transform: None,
    };
    let steps = filter.map(|filter| Step {
        parent: None,
        variation: None,
        action: Action::Filter {
            expr: expression(filter),
            name: None,
        },
    });
    let spec = Spec {
        version: 1,
        relations: Default::default(),
        steps: steps.into_iter().collect(),
        bookings: vec![Booking {
            at: filter.map(|_| 0),
            variation: None,
            result: Wanted::Hist {
                axes: vec![AxisFill {
                    axis,
                    expr: expression(value),
                }],
                weight: weight.map(expression),
                squares: true,
            },
        }],
    };
    Query::compile(&spec, &schema()).expect("a query")
}

/// Best time of a run, and what it made.
fn timed<T>(mut run: impl FnMut() -> T) -> (Duration, T) {
    let mut times = Vec::new();
    let mut last = run();
    for _ in 0..REPEATS {
        let start = Instant::now();
        last = run();
        times.push(start.elapsed());
    }
    (times.into_iter().min().unwrap_or_default(), last)
}

fn engine(query: &Query, data: &[Parts], scratch: &mut Scratch) -> Partial {
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
    partial
}

#[inline(always)]
fn cell(x: f32) -> usize {
    let z = (f64::from(x) - 0.0) / (200.0 - 0.0);
    if z < 1.0 {
        if z >= 0.0 {
            (z * 100.0) as usize + 1
        } else {
            0
        }
    } else {
        101
    }
}

fn floats(array: &ArrayRef) -> &[f32] {
    array.as_primitive::<Float32Type>().values()
}

fn items(array: &ArrayRef) -> (&[i32], &[f32]) {
    let list: &ListArray = array.as_list();
    (list.offsets(), floats(list.values()))
}

type Bins = [u64; 102];

fn by_hand(which: usize, data: &[Parts]) -> Bins {
    let mut bins = [0; 102];
    for [met, pt, eta] in data {
        let (offsets, pt) = items(pt);
        let (_, eta) = items(eta);
        match which {
            0 => floats(met).iter().for_each(|x| bins[cell(*x)] += 1),
            1 => pt.iter().for_each(|x| bins[cell(*x)] += 1),
            2 => {
                for (pt, eta) in pt.iter().zip(eta) {
                    if eta.abs() < 1.0 {
                        bins[cell(*pt)] += 1;
                    }
                }
            }
            _ => {
                for (met, ends) in floats(met).iter().zip(offsets.windows(2)) {
                    let jets = &pt[ends[0] as usize..ends[1] as usize];
                    if jets.iter().filter(|pt| **pt > 40.0).count() >= 2 {
                        bins[cell(*met)] += 1;
                    }
                }
            }
        }
    }
    bins
}

fn main() {
    let data = data();
    let (met, pt) = (name("MET_pt"), name("Jet_pt"));
    let central = compare(&call("abs", &name("Jet_eta")), "<", &number("1"));
    let two = compare(
        &call("sum", &compare(&pt, ">", &number("40"))),
        ">=",
        &number("2"),
    );
    let queries = [
        ("MET_pt", query(None, &met, None)),
        ("Jet_pt", query(None, &pt, None)),
        (
            "Jet_pt[abs(Jet_eta) < 1]",
            query(None, &index(&pt, &central), None),
        ),
        (
            "MET_pt where sum(Jet_pt > 40) >= 2",
            query(Some(&two), &met, None),
        ),
    ];
    let mut scratch = Scratch::default();
    println!("{EVENTS} events in batches of {BATCH}, best of {REPEATS}, in ms");
    println!(
        "{:36} {:>8} {:>8} {:>6}",
        "query", "treemill", "by hand", "ratio"
    );
    for (which, (name, query)) in queries.iter().enumerate() {
        let (time, partial) = timed(|| engine(query, &data, &mut scratch));
        let (hand, bins) = timed(|| by_hand(which, &data));
        let ms = |time: Duration| time.as_secs_f64() * 1e3;
        println!(
            "{name:36} {:8.3} {:8.3} {:6.2}",
            ms(time),
            ms(hand),
            ms(time) / ms(hand)
        );
        let expected: Vec<f64> = bins.iter().map(|n| *n as f64).collect();
        match &partial.results()[..] {
            [Outcome::Hist { values, .. }] => assert_eq!(*values, expected),
            other => println!("no histogram: {other:?}"),
        }
    }
    let weighted = query(None, &pt, Some(&met));
    let (time, _) = timed(|| engine(&weighted, &data, &mut scratch));
    println!(
        "{:36} {:8.3}",
        "Jet_pt, weight MET_pt",
        time.as_secs_f64() * 1e3
    );
}
