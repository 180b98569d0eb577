//! Redirects, servers that fail, and answers that come late, from servers that follow a script: a real federation
//! needs several hosts.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects
)]

#[allow(dead_code)]
mod common;

use common::scripted::{Script, converse, redirect, serve};
use std::net::TcpListener;
use treemill_testing::free_port;
use treemill_xrootd::wire::codes;
use treemill_xrootd::{Client, Kind, Options, Url};

fn size(port: u16) -> Result<u64, treemill_xrootd::Trouble> {
    let url = Url::parse(&format!("root://127.0.0.1:{port}//a?x=1")).unwrap();
    Client::new(Options::default())
        .stat(&url)
        .map(|status| status.size)
}

fn has_it() -> u16 {
    serve(|path| {
        assert!(path.starts_with("/a?x=1&y=2"), "{path}");
        (codes::OK, b"1 42 16 0\0".to_vec())
    })
}

#[test]
fn a_redirect_is_followed_with_its_opaque_part() {
    let server = has_it();
    assert_eq!(
        size(serve(move |_| redirect("127.0.0.1", server, "y=2"))).unwrap(),
        42
    );
}

#[test]
fn another_server_is_asked_for_when_one_is_not_there_or_breaks_off() {
    for broken in [free_port(), serve(|_| (u16::MAX, Vec::new()))] {
        let server = has_it();
        let manager = serve(move |path| {
            redirect(
                "127.0.0.1",
                if path.ends_with("tried=127.0.0.1&triedrc=ioerr") {
                    server
                } else {
                    broken
                },
                "y=2",
            )
        });
        assert_eq!(size(manager).unwrap(), 42);
    }
}

#[test]
fn another_server_is_asked_for_when_one_does_not_have_the_file_after_all() {
    let refused = || {
        let mut body = 3011_u32.to_be_bytes().to_vec();
        body.extend(b"no such file\0");
        (codes::ERROR, body)
    };
    let server = has_it();
    let stale = serve(move |_| refused());
    let manager = serve(
        move |path| match path.ends_with("tried=127.0.0.1&triedrc=enoent") {
            true => redirect("localhost", server, "y=2"),
            false => redirect("127.0.0.1", stale, "y=2"),
        },
    );
    assert_eq!(size(manager).unwrap(), 42);
    let alone = serve(move |path| match path.contains("tried=") {
        true => refused(),
        false => redirect("127.0.0.1", stale, "y=2"),
    });
    let error = size(alone).unwrap_err();
    assert_eq!(error.kind, Kind::Missing);
    assert_eq!(error.server, format!("127.0.0.1:{alone}"));
}

#[test]
fn why_a_server_failed_is_said_and_not_that_its_manager_knows_no_other() {
    let dead = free_port();
    let manager = serve(move |path| match path.contains("tried=") {
        true => {
            let refused = [&3011_u32.to_be_bytes()[..], b"no servers have the file\0"].concat();
            (codes::ERROR, refused)
        }
        false => redirect("127.0.0.1", dead, "y=2"),
    });
    let error = size(manager).unwrap_err();
    assert_eq!(error.kind, Kind::Unreachable, "{error}");
    assert_eq!(error.server, format!("127.0.0.1:{dead}"));
    assert_eq!(error.file, "/a");
}

#[test]
fn redirects_in_circles_and_servers_that_all_fail_end() {
    let dead = free_port();
    let error = size(serve(move |_| redirect("127.0.0.1", dead, ""))).unwrap_err();
    assert_eq!((error.kind, error.file.as_str()), (Kind::Unreachable, "/a"));
    assert_eq!(error.server, format!("127.0.0.1:{dead}"));
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        let script: Script = std::sync::Arc::new(move |_| redirect("127.0.0.1", port, ""));
        converse(listener.accept().unwrap().0, &script);
    });
    assert_eq!(size(port).unwrap_err().kind, Kind::Malformed);
}

#[test]
fn a_server_that_makes_the_client_wait_is_asked_again() {
    let asked = std::sync::atomic::AtomicU32::new(0);
    let server = serve(
        move |_| match asked.fetch_add(1, std::sync::atomic::Ordering::SeqCst) {
            0 => (codes::WAIT, vec![0, 0, 0, 1]),
            _ => (codes::OK, b"1 7 16 0\0".to_vec()),
        },
    );
    assert_eq!(size(server).unwrap(), 7);
}

#[test]
fn garbage_is_an_error_of_the_protocol() {
    let error = size(serve(|_| (1234, vec![7; 30]))).unwrap_err();
    assert_eq!(error.kind, Kind::Malformed, "{error}");
    assert!(size(serve(|_| (codes::OK, b"no numbers".to_vec()))).is_err());
}
