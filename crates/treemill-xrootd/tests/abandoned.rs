//! What is not wanted any more does not hold up what is: a connection that would bring much of it is closed, and other files go
//! on over another one.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::single_range_in_vec_init
)]

#[allow(dead_code)]
mod common;

use common::content;
use common::scripted::answer;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};
use treemill_source::Source;
use treemill_xrootd::wire::{Request, codes};
use treemill_xrootd::{Client, Options, XrootdSource};

const SIZE: usize = 3 << 20;

/// What a connection tells the test.
#[derive(Debug, PartialEq, Eq)]
enum Told {
    /// A read of a file came, over the connection of this number.
    Asked(usize, u8),
    /// The client has closed the connection of this number.
    Ended(usize),
}

/// A server of two files, which answers reads from the second connection on.
fn serve(bytes: &Arc<Vec<u8>>, told: &Sender<Told>) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let (bytes, told) = (Arc::clone(bytes), told.clone());
    std::thread::spawn(move || {
        for (number, socket) in listener.incoming().enumerate() {
            let (bytes, told) = (Arc::clone(&bytes), told.clone());
            std::thread::spawn(move || {
                converse(number, socket.unwrap(), &bytes, &told);
                told.send(Told::Ended(number)).ok();
            });
        }
    });
    port
}

/// Ends when the client does.
fn converse(number: usize, mut socket: TcpStream, content: &[u8], told: &Sender<Told>) {
    let protocol = [0, 0, 5, 0x20, 0, 0, 0, 1];
    let (mut handshake, mut bytes, mut buffer) = ([0; 20], Vec::new(), [0; 4096]);
    if socket.read_exact(&mut handshake).is_err() {
        return;
    }
    socket.write_all(&answer(0, codes::OK, &protocol)).unwrap();
    while let Ok(count @ 1..) = socket.read(&mut buffer) {
        bytes.extend(&buffer[..count]);
        while let Ok((stream, request, size)) = Request::decode(&bytes) {
            bytes.drain(..size);
            let body = match &request {
                Request::Protocol { .. } => protocol.to_vec(),
                Request::Login { .. } => vec![0; 16],
                Request::Config { .. } => b"readv_iov_max\n".to_vec(),
                Request::Stat { .. } => format!("1 {} 16 1700000000\0", content.len()).into(),
                Request::Open { path } => vec![u8::from(path.contains("wanted")), 0, 0, 0],
                Request::Read {
                    handle,
                    offset,
                    length,
                } => {
                    told.send(Told::Asked(number, handle[0])).unwrap();
                    if number == 0 {
                        continue;
                    }
                    let start = usize::try_from(*offset).unwrap();
                    content[start..start + usize::try_from(*length).unwrap()].to_vec()
                }
                Request::Close { .. } => Vec::new(),
                _ => return,
            };
            if socket.write_all(&answer(stream, codes::OK, &body)).is_err() {
                return;
            }
        }
    }
}

#[test]
fn a_connection_that_brings_what_is_not_wanted_is_closed_and_other_files_go_on() {
    let bytes = Arc::new(content(SIZE));
    let (told, heard) = channel();
    let port = serve(&bytes, &told);
    let client = Arc::new(Client::new(Options::default()));
    let open = |name| XrootdSource::open(&client, &format!("root://127.0.0.1:{port}//{name}"));
    let (left, wanted) = (open("left").unwrap(), open("wanted").unwrap());
    let given_up = left.submit(vec![0..2 << 20]);
    let kept = wanted.submit(vec![7..(2 << 20) + 7]);
    assert_eq!(heard.recv().unwrap(), Told::Asked(0, 0));
    assert_eq!(heard.recv().unwrap(), Told::Asked(0, 1));
    left.abandon(&[0..2 << 20]);
    assert!(given_up[0].wait().is_err());
    assert!(kept[0].wait().unwrap() == bytes[7..(2 << 20) + 7]);
    assert!(!left.costs().is_lost && !wanted.costs().is_lost);
    // The file that was left can be read again.
    assert!(left.submit(vec![0..2 << 20])[0].wait().unwrap() == bytes[..2 << 20]);
    let mut expected = vec![Told::Ended(0), Told::Asked(1, 1), Told::Asked(1, 0)];
    while !expected.is_empty() {
        let said = heard.recv().unwrap();
        expected.retain(|other| *other != said);
    }
}

#[test]
fn a_connection_stays_that_brings_little_of_what_is_not_wanted() {
    let bytes = Arc::new(content(SIZE));
    let (told, heard) = channel();
    let port = serve(&bytes, &told);
    let client = Arc::new(Client::new(Options::default()));
    let open = |name| XrootdSource::open(&client, &format!("root://127.0.0.1:{port}//{name}"));
    let (left, wanted) = (open("left").unwrap(), open("wanted").unwrap());
    let given_up = left.submit(vec![0..2000]);
    let _kept = wanted.submit(vec![0..2 << 20]);
    left.abandon(&[0..2000]);
    left.abandon(&[0..2000]);
    assert!(given_up[0].wait().is_err());
    // The server still hears the client on it.
    let _more = wanted.submit(vec![0..2 << 20]);
    for file in [0, 1, 1] {
        assert_eq!(heard.recv().unwrap(), Told::Asked(0, file));
    }
}
