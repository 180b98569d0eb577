//! Queries over trees far away: how often a packet waits, and for how many bytes. Watched sources in memory stand for
//! servers: each submission is a round trip.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects
)]

mod common;

use common::{Stored, above, doubles, far, query, sum};
use std::ops::Range;
use std::sync::Arc;
use treemill_engine::{Bound, Catalog, Control};
use treemill_format::layout::{Layout, Number};
use treemill_query::{Number as Value, Outcome};
use treemill_source::{Costs, Memory};
use treemill_testing::{FAR, Watched};

const F64: Layout = Layout::Number(Number::F64);
const ENTRIES: u32 = 100_000;
const BASKET: usize = 1000;

/// Costs with which no byte is read for nothing, and with which waiting once more is cheaper than any byte.
const SLOW: Costs = Costs {
    bytes_per_second: Some(1.0),
    ..FAR
};

/// x = 0, 1, 2 … and ten more columns like it.
fn counting(costs: Costs) -> (Catalog, Arc<Watched<Memory>>) {
    let names = ["x", "a", "b", "c", "d", "e", "f", "g", "h", "i", "j"];
    let column = |name| Stored::new(name, F64, doubles(BASKET, (0..ENTRIES).map(f64::from)));
    far(BASKET, names.map(column).into(), costs)
}

fn run(bound: &Bound, packets: &[Range<u64>], control: &Control) -> f64 {
    let mut partial = bound.query().partial();
    for packet in packets {
        bound.run(packet.clone(), &mut partial, control).unwrap();
    }
    match partial.results().remove(0) {
        Outcome::Sum(Value::Float(x)) => x,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_packet_without_filters_asks_once() {
    let (catalog, source) = counting(FAR);
    let bound = Bound::new(&query(&[], sum("a")), &catalog, None, None).unwrap();
    let control = Control::default();
    let found = run(&bound, &[0..50_000, 50_000..100_000], &control);
    assert_eq!(found, (0..ENTRIES).map(f64::from).sum::<f64>());
    assert_eq!(source.reads().len(), 2);
}

#[test]
fn a_filter_that_keeps_little_reads_little_in_two_round_trips() {
    let (catalog, source) = counting(SLOW);
    // One entry in a hundred, at the end.
    let bound = Bound::new(
        &query(&[above("x", 98_999.5)], sum("a")),
        &catalog,
        None,
        None,
    );
    let (bound, control) = (bound.unwrap(), Control::default());
    let found = run(&bound, std::slice::from_ref(&(0..100_000)), &control);
    assert_eq!(found, (99_000..ENTRIES).map(f64::from).sum::<f64>());
    let reads = source.reads();
    assert_eq!(
        reads.len(),
        2,
        "the filter's column, then one basket of the other"
    );
    assert_eq!(reads[1].len(), 1);
    assert_eq!(
        control.counters.bytes_read(),
        control.counters.bytes_wanted()
    );
    assert!(control.counters.bytes_wanted() < 102 * 9000);
}

#[test]
fn where_a_wait_costs_more_than_the_bytes_all_is_asked_for_at_once() {
    let fast = Costs {
        bytes_per_second: Some(1e9),
        window: 16 << 20,
        ..FAR
    };
    let (catalog, source) = counting(fast);
    let bound = Bound::new(
        &query(&[above("x", 98_999.5)], sum("a")),
        &catalog,
        None,
        None,
    );
    run(
        &bound.unwrap(),
        std::slice::from_ref(&(0..100_000)),
        &Control::default(),
    );
    assert_eq!(source.reads().len(), 1);
}

#[test]
fn promised_packets_are_here_when_they_begin_with_what_their_filters_leave() {
    let (catalog, source) = counting(SLOW);
    let bound = Bound::new(
        &query(&[above("x", 98_999.5)], sum("a")),
        &catalog,
        None,
        None,
    );
    let (bound, control) = (Arc::new(bound.unwrap()), Control::default());
    let packets: Vec<_> = (0..10).map(|i| i * 10_000..(i + 1) * 10_000).collect();
    let mut partial = bound.query().partial();
    for (i, packet) in packets.iter().enumerate() {
        if let Some(next) = packets.get(i + 1) {
            bound.prefetch(next.clone(), &control);
            bound.prefetch(next.clone(), &control); // once is enough
        }
        source.reads();
        bound.run(packet.clone(), &mut partial, &control).unwrap();
        let reads = source.reads();
        // The first has to ask itself. Of the last, the rest was asked for while the one before it ran.
        let expected = match i {
            0 => 1,
            8 => 1,
            _ => 0,
        };
        assert_eq!(reads.len(), expected, "packet {i}: {reads:?}");
    }
}

#[test]
fn what_is_forgotten_or_not_run_leaves_nothing_in_flight() {
    let (catalog, source) = counting(FAR);
    let bound = Arc::new(Bound::new(&query(&[], sum("a")), &catalog, None, None).unwrap());
    let control = Control::default();
    assert!(bound.ahead(false) > 0 && bound.bytes_of(&(0..2000)) > 16_000);
    bound.prefetch(0..1000, &control);
    bound.forget(&(0..1000));
    source.reads();
    bound.prefetch(0..1000, &control);
    assert_eq!(source.reads().len(), 1, "asked anew");
    // Far more packets than are kept.
    for i in 0..100 {
        bound.prefetch(i * 1000..(i + 1) * 1000, &control);
    }
    assert_eq!(run(&bound, std::slice::from_ref(&(0..2)), &control), 1.0);
}

#[test]
fn two_filters_one_after_the_other_and_a_booking_before_them_agree_with_a_near_file() {
    for costs in [Costs::NEAR, FAR, SLOW] {
        let (catalog, _) = counting(costs);
        let filters = [above("x", 49_999.5), above("b", 89_999.5)];
        let bound = Bound::new(&query(&filters, sum("c")), &catalog, None, None).unwrap();
        let packets: Vec<_> = (0..7)
            .map(|i| i * 15_000..((i + 1) * 15_000).min(100_000))
            .collect();
        let found = run(&bound, &packets, &Control::default());
        assert_eq!(
            found,
            (90_000..ENTRIES).map(f64::from).sum::<f64>(),
            "{costs:?}"
        );
    }
}
