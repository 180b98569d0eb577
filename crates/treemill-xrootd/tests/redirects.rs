//! Redirects, servers that fail, and answers that come late, from servers that follow a script: a real federation
//! needs several hosts.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects
)]

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use treemill_xrootd::wire::{Header, Request, codes};
use treemill_xrootd::{Client, ErrorKind, Options, Url};

/// What a server answers to a request of a path: the state and the body.
type Script = Box<dyn Fn(&str) -> (u16, Vec<u8>) + Send>;

/// Serves one connection after the other until the test's process ends; the port.
fn serve(script: Script) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for socket in listener.incoming() {
            converse(socket.unwrap(), &script);
        }
    });
    port
}

/// A port at which nothing listens.
fn nobody() -> u16 {
    TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .port()
}

fn answer(stream: u16, state: u16, body: &[u8]) -> Vec<u8> {
    let length = u32::try_from(body.len()).unwrap();
    [
        Header {
            stream,
            state,
            length,
        }
        .encode(),
        body.to_vec(),
    ]
    .concat()
}

/// Ends when the client does, or when the script says nothing.
fn converse(mut socket: TcpStream, script: &Script) {
    let mut handshake = [0; 20];
    socket.read_exact(&mut handshake).unwrap();
    socket
        .write_all(&answer(0, codes::OK, &[0, 0, 5, 0x20, 0, 0, 0, 1]))
        .unwrap();
    let (mut bytes, mut buffer) = (Vec::new(), [0; 4096]);
    while let Ok(count @ 1..) = socket.read(&mut buffer) {
        bytes.extend(&buffer[..count]);
        while let Ok((stream, request, size)) = Request::decode(&bytes) {
            bytes.drain(..size);
            let (state, body) = match &request {
                Request::Protocol => (codes::OK, vec![0, 0, 5, 0x20, 0, 0, 0, 1]),
                Request::Login { .. } => (codes::OK, vec![0; 16]),
                Request::Config { .. } => (codes::OK, b"readv_iov_max\n".to_vec()),
                Request::Stat { path } => script(path),
                _ => return,
            };
            if state == u16::MAX {
                return;
            }
            socket.write_all(&answer(stream, state, &body)).unwrap();
        }
    }
}

fn redirect(port: u16, opaque: &str) -> (u16, Vec<u8>) {
    let target = format!("127.0.0.1?{opaque}");
    (
        codes::REDIRECT,
        [&i32::from(port).to_be_bytes()[..], target.as_bytes()].concat(),
    )
}

fn size(port: u16) -> Result<u64, treemill_xrootd::Error> {
    let url = Url::parse(&format!("root://127.0.0.1:{port}//a?x=1")).unwrap();
    Client::new(Options::default())
        .stat(&url)
        .map(|status| status.size)
}

fn has_it() -> u16 {
    serve(Box::new(|path| {
        assert!(path.starts_with("/a?x=1&y=2"), "{path}");
        (codes::OK, b"1 42 16 0\0".to_vec())
    }))
}

#[test]
fn a_redirect_is_followed_with_its_opaque_part() {
    let server = has_it();
    assert_eq!(
        size(serve(Box::new(move |_| redirect(server, "y=2")))).unwrap(),
        42
    );
}

#[test]
fn another_server_is_asked_for_when_one_is_not_there_or_breaks_off() {
    for broken in [nobody(), serve(Box::new(|_| (u16::MAX, Vec::new())))] {
        let server = has_it();
        let manager = serve(Box::new(move |path| {
            redirect(
                if path.ends_with("tried=127.0.0.1") {
                    server
                } else {
                    broken
                },
                "y=2",
            )
        }));
        assert_eq!(size(manager).unwrap(), 42);
    }
}

#[test]
fn redirects_in_circles_and_servers_that_all_fail_end() {
    let dead = nobody();
    let error = size(serve(Box::new(move |_| redirect(dead, "")))).unwrap_err();
    assert_eq!((error.kind(), error.file()), (ErrorKind::Connection, "/a"));
    assert_eq!(error.server(), format!("127.0.0.1:{dead}"));
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        let script: Script = Box::new(move |_| redirect(port, ""));
        converse(listener.accept().unwrap().0, &script);
    });
    assert_eq!(size(port).unwrap_err().kind(), ErrorKind::Protocol);
}

#[test]
fn a_server_that_makes_the_client_wait_is_asked_again() {
    let asked = std::sync::atomic::AtomicU32::new(0);
    let server = serve(Box::new(move |_| {
        match asked.fetch_add(1, std::sync::atomic::Ordering::SeqCst) {
            0 => (codes::WAIT, vec![0, 0, 0, 1]),
            _ => (codes::OK, b"1 7 16 0\0".to_vec()),
        }
    }));
    assert_eq!(size(server).unwrap(), 7);
}

#[test]
fn garbage_is_an_error_of_the_protocol() {
    let error = size(serve(Box::new(|_| (1234, vec![7; 30])))).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Protocol, "{error}");
    assert!(size(serve(Box::new(|_| (codes::OK, b"no numbers".to_vec())))).is_err());
}
