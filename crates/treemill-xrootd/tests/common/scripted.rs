//! Servers that follow a script: what real ones cannot be made to show.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, dead_code)]

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use treemill_xrootd::wire::{Header, Request, codes};

/// What a server answers to a request of a path: the state and the body.
pub type Script = Arc<dyn Fn(&str) -> (u16, Vec<u8>) + Send + Sync>;

/// Serves connections until the test's process ends; the port.
pub fn serve(script: impl Fn(&str) -> (u16, Vec<u8>) + Send + Sync + 'static) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let script: Script = Arc::new(script);
    std::thread::spawn(move || {
        for socket in listener.incoming() {
            let script = Arc::clone(&script);
            std::thread::spawn(move || converse(socket.unwrap(), &script));
        }
    });
    port
}

/// The bytes of an answer.
pub fn answer(stream: u16, state: u16, body: &[u8]) -> Vec<u8> {
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
pub fn converse(mut socket: TcpStream, script: &Script) {
    let mut handshake = [0; 20];
    if socket.read_exact(&mut handshake).is_err() {
        return;
    }
    socket
        .write_all(&answer(0, codes::OK, &[0, 0, 5, 0x20, 0, 0, 0, 1]))
        .unwrap();
    let (mut bytes, mut buffer) = (Vec::new(), [0; 4096]);
    while let Ok(count @ 1..) = socket.read(&mut buffer) {
        bytes.extend(&buffer[..count]);
        while let Ok((stream, request, size)) = Request::decode(&bytes) {
            bytes.drain(..size);
            let (state, body) = match &request {
                Request::Protocol { .. } => (codes::OK, vec![0, 0, 5, 0x20, 0, 0, 0, 1]),
                Request::Login { .. } => (codes::OK, vec![0; 16]),
                Request::Config { .. } => (codes::OK, b"readv_iov_max\n".to_vec()),
                Request::Stat { path } | Request::Open { path } => script(path),
                _ => return,
            };
            if state == u16::MAX {
                return;
            }
            if socket.write_all(&answer(stream, state, &body)).is_err() {
                return;
            }
        }
    }
}

pub fn redirect(host: &str, port: u16, opaque: &str) -> (u16, Vec<u8>) {
    let target = format!("{host}?{opaque}");
    (
        codes::REDIRECT,
        [&i32::from(port).to_be_bytes()[..], target.as_bytes()].concat(),
    )
}
