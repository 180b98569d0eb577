//! A real redirector with two data servers, of which one after the other fails. Skipped, with the reason printed, where
//! there are none or where networks cannot be made.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation,
    clippy::single_range_in_vec_init
)]

#[allow(dead_code)]
mod common;

use common::content;
use common::federation::{Federation, until};
use std::sync::Arc;
use std::time::Duration;
use treemill_source::Source;
use treemill_xrootd::stream::Deadlines;
use treemill_xrootd::{Client, Options, Url, XrootdSource};

const SIZE: usize = 8 << 20;

#[test]
fn the_redirector_leads_from_a_server_that_fails_to_the_other() {
    let bytes = content(SIZE);
    let Some(mut federation) = Federation::start("a.root", &bytes) else {
        return;
    };
    let deadlines = Deadlines {
        silence: Duration::from_secs(4),
        ..Deadlines::default()
    };
    let client = Arc::new(Client::new(Options {
        deadlines,
        ..Options::default()
    }));
    let url = federation.address("/a.root");
    let places = |at_once| client.locate(&Url::parse(&url).unwrap(), at_once).unwrap();
    assert!(!places(true).is_empty());
    // A redirector that was asked not to wait may have heard of one server only when it is asked again.
    until(|| places(false).len() == 2).unwrap();
    assert_eq!(places(true).len(), 2, "what is known by now");
    let listed = client.dirlist(&Url::parse(&federation.address("/")).unwrap());
    let names: Vec<String> = listed
        .unwrap()
        .into_iter()
        .map(|entry| entry.name)
        .collect();
    assert_eq!(names, ["a.root"], "what all servers have, each name once");
    let missing = XrootdSource::open(&client, &federation.address("/none.root"))
        .err()
        .unwrap();
    assert!(missing.is_missing(), "{missing}");

    let source = XrootdSource::open(&client, &url).unwrap();
    let ranges: Vec<_> = std::iter::repeat_n(0..SIZE as u64, 32)
        .chain([3..9, 100..5000])
        .collect();
    let read = || {
        let tickets = source.submit(ranges.clone());
        (tickets[0].clone(), tickets)
    };
    let check = |tickets: &[treemill_source::Ticket]| {
        for (range, ticket) in ranges.iter().zip(tickets) {
            assert!(
                ticket.wait().unwrap() == bytes[range.start as usize..range.end as usize],
                "{range:?}"
            );
        }
    };
    let first = source.host();
    let (begun, tickets) = read();
    begun.wait().unwrap();
    common::stop(federation.data_server(&first));
    check(&tickets);
    let second = source.host();
    assert_ne!(first, second, "a server that hangs");

    common::go_on(federation.data_server(&first));
    let (begun, tickets) = read();
    begun.wait().unwrap();
    federation.data_server(&second).kill().unwrap();
    check(&tickets);
    assert_eq!(source.host(), first, "a server that is killed");
    assert_eq!(source.server(), format!("root://{first}"), "for reports");
    assert!(source.info().may_move, "a manager has chosen it");
}
