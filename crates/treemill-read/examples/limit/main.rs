//! The limit that the benchmark measures treemill against: one thread of tight code that does only
//! what cannot be left out. It reads just the baskets or pages needed into one buffer, decompresses them
//! with the same libraries, puts their bytes in order and fills a plain array of bins. Metadata is read
//! before the clock starts; the file's answer to one query is all that it can do.
//!
//! `limit FILE TREE BRANCH[,BRANCH] NBINS LOW HIGH [--query Q] [--cut X] [--repeat N]`
//! - `q1`: the values of a flat branch; `q2`: of a jagged one;
//! - `q3`: the first branch's values where the second's are below the cut (1) in size;
//! - `q4`: the second branch's value where at least 2 of the first's are above the cut (40).
//!
//! All branches, or fields of an RNTuple, are `float`. Prints JSON: `bins` (without under- and
//! overflow) and `seconds` (median of N runs after one that does not count).
#![allow(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation
)]

mod baskets;
mod bins;
mod pages;
mod queries;

use baskets::Baskets;
use bins::Bins;
use pages::Pages;
use std::error::Error;
use std::fs;
use std::sync::Arc;
use std::time::Instant;
use treemill_format::rntuple::{Columns, Shape};
use treemill_read::rntuple::NTupleFile;
use treemill_read::{File, Table, TreeFile};
use treemill_source::Local;

type Fallible<T> = Result<T, Box<dyn Error>>;

/// What is asked.
struct Question<'a> {
    query: &'a str,
    cut: Option<&'a str>,
    columns: Vec<&'a str>,
}

impl Question<'_> {
    fn cut(&self, default: f32) -> Fallible<f32> {
        Ok(self.cut.map_or(Ok(default), str::parse)?)
    }

    fn unknown(&self) -> Box<dyn Error> {
        format!("no query {} of {} columns", self.query, self.columns.len()).into()
    }
}

fn of_tree(tree: &TreeFile, file: &fs::File, asked: &Question, bins: &mut Bins) -> Fallible<()> {
    let baskets = |name: &str, has_starts| {
        let branch = &tree.tree().branches[tree.find(name)?];
        Fallible::Ok(Baskets::new(file, branch, has_starts))
    };
    match (asked.query, asked.columns.as_slice()) {
        ("q1" | "q2", [name]) => queries::all_values(baskets(name, false)?, bins),
        ("q3", [a, b]) => {
            let pair = [baskets(a, false)?, baskets(b, false)?];
            queries::partner_below(pair, asked.cut(1.0)?, bins)
        }
        ("q4", [a, b]) => {
            let (jagged, flat) = (baskets(a, true)?, baskets(b, false)?);
            queries::two_above(jagged, flat, asked.cut(40.0)?, bins)
        }
        _ => Err(asked.unknown()),
    }
}

/// The column of a field's numbers, and of the ends of its lists, if it has some.
fn columns(shape: &Shape) -> Fallible<(&Columns, Option<&Columns>)> {
    match shape {
        Shape::Number { columns, .. } => Ok((columns, None)),
        Shape::List { columns, item } => Ok((self::columns(item)?.0, Some(columns))),
        _ => Err("neither numbers nor lists of them".into()),
    }
}

fn of_ntuple(
    ntuple: &NTupleFile,
    file: &fs::File,
    asked: &Question,
    bins: &mut Bins,
) -> Fallible<()> {
    let shape = |name: &str| {
        let index = ntuple
            .field(name)
            .ok_or_else(|| format!("no field {name}"))?;
        Fallible::Ok(ntuple.shape(index)?)
    };
    let shapes = asked.columns.iter().map(|name| shape(name));
    let shapes = shapes.collect::<Fallible<Vec<_>>>()?;
    let columns = shapes.iter().map(columns).collect::<Fallible<Vec<_>>>()?;
    let pages = |columns| Pages::new(file, ntuple.ntuple(), columns);
    match (asked.query, columns.as_slice()) {
        ("q1" | "q2", &[(values, _)]) => queries::all_values(pages(values), bins),
        ("q3", &[(a, _), (b, _)]) => {
            queries::partner_below([pages(a), pages(b)], asked.cut(1.0)?, bins)
        }
        ("q4", &[(items, Some(ends)), (flat, _)]) => {
            let cut = asked.cut(40.0)?;
            queries::two_above_by_ends(pages(ends), pages(items), pages(flat), cut, bins)
        }
        _ => Err(asked.unknown()),
    }
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(0.0)
}

fn option<'a>(args: &'a [String], name: &str) -> Option<&'a str> {
    let at = args.iter().position(|arg| arg == name)?;
    args.get(at + 1).map(String::as_str)
}

fn main() -> Fallible<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [path, tree, columns, nbins, low, high, ..] = args.as_slice() else {
        return Err(
            "limit FILE TREE BRANCH[,BRANCH] NBINS LOW HIGH [--query Q] [--cut X] [--repeat N]"
                .into(),
        );
    };
    let asked = Question {
        query: option(&args, "--query").unwrap_or("q1"),
        cut: option(&args, "--cut"),
        columns: columns.split(',').collect(),
    };
    let repeat: usize = option(&args, "--repeat").map_or(Ok(5), str::parse)?;
    let table = File::open(Arc::new(Local::open(path)?))?.table(tree)?;
    let (nbins, low, high) = (nbins.parse()?, low.parse()?, high.parse()?);
    let file = fs::File::open(path)?;
    let mut seconds = Vec::new();
    let mut total = Vec::new();
    for _ in 0..=repeat {
        let start = Instant::now();
        let mut bins = Bins::new(nbins, low, high);
        match &table {
            Table::Tree(tree) => of_tree(tree, &file, &asked, &mut bins)?,
            Table::NTuple(ntuple) => of_ntuple(ntuple, &file, &asked, &mut bins)?,
        }
        total = bins.total();
        seconds.push(start.elapsed().as_secs_f64());
    }
    // The first run warms up.
    let median = median(seconds.split_off(1));
    println!("{{\"seconds\": {median}, \"bins\": {total:?}}}");
    Ok(())
}
