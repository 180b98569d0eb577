//! A subscriber of `tracing` can see where time goes: metadata, reads, decompressing and decoding have spans.

use crate::samples::structures;
use crate::values::{by, open, read};
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};
use treemill_source::Latency;

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
        let (sample, known) = structures();
        let (bytes, key) = sample.write();
        let file = open(bytes, &key, Latency::Local).unwrap();
        let field = file.field(known[0].0).unwrap();
        read(&file, field, by(100, 1 << 20)).unwrap();
    });
    let names = names.0.lock().unwrap();
    let expected = ["decode", "decompress", "metadata", "read"];
    assert_eq!(names.iter().copied().collect::<Vec<_>>(), expected);
}
