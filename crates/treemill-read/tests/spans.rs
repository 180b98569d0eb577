//! A subscriber of `tracing` can see where time goes: each step of reading has a span. This test has a program
//! of its own, because `tracing` remembers for the whole process which spans a subscriber has wanted.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};
use treemill_read::{File, Options, Reader};
use treemill_source::Local;

/// Collects the names of spans.
#[derive(Clone, Default)]
struct Names(Arc<Mutex<BTreeSet<&'static str>>>);

impl Subscriber for Names {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target().starts_with("treemill_read")
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        self.0.lock().unwrap().insert(span.metadata().name());
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn event(&self, _: &Event<'_>) {}
    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}
}

#[test]
fn each_step_of_reading_has_a_span() {
    let names = Names::default();
    tracing::subscriber::with_default(names.clone(), || {
        let file = File::open(Arc::new(Local::open("tests/data/muons.root").unwrap())).unwrap();
        let table = file.table("Events").unwrap();
        let columns = [table.find("Muon_pt").unwrap()];
        let mut reader = Reader::new(table, &columns).unwrap();
        let mut batches = reader.batches(0..3, Options::default()).unwrap();
        while let Some(mut batch) = batches.next_batch() {
            batch.column(0).unwrap();
        }
    });
    let names = names.0.lock().unwrap();
    let expected = ["decode", "decompress", "metadata", "open", "read"];
    assert_eq!(names.iter().copied().collect::<Vec<_>>(), expected);
}
