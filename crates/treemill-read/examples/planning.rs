//! How long it takes to plan what a packet of a distant file needs, when that is all baskets of a tree: which ranges they are,
//! in which order, and the inbox's decision of what is asked for now. No byte is moved: the source answers nothing.
//!
//! `planning BRANCHES BASKETS REPEAT` prints JSON: `wants` (baskets in all) and `seconds` (of each of REPEAT runs).
#![allow(clippy::arithmetic_side_effects, clippy::single_range_in_vec_init)]

use std::error::Error;
use std::ops::Range;
use std::sync::Arc;
use std::time::{Duration, Instant};
use treemill_format::layout::Layout;
use treemill_format::tree::{BasketRef, Branch, Tree};
use treemill_read::{Counters, Inbox, Table, TreeFile, Want, wants};
use treemill_source::{Costs, Info, Request, Source, SourceError, Ticket};

const ENTRIES: u64 = 1000; // of a basket
const BYTES: u64 = 4096; // of a basket

/// A file far away that is silent.
struct Silent(Info);

impl Source for Silent {
    fn info(&self) -> &Info {
        &self.0
    }

    fn costs(&self) -> Costs {
        Costs::far(Duration::from_millis(137))
    }

    fn read(&self, _requests: &mut [Request]) -> Result<(), SourceError> {
        Err(SourceError::new(self.name(), "it is silent"))
    }

    fn submit(&self, ranges: Vec<Range<u64>>) -> Vec<Ticket> {
        let one = |range| {
            let (ticket, promise) = Ticket::new(self.name(), range);
            std::mem::forget(promise); // else it would be broken
            ticket
        };
        ranges.into_iter().map(one).collect()
    }
}

/// A branch whose baskets lie between those of the others, as trees are written.
fn branch(number: u64, of: u64, baskets: u64) -> Branch {
    let basket = |nth: u64| {
        let start = (nth * of + number) * BYTES;
        BasketRef {
            entries: nth * ENTRIES..(nth + 1) * ENTRIES,
            bytes: start..start + BYTES,
        }
    };
    Branch {
        name: format!("branch_{number}"),
        title: String::new(),
        parent: None,
        children: Vec::new(),
        cpp_type: "float".to_owned(),
        counter: None,
        is_base: false,
        layout: Layout::Record(Vec::new()),
        entries: baskets * ENTRIES,
        has_entry_offsets: false,
        baskets: (0..baskets).map(basket).collect(),
        embedded: Vec::new(),
        total_bytes: baskets * BYTES,
        zip_bytes: baskets * BYTES,
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<u64> = std::env::args()
        .skip(1)
        .map(|word| word.parse())
        .collect::<Result<_, _>>()?;
    let [branches, baskets, repeat] = args.as_slice() else {
        return Err("planning BRANCHES BASKETS REPEAT".into());
    };
    let entries = baskets * ENTRIES;
    let source: Arc<dyn Source> = Arc::new(Silent(Info::new(
        "root://silent//file.root",
        branches * baskets * BYTES,
    )));
    let tree = Tree {
        name: "Events".to_owned(),
        title: String::new(),
        entries,
        clusters: (0..*baskets).map(|nth| nth * ENTRIES).collect(),
        aliases: Vec::new(),
        index: None,
        friends: Vec::new(),
        weight: 1.0,
        is_reshuffled: false,
        branches: (0..*branches)
            .map(|number| branch(number, *branches, *baskets))
            .collect(),
    };
    let table = Table::Tree(Arc::new(TreeFile::new(Arc::clone(&source), tree)));
    let columns: Vec<usize> = (0..usize::try_from(*branches)?).collect();
    let mut seconds = Vec::new();
    let mut count = 0;
    for _ in 0..*repeat {
        let inbox = Inbox::new(&source).ok_or("the source is far")?;
        let lease = inbox.lease(&Arc::new(Counters::default()));
        let start = Instant::now();
        let found = wants(&table, &columns, &[0..entries]);
        count = found.len();
        lease.ask(found.into_iter().map(Want::asked));
        seconds.push(start.elapsed().as_secs_f64());
    }
    println!("{{\"wants\": {count}, \"seconds\": {seconds:?}}}");
    Ok(())
}
