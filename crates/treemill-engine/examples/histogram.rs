//! Fills a histogram of one column of a ROOT file and prints it.
//!
//! `cargo run --release -p treemill-engine --example histogram -- FILE TREE COLUMN LOW HIGH`

use serde_json::json;
use std::error::Error;
use std::sync::Arc;
use treemill_engine::{Bound, Catalog, Control, Specification};
use treemill_query::Outcome;
use treemill_read::File;
use treemill_source::Local;

const BINS: u32 = 20;
/// Entries that are done at a time.
const PACKET: usize = 100_000;
/// Characters of the highest bar.
const WIDTH: f64 = 60.0;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [path, tree, column, low, high] = arguments.as_slice() else {
        return Err("usage: histogram FILE TREE COLUMN LOW HIGH".into());
    };
    let (low, high): (f64, f64) = (low.parse()?, high.parse()?);
    let bins = fill(path, tree, column, low, high)?;
    let highest = bins
        .iter()
        .fold(1.0, |most: f64, (_, height)| most.max(*height));
    for (edge, height) in bins {
        let bar = "#".repeat((WIDTH * height / highest) as usize);
        println!("{edge:>12.4} {height:>12} {bar}");
    }
    Ok(())
}

/// The lower edges of the bins between `low` and `high`, and what is in them.
fn fill(
    path: &str,
    tree: &str,
    column: &str,
    low: f64,
    high: f64,
) -> Result<Vec<(f64, f64)>, Box<dyn Error>> {
    // What the Python side makes of `dataset.hist(axis, column)`.
    let axis = json!({
        "kind": "regular", "bins": BINS, "start": low, "stop": high,
        "underflow": false, "overflow": false, "circular": false,
    });
    let name = json!({"kind": "name", "id": column, "at": [0, column.chars().count()]});
    let specification = Specification::parse(
        &json!({
            "version": 1,
            "steps": [],
            "bookings": [{"at": null, "result": {
                "kind": "hist",
                "axes": [{"axis": axis, "expr": {"text": column, "tree": name}}],
                "weight": null,
            }}],
        })
        .to_string(),
    )?;
    let file = File::open(Arc::new(Local::open(path)?))?;
    let catalog = Catalog::new(file.table(tree)?);
    let bound = Bound::new(&specification, &catalog, None, None)?;
    let mut partial = bound.query().partial();
    let (control, entries) = (Control::default(), catalog.table().entries());
    for start in (0..entries).step_by(PACKET) {
        let stop = entries.min(start.saturating_add(PACKET as u64));
        bound.run(start..stop, &mut partial, &control)?;
    }
    let Some(Outcome::Hist { values, .. }) = partial.results().into_iter().next() else {
        return Err("the query has no histogram".into());
    };
    let width = (high - low) / f64::from(BINS);
    let edges = (0..BINS).map(|bin| low + width * f64::from(bin));
    Ok(edges.zip(values).collect())
}
