//! Spans of the work that tracing shows: batches that are evaluated, partials that are merged.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects
)]

mod common;

use common::Steps;
use common::events::events;
use std::sync::{Arc, Mutex};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

/// Notes the names of spans.
#[derive(Clone, Default)]
struct Names(Arc<Mutex<Vec<&'static str>>>);

impl Subscriber for Names {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }
    fn new_span(&self, span: &Attributes<'_>) -> Id {
        self.0.lock().unwrap().push(span.metadata().name());
        Id::from_u64(1)
    }
    fn record(&self, _: &Id, _: &Record<'_>) {}
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn event(&self, _: &Event<'_>) {}
    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}
}

#[test]
fn batches_and_merges_have_spans() {
    let names = Names::default();
    let query = Steps::new().count().compile(&events()).unwrap();
    tracing::subscriber::with_default(names.clone(), || {
        Steps::new().count().run_in(&events(), 3);
        query.partial().merge(&query.partial()).unwrap();
    });
    let seen = names.0.lock().unwrap().clone();
    // `run_in` goes through the batches twice.
    let batches = 2 * events().rows().div_ceil(3);
    assert_eq!(
        seen.iter().filter(|name| **name == "evaluate").count(),
        batches
    );
    assert_eq!(seen.last(), Some(&"commit"));
}
