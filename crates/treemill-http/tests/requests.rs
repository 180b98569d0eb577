//! How many requests bring what is asked for, and that each is counted.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::single_range_in_vec_init
)]

mod common;

use common::bytes;
use common::scripted::{Scripted, sound};
use std::sync::Arc;
use std::time::Duration;
use treemill_http::open;
use treemill_source::{Observed, Source, servers};

const SIZE: usize = 3_000_000;
/// A server that takes so long for each answer is slow. Over a network with this round trip a range comes by many connections.
const SLOW: Duration = Duration::from_millis(40);

/// A server that is next door and takes its time.
fn slow() -> Scripted {
    let content = Arc::new(bytes(SIZE));
    Scripted::start(move |request| {
        std::thread::sleep(SLOW);
        sound(request, &content)
    })
}

#[test]
fn a_slow_server_is_not_taken_for_a_far_one() {
    let requests = || {
        let server = slow();
        let source = open(&server.url("/f.root")).unwrap();
        assert!(source.costs().round_trip >= SLOW);
        let range = SIZE as u64 / 4..SIZE as u64;
        let found = source.submit(vec![range.clone()])[0].wait().unwrap();
        assert_eq!(found.len() as u64, range.end - range.start);
        server.seen().len()
    };
    // One has opened it, one brings the range. On a busy machine it may take long to make a connection, but not each time.
    assert!((0..20).any(|_| requests() == 2));
}

#[test]
fn each_request_is_counted() {
    let server = slow();
    let source = open(&server.url("/f.root")).unwrap();
    let source = Observed::by_requests(Arc::new(source));
    let ranges: Vec<_> = (1..6_u64).map(|i| i * 300_000..i * 300_000 + 10).collect();
    for ticket in source.submit(ranges) {
        assert_eq!(ticket.wait().unwrap().len(), 10);
    }
    let name = source.server();
    let counts = servers()[name.as_str()];
    assert_eq!(counts.messages, server.seen().len() as u64);
    assert_eq!((counts.messages, counts.requests, counts.bytes), (6, 5, 50));
}
