//! What spans of `tracing` cost. The spans of a packet are as many as its baskets and batches, whatever the number
//! of its events. Without a subscriber a span is one comparison of levels. This test has a program of its own,
//! because `tracing` remembers for the whole process which spans a subscriber has wanted.
#![allow(clippy::restriction)]

mod common;

use common::{Stored, above, catalog, doubles, query, sum};
use std::collections::BTreeMap;
use treemill_engine::{Bound, Catalog, Control};
use treemill_format::layout::{Layout, Number};
use treemill_testing::{registered_spans, spans_of};

const BASKETS: usize = 20;
const COLUMNS: usize = 2;

/// A filter on one column, and the sum of another. Some events pass, in each basket.
fn bound(catalog: &Catalog) -> Bound {
    Bound::new(&query(&[above("x", 0.5)], sum("y")), catalog, None, None).unwrap()
}

/// Two columns in baskets of a number of entries; every third event passes the filter.
fn columns(per_basket: usize) -> Catalog {
    let values = || {
        doubles(
            per_basket,
            (0..BASKETS * per_basket).map(|i| f64::from(i % 3 == 0)),
        )
    };
    let column = |name| Stored::new(name, Layout::Number(Number::F64), values());
    catalog(per_basket, vec![column("x"), column("y")])
}

/// Does the packet of all entries.
fn run(bound: &Bound, per_basket: usize) {
    let stop = (BASKETS * per_basket) as u64;
    let mut partial = bound.query().partial();
    let reached = bound.run(0..stop, &mut partial, &Control::default());
    assert_eq!(reached.unwrap(), stop);
}

/// How many spans of each name a packet opens.
fn spans(per_basket: usize) -> BTreeMap<&'static str, usize> {
    let catalog = columns(per_basket);
    let bound = bound(&catalog);
    let ((), seen) = spans_of(|| run(&bound, per_basket));
    let mut counts = BTreeMap::new();
    for name in seen {
        *counts.entry(name).or_default() += 1;
    }
    counts
}

#[test]
fn spans_are_for_baskets_and_batches_and_nothing_if_unwanted() {
    // First, before there is a subscriber.
    run(&bound(&columns(100)), 100);
    assert_eq!(registered_spans(), [""; 0]);

    for per_basket in [10, 100, 10_000] {
        let counts = spans(per_basket);
        let batches = counts["evaluate"];
        assert!(batches <= BASKETS, "{batches}");
        assert_eq!(counts["read"], COLUMNS * BASKETS);
        // A batch decodes at most one run of each of its baskets; its ends may lie within baskets.
        assert!(
            counts["decode"] <= COLUMNS * (BASKETS + batches),
            "{counts:?}"
        );
        let names: Vec<_> = counts.into_keys().collect();
        assert_eq!(names, ["decode", "evaluate", "read"]);
    }
    let mut registered = registered_spans();
    registered.sort_unstable();
    assert_eq!(registered, ["decode", "evaluate", "read"]);
}
