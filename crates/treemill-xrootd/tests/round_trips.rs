//! How many round trips things cost, counted by a relay before a real `xrootd`. Skipped, with the reason printed, where
//! there is none. The round trip of TCP's own handshake comes on top for each connection.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::single_range_in_vec_init
)]

#[allow(dead_code)]
mod common;

use common::relay::Relay;
use common::{Xrootd, content};
use std::sync::Arc;
use treemill_source::Source;
use treemill_xrootd::{Client, Options, XrootdSource};

#[test]
fn opening_costs_one_and_reading_one() {
    let bytes = content(1 << 20);
    let Some(server) = Xrootd::start("trips", &[("a.root", &bytes), ("b.root", b"abc")]) else {
        return;
    };
    let relay = Relay::start(server.port, u64::MAX);
    let client = Arc::new(Client::new(Options::default()));
    let open = |name| {
        let url = format!("root://127.0.0.1:{}//{name}", relay.port);
        XrootdSource::open(&client, &url).unwrap()
    };
    let source = open("a.root");
    assert_eq!(source.size(), 1 << 20);
    assert_eq!(
        relay.turns(),
        1,
        "the session and the file, with its status"
    );
    let ranges = (0..90).map(|i| i * 1000..i * 1000 + 100).collect();
    let tickets = source.submit(ranges);
    tickets
        .iter()
        .for_each(|ticket| assert!(ticket.wait().is_ok()));
    assert_eq!(relay.turns(), 2, "many ranges are one request");
    let another = open("b.root");
    assert_eq!(another.submit(vec![0..3])[0].wait().unwrap(), "abc");
    assert_eq!(relay.turns(), 4, "another file of the server");
    assert_eq!(relay.connections(), 1);
}

#[test]
fn what_may_be_a_secret_waits_for_the_login() {
    let Some(server) = Xrootd::start("opaque", &[("a.root", b"abc")]) else {
        return;
    };
    let relay = Relay::start(server.port, u64::MAX);
    let url = format!("root://127.0.0.1:{}//a.root?authz=secret", relay.port);
    // It is kept, for its end would send one more message.
    let _source = XrootdSource::open(&Arc::new(Client::new(Options::default())), &url).unwrap();
    assert_eq!(relay.turns(), 2, "the session, then the file");
}

#[test]
fn a_server_that_wants_authentication_is_asked_after_it() {
    let more = "xrootd.seclib libXrdSec.so\nsec.protocol unix\nsec.protbind * only unix\n";
    let Some(server) = Xrootd::start_with("early", &[("a.root", b"abc")], more) else {
        return;
    };
    let relay = Relay::start(server.port, u64::MAX);
    let url = format!("root://127.0.0.1:{}//a.root", relay.port);
    XrootdSource::open(&Arc::new(Client::new(Options::default())), &url).unwrap();
    assert_eq!(relay.connections(), 2, "the first one asked too early");
}
