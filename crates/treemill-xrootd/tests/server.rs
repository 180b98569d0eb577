//! The client against a real `xrootd` on this machine. Skipped, with the reason printed, where there is none.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation
)]

#[allow(dead_code)]
mod common;

use common::{Xrootd, content};
use std::time::Duration;
use treemill_xrootd::stream::Deadlines;
use treemill_xrootd::{Client, Kind, Options, Url};

const SIZE: usize = 8 << 20;

/// Waits long enough for a server on a machine that is busy.
fn client() -> Client {
    patient_for(Duration::from_secs(30))
}

fn patient_for(silence: Duration) -> Client {
    let deadlines = Deadlines {
        silence,
        ..Deadlines::default()
    };
    Client::new(Options {
        deadlines,
        ..Options::default()
    })
}

fn url(server: &Xrootd, path: &str) -> Url {
    Url::parse(&server.address(path)).unwrap()
}

#[test]
fn what_the_server_has_is_found() {
    let bytes = content(SIZE);
    let Some(server) = Xrootd::start("found", &[("a.root", &bytes), ("b.root", b"")]) else {
        return;
    };
    let client = client();
    let status = client.stat(&url(&server, "/a.root")).unwrap();
    assert_eq!((status.size, status.is_folder()), (SIZE as u64, false));
    assert!(client.stat(&url(&server, "/")).unwrap().is_folder());
    let mut entries = client.dirlist(&url(&server, "/")).unwrap();
    entries.sort_by(|a, b| a.name.cmp(&b.name));
    let found: Vec<_> = entries
        .iter()
        .map(|e| (e.name.as_str(), e.status.unwrap().size))
        .collect();
    assert_eq!(found, [("a.root", SIZE as u64), ("b.root", 0)]);
    let places = client.locate(&url(&server, "/a.root"), false).unwrap();
    assert!(
        places[0].server.ends_with(&format!(":{}", server.port)),
        "{places:?}"
    );
    let names = ["readv_iov_max", "no_such_value", "readv_ior_max"];
    let values = client.config(&url(&server, "/"), &names).unwrap();
    assert_eq!(values[0].as_deref(), Some("1024"));
    assert!(values[1].is_none() && values[2].is_some());
}

#[test]
fn reads_are_the_files_bytes() {
    let bytes = content(SIZE);
    let Some(server) = Xrootd::start("reads", &[("a.root", &bytes)]) else {
        return;
    };
    let client = client();
    let file = client.open(&url(&server, "/a.root")).unwrap();
    assert_eq!(file.status().unwrap().size, SIZE as u64);
    assert!(
        file.read(0, SIZE as u32).unwrap() == bytes,
        "the whole file in one read"
    );
    assert_eq!(file.read(SIZE as u64 - 3, 100).unwrap(), bytes[SIZE - 3..]);
    assert_eq!(file.read(SIZE as u64 + 5, 100).unwrap(), []);
    let ranges: Vec<(u64, u32)> = (0..300)
        .map(|i| (i * 7919 * 3 % 8_000_000, (i * 31 % 1500) as u32))
        .collect();
    let expect = |ranges: &[(u64, u32)]| -> Vec<Vec<u8>> {
        ranges
            .iter()
            .map(|&(at, length)| bytes[at as usize..][..length as usize].to_vec())
            .collect()
    };
    assert!(file.readv(&ranges).unwrap() == expect(&ranges));
    let many: Vec<(u64, u32)> = (0..3000)
        .map(|i| (i * 2000, 9))
        .chain([(1, 5_000_000)])
        .collect();
    assert!(
        file.readv(&many).unwrap() == expect(&many),
        "more and longer ranges than one request takes"
    );
    assert!(file.readv(&[(SIZE as u64 - 1, 2)]).is_err());
    assert_eq!(file.read(u64::MAX, 1).unwrap_err().kind, Kind::Invalid);
    file.close().unwrap();
}

#[test]
fn many_requests_are_in_flight_at_once() {
    let bytes = content(SIZE);
    let Some(server) = Xrootd::start("flight", &[("a.root", &bytes)]) else {
        return;
    };
    let client = client();
    let file = client.open(&url(&server, "/a.root")).unwrap();
    let part = SIZE / 64;
    let readings: Vec<_> = (0..64)
        .map(|i| file.submit((i * part) as u64, part as u32).unwrap())
        .collect();
    for (i, reading) in readings.into_iter().enumerate().rev() {
        assert!(
            reading.wait().unwrap() == bytes[i * part..][..part],
            "part {i}"
        );
    }
    std::thread::scope(|scope| {
        for i in 0..8 {
            let (file, bytes) = (&file, &bytes);
            scope.spawn(move || {
                assert!(file.read(i * 1000, 500).unwrap() == bytes[i as usize * 1000..][..500])
            });
        }
    });
}

#[test]
fn a_missing_file_names_server_and_file() {
    let Some(server) = Xrootd::start("missing", &[]) else {
        return;
    };
    let address = format!("{}?authz=secret", server.address("/no.root"));
    let error = client().open(&Url::parse(&address).unwrap()).err().unwrap();
    assert_eq!(error.kind, Kind::Missing, "{error}");
    assert_eq!(error.server, format!("127.0.0.1:{}", server.port));
    assert_eq!(error.file, "/no.root");
    let text = format!("{error} {error:?}");
    assert!(
        text.contains(&error.server) && text.contains("/no.root"),
        "{text}"
    );
    assert!(!text.contains("secret") && !error.is_transient(), "{text}");
}

#[test]
fn a_killed_server_is_an_error() {
    let bytes = content(SIZE);
    let Some(mut server) = Xrootd::start("killed", &[("a.root", &bytes)]) else {
        return;
    };
    let client = client();
    let file = client.open(&url(&server, "/a.root")).unwrap();
    // 2 GB are asked for, more than sockets hold: the server dies in the middle of them.
    let readings: Vec<_> = (0..256)
        .map(|_| file.submit(0, SIZE as u32).unwrap())
        .collect();
    let mut readings = readings.into_iter();
    assert!(readings.next().unwrap().wait().is_ok());
    server.kill();
    let error = readings.find_map(|reading| reading.wait().err()).unwrap();
    assert!(error.is_transient() && error.kind == Kind::Lost, "{error}");
    assert_eq!(error.file, "/a.root");
    assert!(file.read(0, 1).is_err());
    assert!(
        client
            .open(&url(&server, "/a.root"))
            .err()
            .unwrap()
            .is_transient()
    );
}

#[test]
fn a_frozen_server_is_an_error() {
    let bytes = content(SIZE);
    let Some(server) = Xrootd::start("frozen", &[("a.root", &bytes)]) else {
        return;
    };
    let client = patient_for(Duration::from_secs(5));
    let file = client.open(&url(&server, "/a.root")).unwrap();
    server.freeze();
    let error = file.read(0, 1000).unwrap_err();
    assert!(
        error.is_transient() && error.kind == Kind::Silent,
        "{error}"
    );
}

#[test]
fn a_server_that_wants_to_know_the_user_is_told() {
    let more = "xrootd.seclib libXrdSec.so\nsec.protocol unix\nsec.protbind * only unix\n";
    let Some(server) = Xrootd::start_with("unix", &[("a.root", b"abc")], more) else {
        return;
    };
    assert_eq!(
        client()
            .open(&url(&server, "/a.root"))
            .unwrap()
            .read(0, 9)
            .unwrap(),
        b"abc"
    );
}
