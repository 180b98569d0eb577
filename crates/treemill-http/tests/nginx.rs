//! Against a real nginx: ranges, redirects, listings, TLS, tokens. Skipped, saying so, where there is none.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::single_range_in_vec_init
)]

mod common;

use common::bytes;
use common::nginx::Nginx;
use treemill_http::{Entry, exists, list, open, stat};
use treemill_source::{Request, Source};

#[test]
fn ranges_come_as_they_are() {
    let content = bytes(20_000_000);
    let files: [(&str, &[u8]); 3] = [
        ("f.root", &content),
        ("empty", b""),
        ("small", b"0123456789"),
    ];
    let Some(server) = Nginx::start("ranges", &files, "", "") else {
        return;
    };
    let url = format!(
        "http://me:secret@127.0.0.1:{}/f.root?token=secret",
        server.port
    );
    let source = open(&url).unwrap();
    assert_eq!(source.size(), content.len() as u64);
    assert_eq!(
        source.name(),
        format!("http://127.0.0.1:{}/f.root", server.port)
    );
    assert_eq!(source.identity(), open(&url).unwrap().identity());
    assert!(source.identity().is_some());

    let before = server.requests().len();
    assert_eq!(
        source.submit(vec![0..100])[0].wait().unwrap(),
        &content[..100]
    );
    assert_eq!(server.requests().len(), before, "the first bytes are here");

    let mut ranges: Vec<_> = (0..500_u64).map(|i| i * 39_000..i * 39_000 + 77).collect();
    ranges.extend([0..20_000_000, 5..5, 19_999_999..20_000_000, 7_000..9_000]);
    let tickets = source.submit(ranges.clone());
    for (range, ticket) in ranges.iter().zip(tickets) {
        let expected = &content[range.start as usize..range.end as usize];
        assert!(ticket.wait().unwrap() == expected, "{range:?}");
    }
    let costs = source.costs();
    assert!(
        !costs.is_near() && costs.bytes_per_second.is_some_and(|speed| speed > 1e6),
        "{costs:?}"
    );

    let error = source.read(&mut [Request::new(0..20_000_001)]).unwrap_err();
    assert_eq!(error.range, Some(0..20_000_001));
    assert!(error.to_string().contains("20000000 bytes"), "{error}");

    let at = |name: &str| format!("http://127.0.0.1:{}/{name}", server.port);
    assert_eq!(open(&at("empty")).unwrap().size(), 0);
    let small = open(&at("small")).unwrap();
    assert_eq!(small.submit(vec![2..10])[0].wait().unwrap(), "23456789");
    let known = stat(&at("small")).unwrap();
    assert_eq!((known.size, known.identity), (10, small.identity()));
    assert!(known.modified.is_some());
    assert!(exists(&at("small")).unwrap() && !exists(&at("none")).unwrap());
    let error = open(&at("none")).unwrap_err();
    assert!(error.is_missing() && !error.is_transient(), "{error:?}");
    assert!(error.to_string().contains("/none: no such file"), "{error}");
}

#[test]
fn a_file_that_changes_is_an_error() {
    let Some(server) = Nginx::start("changes", &[("f", &bytes(100_000))], "", "") else {
        return;
    };
    let source = open(&format!("http://127.0.0.1:{}/f", server.port)).unwrap();
    std::fs::write(server.folder.join("data/f"), bytes(100_001)).unwrap();
    let error = source.submit(vec![50_000..60_000])[0].wait().unwrap_err();
    assert!(error.what.contains("changed"), "{error}");
}

#[test]
fn folders_are_listed() {
    let files: [(&str, &[u8]); 3] = [
        ("d/a b.root", b"1"),
        ("d/ü&<.root", b"2"),
        ("d/sub/x", b"3"),
    ];
    let more = "location /d/ { autoindex on; } location /plain/ { default_type text/html; return 200 '<p>x</p>'; }";
    let Some(server) = Nginx::start("lists", &files, "", more) else {
        return;
    };
    let at = |path: &str| format!("http://127.0.0.1:{}/{path}", server.port);
    let entry = |name: &str, is_folder| Entry {
        name: name.into(),
        is_folder,
        written: Some(name.into()),
    };
    let expected = [
        entry("a b.root", false),
        entry("sub", true),
        entry("ü&<.root", false),
    ];
    assert_eq!(list(&at("d")).unwrap(), expected);
    assert_eq!(list(&at("d/")).unwrap(), expected);
    assert!(list(&at("none/")).unwrap_err().is_missing());
    let error = list(&at("plain/")).unwrap_err();
    assert!(
        error.what.contains("in no form that treemill can read"),
        "{error}"
    );
}

#[test]
fn redirects_are_remembered_and_asked_for_again() {
    let content = bytes(100_000);
    let more = "location /door/ { return 302 /pool/$uri?ticket=secret; }
        location /pool/ { if (-f HERE/closed) { return 403; } alias HERE/data/; rewrite ^/pool/+door/(.*) /$1 break; root HERE/data; }";
    let Some(server) = Nginx::start("redirects", &[("f", &content)], "", more) else {
        return;
    };
    let source = open(&format!("http://127.0.0.1:{}/door/f", server.port)).unwrap();
    let ask = |from: usize| source.submit(vec![from as u64..from as u64 + 10])[0].wait();
    assert_eq!(ask(20_000).unwrap(), &content[20_000..20_010]);
    assert_eq!(ask(30_000).unwrap(), &content[30_000..30_010]);
    let doors = || {
        server
            .requests()
            .iter()
            .filter(|line| line.contains("GET /door/f "))
            .count()
    };
    assert_eq!(doors(), 1, "where it is has been asked once");
    std::fs::write(server.folder.join("closed"), "").unwrap();
    let error = ask(40_000).unwrap_err();
    assert!(
        error.what.contains("does not allow this request"),
        "{error}"
    );
    assert!(!error.to_string().contains("secret"));
    assert_eq!(doors(), 2, "a target that refuses is asked for again");
}

/// nginx makes a file's tag of its time and size: two copies have two.
#[test]
fn the_servers_of_one_door_have_tags_of_their_own() {
    let content = bytes(100_000);
    let pools = ["pool-one", "pool-two"].map(|name| Nginx::start(name, &[("f", &content)], "", ""));
    let [Some(one), Some(two)] = pools else {
        return;
    };
    let file = std::fs::File::options()
        .write(true)
        .open(two.folder.join("data/f"));
    let earlier = std::time::SystemTime::now() - std::time::Duration::from_secs(1000);
    file.unwrap().set_modified(earlier).unwrap();
    let more = format!(
        "location / {{ if (-f HERE/closed) {{ return 302 http://127.0.0.1:{}/f; }} return 302 http://127.0.0.1:{}/f; }}",
        two.port, one.port
    );
    let Some(door) = Nginx::start("door", &[], "", &more) else {
        return;
    };
    let source = open(&format!("http://127.0.0.1:{}/f", door.port)).unwrap();
    let ask = |from: usize| source.submit(vec![from as u64..from as u64 + 10])[0].wait();
    assert_eq!(ask(80_000).unwrap(), &content[80_000..80_010]);
    std::fs::write(door.folder.join("closed"), "").unwrap();
    std::fs::remove_file(one.folder.join("data/f")).unwrap();
    assert_eq!(ask(90_000).unwrap(), &content[90_000..90_010]);
    assert_eq!(two.requests().len(), 1);
    assert_eq!(ask(91_000).unwrap(), &content[91_000..91_010]);
}
