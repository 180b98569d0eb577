//! What servers make requests wait, and what the time alone brings.

use super::*;

#[test]
fn a_wait_sends_the_request_again_when_it_is_over() {
    let mut stream = reading(1);
    let request = READ.encode(1).unwrap();
    let wait = response(1, codes::WAIT, &20_u32.to_be_bytes());
    assert_eq!(stream.taken(&wait, at(0)).unwrap(), []);
    assert_eq!(stream.tick(at(19)), [], "a wait is not silence");
    assert_eq!(stream.tick(at(20)), [Event::Send(request)]);
    assert_eq!(stream.tick(at(21)), [], "it is sent once");
    let events = stream.taken(&response(1, codes::OK, b"x"), at(22)).unwrap();
    assert_eq!(events, [done(1, Outcome::Data(b"x"[..].into()))]);
}

#[test]
fn waits_end_when_patience_does() {
    for seconds in [0_u32, 1, 50, 121, u32::MAX] {
        let mut stream = reading(1);
        let wait = response(1, codes::WAIT, &seconds.to_be_bytes());
        let mut now = 0;
        let waits = (0..1000).find(|_| {
            let events = stream.taken(&wait, at(now)).unwrap();
            now += u64::from(seconds.max(1));
            let again = stream.tick(at(now));
            assert_eq!(again.len(), usize::from(events.is_empty()));
            events == [done(1, Outcome::Busy)]
        });
        assert_eq!(waits, Some(120 / seconds.max(1) as usize));
        assert_eq!(stream.in_flight(), 0);
    }
}

#[test]
fn a_promise_for_later_than_patience_is_taken() {
    for seconds in [0_u32, 119, 120, 121, 600, u32::MAX] {
        let mut stream = reading(1);
        let promise = response(1, codes::WAIT_RESPONSE, &seconds.to_be_bytes());
        assert_eq!(stream.taken(&promise, at(0)).unwrap(), []);
        let answer = promised(1, codes::OK, b"x");
        let events = stream.taken(&answer, at(1)).unwrap();
        assert_eq!(events, [done(1, Outcome::Data(b"x"[..].into()))]);
        assert_eq!(stream.tick(at(1000)), [], "nothing is due");
    }
}

#[test]
fn a_promise_that_outlasts_patience_gives_its_request_up_but_keeps_its_stream() {
    let mut stream = reading(1);
    let promise = response(1, codes::WAIT_RESPONSE, &500_u32.to_be_bytes());
    assert_eq!(stream.taken(&promise, at(0)).unwrap(), []);
    let ping = Request::Ping.encode(2).unwrap();
    assert_eq!(stream.tick(at(119)), [Event::Send(ping)]);
    let pong = response(2, codes::OK, b"");
    assert_eq!(stream.taken(&pong, at(119)).unwrap(), []);
    // Another promise brings no more patience.
    assert_eq!(stream.taken(&promise, at(119)).unwrap(), []);
    assert_eq!(stream.tick(at(120)), [done(1, Outcome::Busy)]);
    assert_eq!(stream.tick(at(400)), [], "it ends once");
    assert_eq!(stream.in_flight(), 0);
    assert_eq!(
        stream
            .taken(&promised(1, codes::OK, b"late"), at(450))
            .unwrap(),
        []
    );
    assert!(
        stream.taken(&response(1, codes::OK, b""), at(450)).is_err(),
        "the stream is free"
    );
}

#[test]
fn a_wait_after_a_promise_has_the_patience_that_is_left() {
    for (seconds, outcome) in [(20_u32, None), (21, Some(Outcome::Busy))] {
        let mut stream = reading(1);
        let promise = response(1, codes::WAIT_RESPONSE, &600_u32.to_be_bytes());
        assert_eq!(stream.taken(&promise, at(0)).unwrap(), []);
        let wait = promised(1, codes::WAIT, &seconds.to_be_bytes());
        let expected: Vec<_> = outcome
            .map(|outcome| done(1, outcome))
            .into_iter()
            .collect();
        assert_eq!(stream.taken(&wait, at(100)).unwrap(), expected);
    }
}

#[test]
fn a_promise_is_not_silence_until_it_is_broken() {
    let mut stream = reading(1);
    stream
        .taken(
            &response(1, codes::WAIT_RESPONSE, &60_u32.to_be_bytes()),
            at(0),
        )
        .unwrap();
    assert_eq!(stream.tick(at(69)), []);
    assert_eq!(stream.tick(at(70)), [Event::Silent]);
}

/// A server that answers has much to do; one that does not is gone.
#[test]
fn a_server_that_has_promised_an_answer_is_asked_for_signs_of_life() {
    let mut stream = reading(1);
    let promise = response(1, codes::WAIT_RESPONSE, &100_u32.to_be_bytes());
    stream.taken(&promise, at(0)).unwrap();
    for (id, now) in [(2, 5), (3, 11), (4, 17)] {
        assert_eq!(stream.tick(at(now - 1)), []);
        let ping = Request::Ping.encode(id).unwrap();
        assert_eq!(stream.tick(at(now)), [Event::Send(ping)]);
        let pong = response(id, codes::OK, b"");
        assert_eq!(stream.taken(&pong, at(now + 1)).unwrap(), []);
    }
    assert_eq!(stream.tick(at(23)).len(), 1);
    assert_eq!(stream.tick(at(32)), []);
    assert_eq!(stream.tick(at(33)), [Event::Silent]);
}

#[test]
fn an_answer_that_is_short_must_be_whole_soon_after_it_has_begun() {
    let path = || "/f".to_owned();
    let drips = |request: Request| {
        let mut stream = Stream::new(DEADLINES);
        stream.send(&request, 1000, at(0)).unwrap();
        for second in 2..=62 {
            let part = response(1, codes::OK_SO_FAR, b"x");
            assert_eq!(stream.taken(&part, at(second)).unwrap(), []);
            if second < 62 {
                assert_eq!(stream.tick(at(second)), []);
            }
        }
        stream.tick(at(62))
    };
    for request in [
        Request::Open { path: path() },
        Request::Stat { path: path() },
    ] {
        assert_eq!(drips(request), [done(1, Outcome::Neglected)]);
    }
    assert_eq!(
        drips(Request::List { path: path() }),
        [],
        "folders may be long"
    );
    assert_eq!(drips(READ), []);
}

#[test]
fn parts_without_bytes_are_no_progress() {
    let mut stream = reading(1);
    for second in 1..=60 {
        let empty = response(1, codes::OK_SO_FAR, b"");
        assert_eq!(stream.taken(&empty, at(second)).unwrap(), []);
        assert_eq!(stream.brought(), None);
    }
    assert_eq!(stream.tick(at(60)), [done(1, Outcome::Neglected)]);
    let mut stream = reading(1);
    stream
        .taken(&response(1, codes::OK_SO_FAR, b"x"), at(7))
        .unwrap();
    assert_eq!(stream.brought(), Some(at(7)));
}

#[test]
fn a_connection_that_nothing_uses_is_closed() {
    let idle = at(60);
    let mut stream = Stream::new(Deadlines { idle, ..DEADLINES });
    stream.send(&READ, 1000, at(10)).unwrap();
    stream
        .taken(&response(1, codes::OK_SO_FAR, b"x"), at(15))
        .unwrap();
    let wait = response(1, codes::WAIT, &100_u32.to_be_bytes());
    stream.taken(&wait, at(20)).unwrap();
    assert_eq!(stream.tick(at(119)), [], "an answer is due");
    assert_eq!(stream.tick(at(120)).len(), 1);
    stream
        .taken(&response(1, codes::OK, b"x"), at(121))
        .unwrap();
    assert_eq!(stream.tick(at(180)), []);
    assert_eq!(stream.tick(at(181)), [Event::Idle]);
}

#[test]
fn what_has_come_in_part_is_seen() {
    let mut stream = Stream::new(DEADLINES);
    assert!(stream.is_at_rest());
    stream.send(&READ, 10, at(0)).unwrap();
    assert!(!stream.is_at_rest(), "an answer is due");
    stream.taken(&response(1, codes::OK, b""), at(1)).unwrap();
    assert!(stream.is_at_rest());
    stream.taken(&[0, 2, 0], at(1)).unwrap();
    assert!(!stream.is_at_rest(), "a message has begun");
}

#[test]
fn silence_counts_only_while_an_answer_is_due() {
    let mut stream = reading(1);
    assert_eq!(stream.tick(at(9)), []);
    assert_eq!(stream.tick(at(10)), [Event::Silent]);
    stream.taken(&response(1, codes::OK, b""), at(10)).unwrap();
    assert_eq!(stream.tick(at(1000)), [], "nothing is due");
    stream.send(&READ, 10, at(1000)).unwrap();
    assert_eq!(stream.tick(at(1009)), []);
    assert_eq!(stream.tick(at(1010)), [Event::Silent]);
}

#[test]
fn slow_progress_is_progress() {
    let mut stream = reading(1);
    stream
        .taken(
            &Header {
                stream: 1,
                state: 0,
                length: 100,
            }
            .encode(),
            at(0),
        )
        .unwrap();
    for second in 0..99 {
        assert_eq!(stream.taken(b"x", at(second * 9)).unwrap(), []);
        assert_eq!(stream.tick(at(second * 9 + 8)), []);
    }
    assert_eq!(
        stream.taken(b"x", at(900)).unwrap(),
        [done(1, Outcome::Data([b'x'; 100][..].into()))]
    );
}

#[test]
fn a_neglected_request_ends_and_its_late_answer_is_dropped() {
    let mut stream = reading(2);
    let part = response(2, codes::OK_SO_FAR, b"x");
    for second in (0..60).step_by(5) {
        stream.taken(&part, at(second)).unwrap();
        assert_eq!(stream.tick(at(second)), []);
    }
    assert_eq!(stream.tick(at(60)), [done(1, Outcome::Neglected)]);
    assert_eq!(stream.in_flight(), 1);
    let next = stream.send(&READ, 10, at(60)).unwrap().0;
    assert_eq!(next, 3);
    assert_eq!(
        stream
            .taken(&response(1, codes::OK_SO_FAR, b"late"), at(61))
            .unwrap(),
        []
    );
    assert_eq!(
        stream
            .taken(&response(1, codes::OK, b"late"), at(61))
            .unwrap(),
        []
    );
}
