//! A subscriber of `tracing` that records which spans are opened, and a count of the spans that are known to the
//! process. Knows no crate's spans.

use std::sync::{Arc, Mutex, PoisonError};
use tracing::span::{Attributes, Id, Record};
use tracing::subscriber::{Interest, with_default};
use tracing::{Event, Metadata, Subscriber};

/// Records names of treemill's spans, in two lists: the spans that are registered, and those that are opened.
#[derive(Clone, Default)]
struct Names {
    registered: Arc<Mutex<Vec<&'static str>>>,
    opened: Arc<Mutex<Vec<&'static str>>>,
}

fn note(names: &Mutex<Vec<&'static str>>, name: &'static str) {
    names
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .push(name);
}

fn taken(names: &Mutex<Vec<&'static str>>) -> Vec<&'static str> {
    std::mem::take(&mut *names.lock().unwrap_or_else(PoisonError::into_inner))
}

impl Subscriber for Names {
    fn register_callsite(&self, metadata: &'static Metadata<'static>) -> Interest {
        if !self.enabled(metadata) {
            return Interest::never();
        }
        note(&self.registered, metadata.name());
        Interest::always()
    }

    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target().starts_with("treemill_")
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        note(&self.opened, span.metadata().name());
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn event(&self, _: &Event<'_>) {}
    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}
}

/// Runs `work` and returns the names of the spans that this thread opened, in order.
pub fn spans_of<T>(work: impl FnOnce() -> T) -> (T, Vec<&'static str>) {
    let names = Names::default();
    let value = with_default(names.clone(), work);
    (value, taken(&names.opened))
}

/// The spans that have registered themselves in this process. A span does so the first time that its level is
/// wanted: none is registered as long as the comparison of levels is all that has been done.
pub fn registered_spans() -> Vec<&'static str> {
    let names = Names::default();
    // A new subscriber is asked about every registered span.
    with_default(names.clone(), || taken(&names.registered))
}
