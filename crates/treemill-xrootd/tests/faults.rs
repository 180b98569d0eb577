//! Servers that are killed, frozen or cut off in the middle of reads: real `xrootd` behind a scripted manager or a relay.
//! Skipped, with the reason printed, where there is none.
#![allow(
    clippy::single_range_in_vec_init,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation
)]

#[allow(dead_code)]
mod common;

use common::relay::Relay;
use common::scripted::{redirect, serve};
use common::{Xrootd, content};
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::time::Duration;
use treemill_source::{Source, Ticket};
use treemill_xrootd::stream::Deadlines;
use treemill_xrootd::wire::codes;
use treemill_xrootd::{Client, Options, XrootdSource};

const SIZE: usize = 8 << 20;

/// A client with the default options, but for the time that nothing may come.
fn client(silence: u64) -> Arc<Client> {
    let deadlines = Deadlines {
        silence: Duration::from_secs(silence),
        ..Deadlines::default()
    };
    Arc::new(Client::new(Options {
        deadlines,
        ..Options::default()
    }))
}

/// A manager that names the first server, and the second one when the first is to be avoided.
fn manager(first: u16, second: u16) -> u16 {
    serve(move |path| match path.split_once("tried=") {
        // The hosts differ so that `tried` can tell them apart, as it does in a federation.
        Some((_, tried)) if tried.contains("127.0.0.1") => redirect("localhost", second, ""),
        _ => redirect("127.0.0.1", first, ""),
    })
}

fn url(port: u16) -> String {
    format!("root://127.0.0.1:{port}//a.root")
}

/// Small and large ranges: 1,500 vectored and 256 MB of plain reads, more than sockets hold.
fn ranges() -> Vec<Range<u64>> {
    let small = (0..1500).map(|i| i * 5000..i * 5000 + 100 + i % 50);
    let large = std::iter::repeat_n(0..SIZE as u64, 32);
    small.chain(large).collect()
}

fn check(bytes: &[u8], ranges: &[Range<u64>], tickets: &[Ticket]) {
    for (range, ticket) in ranges.iter().zip(tickets) {
        let expected = &bytes[range.start as usize..range.end as usize];
        assert!(ticket.wait().unwrap() == expected, "{range:?}");
    }
}

#[test]
fn a_server_that_is_killed_is_replaced_by_another() {
    let bytes = content(SIZE);
    let start = |name| Xrootd::start(name, &[("a.root", &bytes)]);
    let (Some(mut first), Some(second)) = (start("killed-1"), start("killed-2")) else {
        return;
    };
    let source = XrootdSource::open(&client(30), &url(manager(first.port, second.port))).unwrap();
    assert!(source.server().ends_with(&first.port.to_string()));
    let ranges = ranges();
    let tickets = source.submit(ranges.clone());
    tickets[0].wait().unwrap();
    first.kill();
    check(&bytes, &ranges, &tickets);
    assert!(source.server().ends_with(&second.port.to_string()));
    assert!(source.submit(vec![3..9])[0].wait().unwrap() == bytes[3..9]);
}

#[test]
fn a_server_that_hangs_is_replaced_by_another() {
    let bytes = content(SIZE);
    let start = |name| Xrootd::start(name, &[("a.root", &bytes)]);
    let (Some(first), Some(second)) = (start("hung-1"), start("hung-2")) else {
        return;
    };
    let source = XrootdSource::open(&client(3), &url(manager(first.port, second.port))).unwrap();
    let ranges = ranges();
    let tickets = source.submit(ranges.clone());
    tickets[0].wait().unwrap();
    first.freeze();
    check(&bytes, &ranges, &tickets);
    assert!(source.server().ends_with(&second.port.to_string()));
}

#[test]
fn a_server_that_comes_back_goes_on() {
    let bytes = content(SIZE);
    let Some(mut server) = Xrootd::start("restarted", &[("a.root", &bytes)]) else {
        return;
    };
    let source = XrootdSource::open(&client(30), &server.address("/a.root")).unwrap();
    let ranges = ranges();
    let tickets = source.submit(ranges.clone());
    tickets[0].wait().unwrap();
    server.restart();
    check(&bytes, &ranges, &tickets);
}

#[test]
fn connections_that_break_again_and_again_are_made_anew() {
    let bytes = content(SIZE);
    let Some(server) = Xrootd::start("cut", &[("a.root", &bytes)]) else {
        return;
    };
    let relay = Relay::start(server.port, 20 << 20);
    let source = XrootdSource::open(&client(30), &url(relay.port)).unwrap();
    let ranges = ranges();
    check(&bytes, &ranges, &source.submit(ranges.clone()));
    assert!(relay.connections() > 12, "{}", relay.connections());
}

#[test]
fn connections_that_break_before_a_request_ends_carry_smaller_ones() {
    let bytes = content(SIZE);
    let Some(server) = Xrootd::start("short", &[("a.root", &bytes)]) else {
        return;
    };
    let relay = Relay::start(server.port, 300 << 10);
    let source = XrootdSource::open(&client(30), &url(relay.port)).unwrap();
    let ranges = vec![0..2 << 20, 5..900_005, 7..9];
    check(&bytes, &ranges, &source.submit(ranges.clone()));
}

#[test]
fn a_server_that_is_gone_for_good_is_an_error_that_names_it() {
    let bytes = content(SIZE);
    let Some(mut server) = Xrootd::start("gone", &[("a.root", &bytes)]) else {
        return;
    };
    let source = XrootdSource::open(&client(30), &server.address("/a.root")).unwrap();
    let tickets = source.submit(ranges());
    tickets[0].wait().unwrap();
    server.kill();
    let error = tickets
        .iter()
        .find_map(|ticket| ticket.wait().err())
        .unwrap();
    assert!(error.is_transient() && error.range.is_some(), "{error}");
    let (text, place) = (error.to_string(), format!("127.0.0.1:{}", server.port));
    assert!(text.contains(&place) && text.contains("/a.root"), "{text}");
    server.restart();
    assert!(
        source.submit(vec![3..9])[0].wait().unwrap() == bytes[3..9],
        "it is tried again"
    );
}

#[test]
fn a_server_that_hangs_for_good_is_an_error_that_names_it() {
    let bytes = content(SIZE);
    let Some(server) = Xrootd::start("hung", &[("a.root", &bytes)]) else {
        return;
    };
    let source = XrootdSource::open(&client(2), &server.address("/a.root")).unwrap();
    server.freeze();
    let error = source.submit(vec![0..10])[0].wait().unwrap_err();
    assert!(error.is_transient(), "{error}");
    let (text, place) = (error.to_string(), format!("127.0.0.1:{}", server.port));
    assert!(text.contains(&place) && text.contains("/a.root"), "{text}");
}

/// A firewall that drops large packets, a disk that hangs: the file can be opened, and brings nothing. Later it is well.
#[test]
fn a_server_that_opens_the_file_and_brings_nothing_is_well_again_later() {
    let bytes = content(SIZE);
    let Some(server) = Xrootd::start("mute", &[("a.root", &bytes)]) else {
        return;
    };
    let relay = Relay::start(server.port, u64::MAX);
    let source = XrootdSource::open(&client(2), &url(relay.port)).unwrap();
    relay.narrow(true);
    let error = source.submit(vec![0..1 << 20])[0].wait().unwrap_err();
    assert!(error.is_transient(), "{error}");
    relay.narrow(false);
    assert!(source.submit(vec![0..1 << 20])[0].wait().unwrap() == bytes[..1 << 20]);
}

/// A run asks three times: the first read tries again and again, those after it once each.
#[test]
fn a_server_that_brings_nothing_is_tried_for_once_for_all_who_ask_again() {
    let bytes = content(SIZE);
    let Some(server) = Xrootd::start("silent", &[("a.root", &bytes)]) else {
        return;
    };
    let relay = Relay::start(server.port, u64::MAX);
    let source = XrootdSource::open(&client(4), &url(relay.port)).unwrap();
    relay.narrow(true);
    let tried = || {
        let before = relay.connections();
        let error = source.submit(vec![0..1 << 20])[0].wait().unwrap_err();
        assert!(error.is_transient(), "{error}");
        relay.connections() - before
    };
    assert!(tried() > 1);
    assert!(tried() <= 1 && tried() <= 1);
    relay.narrow(false);
    assert!(source.submit(vec![0..1 << 20])[0].wait().unwrap() == bytes[..1 << 20]);
}

/// Who is told that a file cannot be had may ask for it at once, on the same thread.
#[test]
fn who_is_told_that_a_file_is_gone_may_ask_again_at_once() {
    let bytes = content(SIZE);
    let Some(mut server) = Xrootd::start("asked-again", &[("a.root", &bytes)]) else {
        return;
    };
    let (port, is_gone) = (server.port, Arc::new(AtomicBool::new(false)));
    let gone = Arc::clone(&is_gone);
    let manager = serve(move |_| match gone.load(Ordering::SeqCst) {
        true => (codes::ERROR, missing()),
        false => redirect("127.0.0.1", port, ""),
    });
    let source = Arc::new(XrootdSource::open(&client(30), &url(manager)).unwrap());
    is_gone.store(true, Ordering::SeqCst);
    server.kill();
    let ticket = source.submit(vec![0..10]).remove(0);
    let (again, (told, answers)) = (Arc::clone(&source), channel());
    ticket.on_ready(move |_| told.send(again.submit(vec![10..20]).remove(0)).unwrap());
    let second = answers.recv_timeout(Duration::from_secs(60)).unwrap();
    let error = second.wait().unwrap_err();
    assert!(error.to_string().contains("no such file"), "{error}");
}

/// The answer of a server that has no such file.
fn missing() -> Vec<u8> {
    [&codes::NOT_FOUND.to_be_bytes()[..], b"no such file\0"].concat()
}

/// A firewall that allows one connection, while each client has one of its own.
#[test]
fn clients_share_the_connections_that_a_server_takes() {
    let bytes = content(SIZE);
    let Some(server) = Xrootd::start("limited", &[("a.root", &bytes)]) else {
        return;
    };
    let relay = Relay::limited(server.port, 1);
    let (held, peers) = (Arc::default(), Arc::default());
    let clients: Vec<_> = (0..4)
        .map(|_| Arc::new(Client::new(Options::default()).sharing(&held, &peers)))
        .collect();
    let place = url(relay.port);
    let all: Vec<_> = std::thread::scope(|scope| {
        let place = &place;
        let open = |client| scope.spawn(move || XrootdSource::open(client, place).unwrap());
        let all: Vec<_> = clients.iter().map(open).collect();
        all.into_iter().map(|one| one.join().unwrap()).collect()
    });
    for source in &all {
        let ranges = ranges();
        check(&bytes, &ranges, &source.submit(ranges.clone()));
    }
    assert_eq!(relay.connections(), 1);
    // A further connection that would only make it faster is given up.
    let runtime = treemill_transfer::runtime().unwrap();
    let wide = |client| {
        let place = url(relay.port);
        runtime.block_on(XrootdSource::opened(
            client,
            &place,
            Duration::from_nanos(1),
        ))
    };
    let wide = clients.iter().map(wide).filter(Result::is_ok).count();
    assert_eq!(wide, 1, "the one that has the connection");
}

/// Nothing is wrong with its server: it is not to be avoided.
#[test]
fn a_file_whose_connection_has_rested_is_opened_again_when_it_is_read() {
    let bytes = content(SIZE);
    let start = |name| Xrootd::start(name, &[("a.root", &bytes)]);
    let (Some(first), Some(second)) = (start("rested-1"), start("rested-2")) else {
        return;
    };
    let deadlines = Deadlines {
        idle: Duration::from_millis(300),
        ..Deadlines::default()
    };
    let client = Arc::new(Client::new(Options {
        deadlines,
        ..Options::default()
    }));
    let relay = Relay::start(first.port, u64::MAX);
    let source = XrootdSource::open(&client, &url(manager(relay.port, second.port))).unwrap();
    for times in 1..4 {
        assert!(source.submit(vec![3..9])[0].wait().unwrap() == bytes[3..9]);
        assert_eq!(relay.connections(), times);
        while relay.ended() < times {
            std::thread::yield_now();
        }
        assert!(!source.costs().is_lost);
    }
}

#[test]
fn another_content_behind_the_same_name_is_an_error() {
    let (bytes, other) = (content(SIZE), content(SIZE / 2));
    let first = Xrootd::start("content-1", &[("a.root", &bytes)]);
    let second = Xrootd::start("content-2", &[("a.root", &other)]);
    let (Some(mut first), Some(second)) = (first, second) else {
        return;
    };
    let source = XrootdSource::open(&client(30), &url(manager(first.port, second.port))).unwrap();
    first.kill();
    let error = source.submit(vec![0..10])[0].wait().unwrap_err();
    assert!(error.to_string().contains("changed"), "{error}");
}
