//! What a server of XRootD sends: bytes of a connection on which requests are in flight, and the bodies of answers.
//! The fuzz target of this name and a test of treemill-remote
//! (`tests/hostile.rs`) are around it.

use std::time::Duration;
use treemill_xrootd::stream::{Deadlines, Event, Outcome, Stream};
use treemill_xrootd::wire::bodies::{
    Entry, Location, Login, Opened, Protocol, Status, checksums, segments, values,
};
use treemill_xrootd::wire::{Header, Paged, Request, codes};

/// States of responses, so that a byte is one.
const STATES: [u16; 9] = [
    codes::OK,
    codes::OK_SO_FAR,
    codes::ATTENTION,
    codes::MORE_AUTH,
    codes::ERROR,
    codes::REDIRECT,
    codes::WAIT,
    codes::WAIT_RESPONSE,
    codes::STATUS,
];
const ASKED: [([u8; 4], u32, u64); 2] = [([1; 4], 3, 5), ([1; 4], 4, 9)];

/// Nothing of it panics.
pub fn met(data: &[u8]) {
    bodies(data);
    let Some((&kind, data)) = data.split_first() else {
        return;
    };
    let framed = if kind % 2 == 0 {
        data.to_vec()
    } else {
        frames(data)
    };
    let piece = usize::from(kind / 2).max(1);
    converse(&framed, piece);
}

/// Bytes as responses to the requests in flight, with headers that are right.
fn frames(mut data: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    while let [stream, state, length, rest @ ..] = data {
        let (body, after) = rest.split_at(usize::from(*length).min(rest.len()));
        let header = Header {
            stream: u16::from(stream % 5),
            state: STATES[usize::from(state % 9)],
            length: u32::try_from(body.len()).unwrap_or_default(),
        };
        bytes.extend(header.encode());
        bytes.extend(body);
        // The checksum of an announcement is not found by chance.
        if let Some(&[length, offset]) = after.first_chunk().filter(|_| stream % 5 == 4) {
            let paged = Paged {
                stream: header.stream,
                is_last: length % 2 == 0,
                length: u32::from(length),
                offset: u64::from(offset / 64),
            };
            bytes.truncate(bytes.len() - Header::SIZE - body.len());
            let (state, length) = (codes::STATUS, 24);
            bytes.extend(
                Header {
                    state,
                    length,
                    ..header
                }
                .encode(),
            );
            bytes.extend(paged.encode());
        }
        data = after;
    }
    bytes
}

/// Each request ends once at most, and an answer has no more data than was asked for.
fn converse(bytes: &[u8], piece: usize) {
    let mut stream = Stream::new(Deadlines::default());
    stream.greet(Duration::ZERO);
    let mut open = vec![0];
    let read = Request::Read {
        handle: [1; 4],
        offset: 0,
        length: 300,
    };
    for _ in 0..3 {
        open.extend(stream.send(&read, 300, Duration::ZERO).map(|sent| sent.0));
    }
    let pages = Request::Pages {
        handle: [1; 4],
        offset: 0,
        length: 300,
        again: false,
    };
    open.extend(stream.send(&pages, 300, Duration::ZERO).map(|sent| sent.0));
    for (seconds, piece) in bytes.chunks(piece).enumerate() {
        let (now, mut events) = (Duration::from_secs(seconds as u64), Vec::new());
        let taken = stream.take(piece, now, &mut events);
        events.extend(stream.tick(now));
        for event in events {
            if let Event::Done { stream, outcome } = event {
                let at = open.iter().position(|open| *open == stream);
                open.swap_remove(at.expect("a request ends that is not in flight"));
                if let Outcome::Data(data) | Outcome::Pages { data, .. } = outcome {
                    assert!(stream == 0 || data.len() <= 300);
                }
            }
        }
        if taken.is_err() {
            return;
        }
    }
}

fn bodies(data: &[u8]) {
    let _ = Paged::decode(data);
    let _ = Protocol::decode(data);
    let _ = Login::decode(data);
    let _ = Status::decode(data);
    let _ = Opened::decode(data);
    let _ = Entry::decode_all(data);
    let _ = Location::decode_all(data);
    let _ = segments(data, &ASKED);
    let _ = checksums(data);
    let _ = values(data, &["readv_iov_max", "readv_ior_max"]);
    let _ = Request::decode(data);
}
