//! The limit that the benchmark measures treemill against: one thread of tight code that does only
//! what cannot be left out. It reads just the baskets needed into one buffer, decompresses them with
//! the same libraries, swaps their bytes and fills a plain array of bins. Metadata is read before the
//! clock starts; the file's answer to one query is all that it can do.
//!
//! `limit FILE TREE BRANCH[,BRANCH] NBINS LOW HIGH [--query Q] [--cut X] [--repeat N]`
//! - `q1`: the values of a flat branch; `q2`: of a jagged one;
//! - `q3`: the first branch's values where the second's are below the cut (1) in size;
//! - `q4`: the second branch's value where at least 2 of the first's are above the cut (40).
//!
//! All branches are `float`. Prints JSON: `bins` (without under- and overflow), `seconds` (median of
//! N runs after one that does not count) and `all`, each run's seconds.
#![allow(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation
)]

use std::error::Error;
use std::fs;
use std::os::unix::fs::FileExt;
use std::sync::Arc;
use std::time::Instant;
use treemill_format::basket::{BasketHeader, Payload};
use treemill_format::compress::Decompressor;
use treemill_format::tree::{BasketRef, Branch};
use treemill_read::File;
use treemill_source::Local;

type Fallible<T> = Result<T, Box<dyn Error>>;

/// Equal bins, in four copies, so that one increment need not wait for the one before it.
struct Bins {
    count: usize,
    low: f32,
    scale: f32,
    copies: [Vec<u64>; 4],
}

impl Bins {
    fn new(count: usize, low: f32, high: f32) -> Self {
        Bins {
            count,
            low,
            scale: count as f32 / (high - low),
            // One more for what lies outside.
            copies: std::array::from_fn(|_| vec![0; count + 1]),
        }
    }

    /// The value's bin, the last for what lies outside. A comparison with NaN is false.
    fn index(&self, value: f32) -> usize {
        let place = (value - self.low) * self.scale;
        let inside = place >= 0.0 && place < self.count as f32;
        if inside {
            place as i32 as usize
        } else {
            self.count
        }
    }

    fn fill(&mut self, value: f32) {
        let index = self.index(value);
        self.copies[0][index] += 1;
    }

    fn fill_all(&mut self, values: &[f32]) {
        let (fours, rest) = values.as_chunks::<4>();
        for four in fours {
            let places = four.map(|v| self.index(v));
            for (copy, place) in self.copies.iter_mut().zip(places) {
                copy[place] += 1;
            }
        }
        rest.iter().for_each(|v| self.fill(*v));
    }

    fn total(&self) -> Vec<u64> {
        let sum = |i: usize| self.copies.iter().map(|copy| copy[i]).sum();
        (0..self.count).map(sum).collect()
    }
}

/// A branch's baskets, one after another.
struct Baskets<'a> {
    file: &'a fs::File,
    refs: std::slice::Iter<'a, BasketRef>,
    packed: Vec<u8>,
    unpacked: Vec<u8>,
    values: Vec<f32>,
    starts: Vec<u32>,
    decompressor: Decompressor,
}

impl<'a> Baskets<'a> {
    fn new(file: &'a fs::File, branch: &'a Branch) -> Self {
        Baskets {
            file,
            refs: branch.baskets.iter(),
            packed: Vec::new(),
            unpacked: Vec::new(),
            values: Vec::new(),
            starts: Vec::new(),
            decompressor: Decompressor::new(),
        }
    }

    /// Brings the next basket's values, and its entries' starts where they are `wanted`.
    fn next(&mut self, wanted: bool) -> Fallible<bool> {
        let Some(basket) = self.refs.next() else {
            return Ok(false);
        };
        let len = (basket.bytes.end - basket.bytes.start) as usize;
        self.packed.resize(len, 0);
        self.file
            .read_exact_at(&mut self.packed, basket.bytes.start)?;
        let header = BasketHeader::parse(&self.packed)?;
        let body = &self.packed[header.key_len..header.record_len];
        let payload =
            self.decompressor
                .unpack(body, header.uncompressed_len, &mut self.unpacked)?;
        let data = header.data(payload)?;
        let numbers = data
            .as_chunks::<4>()
            .0
            .iter()
            .map(|&b| f32::from_be_bytes(b));
        self.values.clear();
        self.values.extend(numbers);
        if wanted {
            let parts: Payload<'_> = header.split(payload)?;
            header.entry_starts(parts, &mut self.starts)?;
        }
        Ok(true)
    }
}

/// What is left of a basket's values.
#[derive(Default)]
struct Rest {
    at: usize,
    len: usize,
}

fn all_values(file: &fs::File, branch: &Branch, bins: &mut Bins) -> Fallible<()> {
    let mut baskets = Baskets::new(file, branch);
    while baskets.next(false)? {
        bins.fill_all(&baskets.values);
    }
    Ok(())
}

/// Values of the first branch whose partner in the second is smaller in size than the cut. The two
/// have as many items in each entry, but their baskets may end at different ones.
fn partner_below(file: &fs::File, pair: [&Branch; 2], cut: f32, bins: &mut Bins) -> Fallible<()> {
    let mut baskets = pair.map(|branch| Baskets::new(file, branch));
    let mut rests = [Rest::default(), Rest::default()];
    let mut kept: Vec<f32> = Vec::new();
    loop {
        for (basket, rest) in baskets.iter_mut().zip(&mut rests) {
            while rest.at == rest.len {
                if !basket.next(false)? {
                    return Ok(());
                }
                *rest = Rest {
                    at: 0,
                    len: basket.values.len(),
                };
            }
        }
        let [first, second] = &baskets;
        let n = (rests[0].len - rests[0].at).min(rests[1].len - rests[1].at);
        let values = &first.values[rests[0].at..rests[0].at + n];
        let partners = &second.values[rests[1].at..rests[1].at + n];
        // Every value is written, and the next one over it where it was not wanted.
        kept.resize(n + 1, 0.0);
        let mut end = 0;
        for (value, partner) in values.iter().zip(partners) {
            kept[end] = *value;
            end += usize::from(partner.abs() < cut);
        }
        bins.fill_all(&kept[..end]);
        rests.iter_mut().for_each(|rest| rest.at += n);
    }
}

/// Values of the second, flat branch where at least two items of the first are above the cut.
fn two_above(file: &fs::File, pair: [&Branch; 2], cut: f32, bins: &mut Bins) -> Fallible<()> {
    let [jagged, flat] = pair;
    let mut jagged = Baskets::new(file, jagged);
    let mut flat = Baskets::new(file, flat);
    let (mut at, mut len) = (0, 0);
    while jagged.next(true)? {
        for ends in jagged.starts.windows(2) {
            if at == len {
                if !flat.next(false)? {
                    return Err("the flat branch ends first".into());
                }
                (at, len) = (0, flat.values.len());
            }
            let items = &jagged.values[ends[0] as usize / 4..ends[1] as usize / 4];
            if items.iter().filter(|v| **v > cut).count() >= 2 {
                bins.fill(flat.values[at]);
            }
            at += 1;
        }
    }
    Ok(())
}

fn option<'a>(args: &'a [String], name: &str) -> Option<&'a str> {
    let at = args.iter().position(|arg| arg == name)?;
    args.get(at + 1).map(String::as_str)
}

fn main() -> Fallible<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [path, tree, branches, nbins, low, high, ..] = args.as_slice() else {
        return Err(
            "limit FILE TREE BRANCH[,BRANCH] NBINS LOW HIGH [--query Q] [--cut X] [--repeat N]"
                .into(),
        );
    };
    let query = option(&args, "--query").unwrap_or("q1");
    let cut = option(&args, "--cut");
    let repeat: usize = option(&args, "--repeat").map_or(Ok(5), str::parse)?;
    let tree = File::open(Arc::new(Local::open(path)?))?.tree(tree)?;
    let branches = branches
        .split(',')
        .map(|name| {
            let index = tree
                .branch(name)
                .ok_or_else(|| format!("no branch {name}"))?;
            Ok(&tree.tree().branches[index])
        })
        .collect::<Fallible<Vec<_>>>()?;
    let (nbins, low, high) = (nbins.parse()?, low.parse()?, high.parse()?);
    let file = fs::File::open(path)?;
    let mut seconds = Vec::new();
    let mut total = Vec::new();
    for _ in 0..=repeat {
        let start = Instant::now();
        let mut bins = Bins::new(nbins, low, high);
        match (query, branches.as_slice()) {
            ("q1" | "q2", [branch]) => all_values(&file, branch, &mut bins)?,
            ("q3", &[a, b]) => {
                partner_below(&file, [a, b], cut.unwrap_or("1").parse()?, &mut bins)?;
            }
            ("q4", &[a, b]) => {
                two_above(&file, [a, b], cut.unwrap_or("40").parse()?, &mut bins)?;
            }
            _ => return Err(format!("no query {query} of {} branches", branches.len()).into()),
        }
        total = bins.total();
        seconds.push(start.elapsed().as_secs_f64());
    }
    // The first run warms up.
    let mut counted = seconds.split_off(1);
    let all = format!("{counted:?}");
    counted.sort_by(f64::total_cmp);
    let median = counted.get(counted.len() / 2).copied().unwrap_or(0.0);
    println!("{{\"seconds\": {median}, \"all\": {all}, \"bins\": {total:?}}}");
    Ok(())
}
