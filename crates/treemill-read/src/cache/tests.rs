//! How often the cache's lock is taken: for each basket or page, not for each batch or entry.
#![allow(clippy::restriction)]

use super::*;
use std::cell::Cell;
use treemill_format::rntuple::{Element, Encoding};
use treemill_source::{Costs, Memory as Bytes};
use treemill_testing::Watched;

thread_local! {
    /// How often this thread has taken the lock.
    static TAKEN: Cell<usize> = const { Cell::new(0) };
}

/// Counts one more.
pub(super) fn count() {
    TAKEN.set(TAKEN.get() + 1);
}

/// A source whose content the cache may keep.
fn source() -> impl Source {
    let identity = Identity {
        place: [1, 1],
        size: 100,
        state: [1, 0, 1, 0],
    };
    Watched::new(Bytes::new("bytes", vec![0; 100], Costs::NEAR)).with_identity(Some(identity))
}

/// How often the lock is taken when a pass uses these bytes of a file once, as the readers do.
fn taken_by_a_pass(source: &dyn Source, bytes: &Range<u64>) -> usize {
    TAKEN.set(0);
    let counters = Counters::default();
    match look::<Page>(source, bytes, &counters) {
        Lookup::Hit(..) => (),
        Lookup::Admit(key) => {
            let kind = PageKind {
                encoding: Encoding {
                    element: Element::U8,
                    split: false,
                },
                elements: 1,
                has_checksum: false,
            };
            let elements = Elements::Encoded(vec![0; 4]);
            key.remember(Page { kind, elements }, &counters);
        }
        Lookup::Miss(key) => {
            if let Some(key) = key {
                key.note(4, &counters);
            }
        }
    }
    TAKEN.get()
}

#[test]
fn the_lock_is_taken_twice_for_a_payload_until_it_is_remembered_and_then_once() {
    let (source, bytes) = (source(), 0..50);
    let passes =
        |n: usize| -> Vec<usize> { (0..n).map(|_| taken_by_a_pass(&source, &bytes)).collect() };
    assert_eq!(passes(1), [0]); // the cache is off
    set_limit(1 << 20);
    assert_eq!(passes(4), [2, 2, 1, 1]);
    set_limit(0);
}
