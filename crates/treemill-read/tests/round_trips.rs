//! How many round trips it takes to open a file and to read columns of it, counted without a clock: what was asked for comes
//! when a thread waits. To connect, to log in and to open come on top; they are counted where protocols are.
#![allow(clippy::unwrap_used, clippy::arithmetic_side_effects)]

use std::path::Path;
use std::sync::Arc;
use treemill_read::{File, Options, Reader};
use treemill_source::{Costs, Edges};
use treemill_testing::{FAR, FarSource};

/// Opens the file, reads ten columns of all of its entries, and says how many round trips were waited for: to open it, and
/// in all. `None`, with the reason printed, where there is no such file.
fn waited(path: &str, table: &str, window: u64) -> Option<(u64, u64)> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    let Ok(bytes) = std::fs::read(&path) else {
        eprintln!("skipped: no {}", path.display());
        return None;
    };
    let costs = Costs { window, ..FAR };
    let source = Arc::new(FarSource::new(bytes, costs));
    let file = File::open(Arc::new(Edges::of(Arc::clone(&source) as _))).unwrap();
    let table = file.table(table).unwrap();
    let opened = source.round_trips();
    let columns: Vec<usize> = (0..)
        .take_while(|&column| table.arrow_field(column).is_ok())
        .take(10)
        .collect();
    let mut reader = Reader::new(table.clone(), &columns).unwrap();
    reader.ask(&columns, 0..table.entries()).unwrap();
    let mut batches = reader
        .batches(0..table.entries(), Options::default())
        .unwrap();
    while let Some(mut batch) = batches.next_batch() {
        for column in 0..columns.len() {
            batch.column(column).unwrap();
        }
    }
    Some((opened, source.round_trips()))
}

/// Round trips to open, and in all.
type Trips = (u64, u64);

/// A file and a tree, and the round trips if each brings all that was asked for, and on eight new connections.
const EXPECTED: &[(&str, &str, [Trips; 2])] = &[
    ("tests/data/muons.root", "Events", [(1, 2), (1, 2)]),
    (
        "../../../shared/corpus/nanoAOD_2015_CMS_Open_Data_ttbar.root",
        "Events",
        [(2, 2), (3, 3)],
    ),
    (
        "../../../shared/corpus/coffea-nano_dy.root",
        "Events",
        [(2, 3), (2, 3)],
    ),
    // As uproot writes files: the key list among the first bytes, the tree and the streamer information after it.
    (
        "../../../shared/corpus/uproot-issue-1070.root",
        "tree",
        [(2, 3), (2, 3)],
    ),
];

#[test]
fn to_open_a_file_and_to_read_ten_columns_costs_few_round_trips() {
    for (path, table, expected) in EXPECTED {
        for (window, expected) in [u64::MAX, 8 * 14_600].into_iter().zip(expected) {
            let Some(found) = waited(path, table, window) else {
                continue;
            };
            assert_eq!(found, *expected, "{path}, {window} bytes in the first one");
        }
    }
}
