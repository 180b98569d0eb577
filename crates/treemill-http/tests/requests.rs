//! How many requests bring what is asked for, and that each is counted.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::single_range_in_vec_init
)]

mod common;

use common::bytes;
use common::scripted::{Act, Scripted, Seen, part, sound};
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

/// Opens a file of a server that acts so: the requests that it has had, and those that were counted.
fn opened(size: usize, act: impl Fn(&Seen, &[u8]) -> Act + Send + Sync + 'static) -> (usize, u64) {
    let content = bytes(size);
    let server = Scripted::start(move |request| act(request, &content));
    let source = open(&server.url("/f.root")).unwrap();
    let source = Observed::by_requests(Arc::new(source));
    assert_eq!(source.size(), size as u64);
    let counts = servers()[source.server().as_str()];
    (server.seen().len(), counts.messages)
}

#[test]
fn each_request_that_opens_a_file_is_counted() {
    let says = |status: &str| Act::Say(format!("{status}\r\nContent-Length: 0"), vec![]);
    let again = opened(SIZE, move |request, content| match request.before {
        0 => Act::Close,
        1 => says("503 Service Unavailable"),
        _ => sound(request, content),
    });
    assert_eq!(again, (3, 3), "two were in vain");
    // XRootD 5 repeats the range that it was asked for, and then sends less.
    let beyond = |request: &Seen, content: &[u8]| match request.range() {
        range if range.end > content.len() => {
            Act::SayAndHang(part(&range, content.len()), content.to_vec())
        }
        _ => sound(request, content),
    };
    assert_eq!(opened(100, beyond), (2, 2), "it is asked for again");
    assert_eq!(opened(0, beyond), (1, 1), "there is nothing to ask for");
}
