//! Scripts of one connection: what a server may send, in any pieces, and what the time brings.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation
)]

use super::*;
use proptest::prelude::*;

mod pages;
mod waits;

const READ: Request = Request::Read {
    handle: [0; 4],
    offset: 0,
    length: 8,
};

fn at(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

fn response(stream: u16, state: u16, body: &[u8]) -> Vec<u8> {
    let length = body.len() as u32;
    let mut bytes = Header {
        stream,
        state,
        length,
    }
    .encode();
    bytes.extend(body);
    bytes
}

fn promised(stream: u16, state: u16, body: &[u8]) -> Vec<u8> {
    let mut inner = codes::ASYNC_RESPONSE.to_be_bytes().to_vec();
    inner.extend([0; 4]);
    inner.extend(response(stream, state, body));
    response(0, codes::ATTENTION, &inner)
}

const DEADLINES: Deadlines = Deadlines {
    silence: Duration::from_secs(10),
    neglect: Duration::from_secs(60),
    patience: Duration::from_secs(120),
    idle: Duration::MAX,
};

/// What bytes bring about.
trait Taking {
    fn taken(&mut self, bytes: &[u8], now: Duration) -> Result<Vec<Event>, WireError>;
}

impl Taking for Stream {
    fn taken(&mut self, bytes: &[u8], now: Duration) -> Result<Vec<Event>, WireError> {
        let mut out = Vec::new();
        self.take(bytes, now, &mut out).map(|()| out)
    }
}

/// A stream on which `count` reads of up to 1000 bytes are in flight, as streams 1, 2, ….
fn reading(count: u16) -> Stream {
    let mut stream = Stream::new(DEADLINES);
    for expected in 1..=count {
        assert_eq!(stream.send(&READ, 1000, at(0)).unwrap().0, expected);
    }
    stream
}

fn done(stream: u16, outcome: Outcome) -> Event {
    Event::Done { stream, outcome }
}

/// What a server does for one request before it ends it.
#[derive(Debug, Clone)]
enum Act {
    Part(Vec<u8>),
    Promise,
    Notice,
}

fn scripts() -> impl Strategy<Value = Vec<(Vec<Act>, bool, Vec<u8>)>> {
    let data = || prop::collection::vec(any::<u8>(), 0..50);
    let act = prop_oneof![
        4 => data().prop_map(Act::Part),
        1 => Just(Act::Notice),
    ];
    let begin = prop_oneof![3 => Just(None), 1 => Just(Some(Act::Promise))];
    let one = (
        begin,
        prop::collection::vec(act, 0..5),
        any::<bool>(),
        data(),
    )
        .prop_map(|(begin, acts, in_message, end)| {
            (
                begin.into_iter().chain(acts).collect::<Vec<_>>(),
                in_message,
                end,
            )
        });
    prop::collection::vec(one, 1..8)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// Requests in flight together, answers interleaved, bytes in pieces of any sizes.
    #[test]
    fn interleaved_answers_find_their_requests(
        scripts in scripts(),
        order in prop::collection::vec(any::<prop::sample::Index>(), 60),
        pieces in prop::collection::vec(1_usize..40, 1..20),
    ) {
        let mut stream = reading(scripts.len() as u16);
        let mut queues: Vec<Vec<Vec<u8>>> = Vec::new();
        let mut expected: Vec<Vec<u8>> = Vec::new();
        for (index, (acts, in_message, end)) in scripts.iter().enumerate() {
            let (id, mut whole) = (index as u16 + 1, Vec::new());
            let mut queue: Vec<_> = acts.iter().map(|act| match act {
                Act::Part(data) => { whole.extend(data); response(id, codes::OK_SO_FAR, data) }
                Act::Promise => response(id, codes::WAIT_RESPONSE, &5_u32.to_be_bytes()),
                Act::Notice => response(0, codes::ATTENTION, &5002_u32.to_be_bytes()),
            }).collect();
            whole.extend(end);
            queue.push(if *in_message { promised(id, codes::OK, end) } else { response(id, codes::OK, end) });
            queue.reverse();
            queues.push(queue);
            expected.push(whole);
        }
        let mut bytes = Vec::new();
        let mut order = order.iter().cycle();
        while queues.iter().any(|queue| !queue.is_empty()) {
            let left: Vec<usize> = (0..queues.len()).filter(|&i| !queues[i].is_empty()).collect();
            bytes.extend(queues[*order.next().unwrap().get(&left)].pop().unwrap());
        }
        let (mut events, mut rest, mut pieces) = (Vec::new(), &bytes[..], pieces.iter().cycle());
        while !rest.is_empty() {
            let (piece, after) = rest.split_at((*pieces.next().unwrap()).min(rest.len()));
            events.extend(stream.taken(piece, at(1)).unwrap());
            rest = after;
        }
        prop_assert_eq!(events.len(), expected.len());
        for (index, data) in expected.into_iter().enumerate() {
            prop_assert!(events.contains(&done(index as u16 + 1, Outcome::Data(data[..].into()))));
        }
        prop_assert_eq!(stream.in_flight(), 0);
    }

    #[test]
    fn any_bytes_are_taken_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..300), states in any::<bool>()) {
        let mut stream = reading(3);
        let mut bytes = bytes;
        if states && bytes.len() > 8 {
            let head = [0, 1, 0x0f, 0xa0 + bytes[3] % 8, 0, 0, 0, bytes[7]];
            bytes[..8].copy_from_slice(&head);
        }
        let taken = stream.taken(&bytes, at(1));
        let ended = taken.map_or(0, |events| events.len());
        prop_assert!(ended <= 3);
        let _ = stream.tick(at(1000));
    }

    /// The length of a body is a claim: memory grows by the bytes that come.
    #[test]
    fn claims_beyond_the_request_are_refused(length in 1001_u32..=u32::MAX, state in prop_oneof![Just(0_u16), Just(4000)]) {
        let header = Header { stream: 1, state, length };
        prop_assert!(reading(1).taken(&header.encode(), at(0)).is_err());
    }
}

#[test]
fn parts_together_may_not_exceed_the_request() {
    let mut stream = reading(1);
    stream
        .taken(&response(1, codes::OK_SO_FAR, &[0; 600]), at(0))
        .unwrap();
    assert!(
        stream
            .taken(&response(1, codes::OK, &[0; 401]), at(0))
            .is_err()
    );
}

#[test]
fn answers_without_requests_are_refused() {
    for state in [
        codes::OK,
        codes::OK_SO_FAR,
        codes::ERROR,
        codes::WAIT,
        codes::REDIRECT,
    ] {
        assert!(
            reading(1)
                .taken(&response(2, state, &[0; 8]), at(0))
                .is_err(),
            "{state}"
        );
    }
}

#[test]
fn refusals_and_redirects_end_a_request() {
    let mut stream = reading(3);
    let mut error = 3011_u32.to_be_bytes().to_vec();
    error.extend(b"no such file\0");
    let refused = Outcome::Refused {
        code: 3011,
        message: "no such file".into(),
    };
    assert_eq!(
        stream
            .taken(&response(2, codes::ERROR, &error), at(0))
            .unwrap(),
        [done(2, refused)]
    );
    let events = stream
        .taken(&response(1, codes::REDIRECT, &[0, 0, 0, 9, b'h']), at(0))
        .unwrap();
    let (host, opaque, token) = ("h".into(), String::new(), String::new());
    assert_eq!(
        events,
        [done(
            1,
            Outcome::Redirect {
                host,
                port: Some(9),
                opaque,
                token
            }
        )]
    );
    let more = stream
        .taken(&response(3, codes::MORE_AUTH, b"xy"), at(0))
        .unwrap();
    assert_eq!(more, [done(3, Outcome::MoreAuth(b"xy".to_vec()))]);
}

#[test]
fn streams_in_use_are_not_given_again() {
    let mut stream = Stream::new(DEADLINES);
    stream.greet(at(0));
    for _ in 0..65_535 {
        stream.send(&Request::Ping, 0, at(0)).unwrap();
    }
    assert!(stream.send(&Request::Ping, 0, at(0)).is_err());
    stream.taken(&response(777, codes::OK, b""), at(0)).unwrap();
    assert_eq!(stream.send(&Request::Ping, 0, at(0)).unwrap().0, 777);
}

#[test]
fn the_handshake_is_answered_on_stream_zero() {
    let mut stream = Stream::new(DEADLINES);
    assert_eq!(stream.greet(at(0)).len(), 20);
    let events = stream
        .taken(&response(0, codes::OK, &[0, 0, 5, 0x20, 0, 0, 0, 1]), at(0))
        .unwrap();
    assert_eq!(
        events,
        [done(
            0,
            Outcome::Data([0, 0, 5, 0x20, 0, 0, 0, 1][..].into())
        )]
    );
}

#[test]
fn a_request_behind_others_that_make_progress_is_not_neglected() {
    let mut stream = reading(2);
    let part = response(1, codes::OK_SO_FAR, b"x");
    for second in (0..600).step_by(5) {
        stream.taken(&part, at(second)).unwrap();
        assert_eq!(stream.tick(at(second)), []);
    }
    stream.taken(&response(1, codes::OK, b""), at(600)).unwrap();
    assert_eq!(stream.tick(at(601)), [], "its turn has only come");
}

#[test]
fn data_are_written_to_the_memory_that_their_request_has() {
    let (mut stream, room) = (reading(2), BytesMut::with_capacity(5));
    let address = room.as_ptr();
    stream.place(2, room);
    let bytes = [
        response(2, codes::OK_SO_FAR, b"ab"),
        response(2, codes::OK, b"cde"),
    ];
    let events = stream.taken(&bytes.concat(), at(0)).unwrap();
    let [
        Event::Done {
            stream: 2,
            outcome: Outcome::Data(data),
        },
    ] = &events[..]
    else {
        panic!("{events:?}");
    };
    assert_eq!((data.as_ptr(), &data[..]), (address, &b"abcde"[..]));
}

#[test]
fn what_precedes_a_breach_of_the_protocol_counts() {
    let mut stream = reading(2);
    let bytes = [
        response(1, codes::OK, b"x"),
        response(1, codes::OK, b"again"),
    ]
    .concat();
    let mut out = Vec::new();
    assert!(stream.take(&bytes, at(0), &mut out).is_err());
    assert_eq!(out, [done(1, Outcome::Data(b"x"[..].into()))]);
}
