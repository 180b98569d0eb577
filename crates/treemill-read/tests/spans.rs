//! A subscriber of `tracing` can see where time goes: each step of reading has a span. This test has a program
//! of its own, because `tracing` remembers for the whole process which spans a subscriber has wanted.
#![allow(clippy::restriction)]

use std::sync::Arc;
use treemill_read::{File, Options, Reader};
use treemill_source::Local;
use treemill_testing::spans_of;

#[test]
fn each_step_of_reading_has_a_span() {
    let (file, seen) =
        spans_of(|| File::open(Arc::new(Local::open("tests/data/muons.root").unwrap())).unwrap());
    // The header, and the directory's keys.
    assert_eq!(seen, ["open", "read", "read"]);
    let (table, seen) = spans_of(|| file.table("Events").unwrap());
    // The streamer information and the tree are read at once.
    assert_eq!(seen, ["metadata", "read", "decompress", "decompress"]);
    let ((), seen) = spans_of(|| {
        let columns = [table.find("Muon_pt").unwrap()];
        let mut reader = Reader::new(table, &columns).unwrap();
        let mut batches = reader.batches(0..3, Options::default()).unwrap();
        while let Some(mut batch) = batches.next_batch() {
            batch.column(0).unwrap();
        }
    });
    // Three floats are too few to be stored compressed.
    assert_eq!(seen, ["read", "decode"]);
}
