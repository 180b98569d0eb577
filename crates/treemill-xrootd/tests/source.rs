//! Files of a real `xrootd` as sources. Skipped, with the reason printed, where there is none.
#![allow(
    clippy::single_range_in_vec_init,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation
)]

#[allow(dead_code)]
mod common;

use common::{Xrootd, content};
use std::sync::Arc;
use std::time::{Duration, SystemTime};
use treemill_source::{Request, Source};
use treemill_xrootd::{Client, Options, Url, XrootdSource};

const SIZE: usize = 8 << 20;

fn client() -> Arc<Client> {
    Arc::new(Client::new(Options::default()))
}

#[test]
fn ranges_of_every_size_come_as_asked() {
    let bytes = content(SIZE);
    let Some(server) = Xrootd::start("source", &[("a.root", &bytes)]) else {
        return;
    };
    let source = XrootdSource::open(&client(), &server.address("/a.root")).unwrap();
    assert_eq!(source.size(), SIZE as u64);
    assert_eq!(source.name(), server.address("/a.root"));
    let end = SIZE as u64;
    let scattered = (0..3000).map(|i| i * 2711..i * 2711 + i % 90);
    let large = [
        0..end,
        5..end - 5,
        1..(1 << 20) + 1,
        2..(1 << 20) + 3,
        end..end,
        end - 1..end,
    ];
    let ranges: Vec<_> = scattered.chain(large).collect();
    let tickets = source.submit(ranges.clone());
    for (range, ticket) in ranges.iter().zip(tickets) {
        let expected = &bytes[range.start as usize..range.end as usize];
        assert!(ticket.wait().unwrap() == expected, "{range:?}");
    }
    let mut requests = [
        Request::new(7..9),
        Request::new(0..0),
        Request::new(3..4_000_003),
    ];
    source.read(&mut requests).unwrap();
    assert!(
        requests
            .iter()
            .all(|r| r.buffer == bytes[r.range.start as usize..r.range.end as usize])
    );
    let costs = source.costs();
    assert!(
        !costs.is_near() && costs.bytes_per_second.is_some(),
        "{costs:?}"
    );
}

#[test]
fn what_is_due_on_a_connection_is_told_to_all_of_its_files() {
    let bytes = content(SIZE);
    let Some(server) = Xrootd::start("due", &[("a.root", &bytes), ("b.root", &bytes)]) else {
        return;
    };
    let client = client();
    let open = |path| XrootdSource::open(&client, &server.address(path)).unwrap();
    let (source, other) = (open("/a.root"), open("/b.root"));
    assert_eq!(other.costs().due, 0);
    server.freeze();
    let tickets = source.submit(vec![0..100, 200..5_000_000]);
    assert_eq!([source, other].map(|of| of.costs().due), [4_999_900; 2]);
    server.thaw();
    for ticket in tickets {
        ticket.wait().unwrap();
    }
    assert_eq!(open("/b.root").costs().due, 0);
}

#[test]
fn ranges_beyond_the_end_are_errors_of_their_own() {
    let Some(server) = Xrootd::start("beyond", &[("a.root", b"0123456789")]) else {
        return;
    };
    let source = XrootdSource::open(&client(), &server.address("/a.root")).unwrap();
    let tickets = source.submit(vec![2..5, 8..11, 9..10]);
    assert_eq!(tickets[0].wait().unwrap(), "234");
    let error = tickets[1].wait().unwrap_err();
    assert!(!error.is_transient());
    assert_eq!(error.range, Some(8..11));
    assert_eq!(tickets[2].wait().unwrap(), "9");
    assert!(source.read(&mut [Request::new(0..11)]).is_err());
}

#[test]
fn tickets_outlive_their_source() {
    let bytes = content(SIZE);
    let Some(server) = Xrootd::start("outlive", &[("a.root", &bytes)]) else {
        return;
    };
    let source = XrootdSource::open(&client(), &server.address("/a.root")).unwrap();
    let tickets = source.submit(vec![0..SIZE as u64, 1..2]);
    drop(source);
    assert!(tickets[0].wait().unwrap() == bytes);
    assert!(tickets[1].wait().unwrap() == bytes[1..2]);
}

#[test]
fn a_file_is_known_by_its_time_once_it_is_left_alone() {
    let Some(server) = Xrootd::start("identity", &[("a.root", b"abc"), ("b.root", b"abc")]) else {
        return;
    };
    let client = client();
    let identity = |path| {
        let source = XrootdSource::open(&client, &server.address(path)).unwrap();
        source.identity()
    };
    let change = |name, before| {
        let file = std::fs::File::options().write(true).open(server.data(name));
        let time = SystemTime::now() - Duration::from_secs(before);
        file.unwrap().set_modified(time).unwrap();
    };
    change("a.root", 0);
    assert_eq!(identity("/a.root"), None, "just written");
    change("a.root", 1000);
    change("b.root", 1000);
    let known = identity("/a.root").unwrap();
    assert_eq!(identity("/a.root?authz=secret"), Some(known));
    assert_ne!(identity("/b.root"), Some(known));
    change("a.root", 2000);
    assert_ne!(identity("/a.root"), Some(known));
}

#[test]
fn what_cannot_be_opened_names_server_and_file() {
    let Some(server) = Xrootd::start("nothing", &[("a.root", b"abc")]) else {
        return;
    };
    let client = client();
    let open = |url: &str| XrootdSource::open(&client, url).err().unwrap();
    let error = open(&server.address("/no.root?authz=secret"));
    assert!(error.is_missing() && !error.is_transient(), "{error}");
    let place = format!("127.0.0.1:{}", server.port);
    let text = error.to_string();
    assert!(text.contains(&place) && text.contains("/no.root"), "{text}");
    assert!(!text.contains("secret"));
    let error = open(&server.address("/"));
    assert!(!error.is_missing() && !error.is_transient(), "{error}");
    let error = open("root://user:secret@host/one-slash?authz=secret");
    assert!(error.to_string().contains("two slashes"), "{error}");
    assert!(!error.to_string().contains("secret"), "{error}");
}

/// Puts another file in the place of `name`, as editors and copying programs do: the older one goes on as long as it is open.
fn replace(server: &Xrootd, name: &str, bytes: &[u8]) {
    let beside = server.data("beside");
    std::fs::write(&beside, bytes).unwrap();
    std::fs::rename(beside, server.data(name)).unwrap();
}

#[test]
fn a_file_that_was_replaced_is_closed_and_the_new_one_is_read() {
    let Some(server) = Xrootd::start("replaced", &[("a.root", b"older")]) else {
        return;
    };
    let held = Arc::default();
    let [one, other] =
        [(); 2].map(|()| Client::new(Options::default()).sharing(&held, &Arc::default()));
    let (one, url) = (Arc::new(one), server.address("/a.root"));
    let older = XrootdSource::open(&one, &url).unwrap();
    let elsewhere = XrootdSource::open(&Arc::new(other), &url).unwrap();
    replace(&server, "a.root", b"the newer one");
    let newer = XrootdSource::open(&one, &url).unwrap();
    assert_eq!(
        newer.submit(vec![0..13])[0].wait().unwrap(),
        "the newer one"
    );
    for source in [older, elsewhere] {
        let error = source.submit(vec![0..5])[0].wait().unwrap_err();
        assert!(error.what.contains("has changed"), "{error}");
    }
    replace(&server, "a.root", b"the newest");
    assert_eq!(one.stat(&Url::parse(&url).unwrap()).unwrap().size, 10);
    assert!(
        newer.submit(vec![0..5])[0].wait().is_err(),
        "its status was asked for"
    );
}

#[test]
fn an_older_file_that_another_program_has_open_is_not_read() {
    let Some(server) = Xrootd::start("kept", &[("a.root", b"older")]) else {
        return;
    };
    let (client, url) = (client(), server.address("/a.root"));
    drop(XrootdSource::open(&client, &url).unwrap());
    let program = Client::new(Options::default());
    let kept = program.open(&Url::parse(&url).unwrap()).unwrap();
    replace(&server, "a.root", b"the newer one");
    let error = XrootdSource::open(&client, &url).err().unwrap();
    assert!(error.what.contains("another program"), "{error}");
    kept.close().unwrap();
    assert_eq!(XrootdSource::open(&client, &url).unwrap().size(), 13);
}
