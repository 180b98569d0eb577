//! Reads with checksums from a real `xrootd`, over a relay that spoils bytes. Skipped, with the reason printed, where there
//! is none.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation,
    clippy::single_range_in_vec_init
)]

#[allow(dead_code)]
mod common;

use common::relay::Relay;
use common::{Xrootd, content};
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;
use treemill_source::{Bytes, Source, SourceError};
use treemill_xrootd::{Client, Options, XrootdSource};

const SIZE: usize = 8 << 20;

/// What precedes the file's bytes on a connection is shorter.
const PREAMBLE: u64 = 4000;

fn read(relay: &Relay, ranges: Vec<Range<u64>>) -> Vec<Result<Bytes, SourceError>> {
    let client = Arc::new(Client::new(Options {
        checks_from: Duration::ZERO,
        ..Options::default()
    }));
    let url = format!("root://127.0.0.1:{}//a.root", relay.port);
    let source = XrootdSource::open(&client, &url).unwrap();
    let tickets = source.submit(ranges);
    tickets.iter().map(|ticket| ticket.wait()).collect()
}

/// One byte is another one on the way, here and there on the first connection: those pages are asked for again.
#[test]
fn a_byte_that_was_flipped_on_the_way_is_asked_for_again() {
    let bytes = content(SIZE);
    let Some(server) = Xrootd::start("flipped", &[("a.root", &bytes)]) else {
        return;
    };
    for flipped in [PREAMBLE, 12_345, 1_000_000, 3_000_001, 5_555_555] {
        let relay = Relay::spoiling(server.port, move |connection, place| {
            connection == 1 && place == flipped
        });
        let ranges = vec![0..SIZE as u64, 77..200_000, 4095..4097];
        for (range, found) in ranges.clone().into_iter().zip(read(&relay, ranges)) {
            let expected = &bytes[range.start as usize..range.end as usize];
            assert!(found.unwrap() == expected, "{range:?} with {flipped}");
        }
    }
}

/// The first connection spoils all of its pages; another one does not.
#[test]
fn pages_that_are_wrong_again_are_asked_for_on_another_connection() {
    let bytes = content(SIZE);
    let Some(server) = Xrootd::start("elsewhere", &[("a.root", &bytes)]) else {
        return;
    };
    let relay = Relay::spoiling(server.port, |connection, place| {
        connection == 1 && place >= PREAMBLE && place % 500 == 0
    });
    let found = read(&relay, vec![0..SIZE as u64]).remove(0);
    assert!(found.unwrap() == bytes);
    assert!(relay.connections() > 1);
}

/// Every connection spoils its pages: the error names server and file, and nothing wrong is given on.
#[test]
fn what_stays_wrong_is_an_error() {
    let bytes = content(SIZE);
    let Some(server) = Xrootd::start("spoilt", &[("a.root", &bytes)]) else {
        return;
    };
    let relay = Relay::spoiling(server.port, |_, place| {
        place >= PREAMBLE && place % 4000 == 0
    });
    let error = read(&relay, vec![0..1 << 20]).remove(0).unwrap_err();
    let (text, place) = (error.to_string(), format!("127.0.0.1:{}", relay.port));
    assert!(text.contains(&place) && text.contains("/a.root"), "{text}");
}

/// Vectored reads have no checksums: many small ranges are one request even so.
#[test]
fn small_ranges_are_one_request() {
    let bytes = content(SIZE);
    let Some(server) = Xrootd::start("vector", &[("a.root", &bytes)]) else {
        return;
    };
    let relay = Relay::start(server.port, u64::MAX);
    let ranges: Vec<_> = (0..500).map(|i| i * 9000..i * 9000 + 3000).collect();
    for (range, found) in ranges.clone().iter().zip(read(&relay, ranges)) {
        assert!(found.unwrap() == bytes[range.start as usize..range.end as usize]);
    }
}
