//! The codec against bytes of all kinds: round trips, truncation, and bytes that mean nothing.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects
)]

use super::bodies::{Entry, Location, Login, Opened, Protocol, Status, segments, values};
use super::*;
use proptest::prelude::*;

fn requests() -> impl Strategy<Value = Request> {
    let path = || "/[a-z]{0,20}(\\?[a-z=&]{0,9})?";
    let bytes = || prop::collection::vec(any::<u8>(), 0..40);
    prop_oneof![
        any::<bool>().prop_map(|with_tls| Request::Protocol { with_tls }),
        Just(Request::Ping),
        (any::<u32>(), any::<[u8; 8]>(), bytes()).prop_map(|(process, user, token)| {
            Request::Login {
                process,
                user,
                token,
            }
        }),
        (any::<[u8; 4]>(), bytes())
            .prop_map(|(kind, credentials)| Request::Auth { kind, credentials }),
        path().prop_map(|path| Request::Open { path }),
        path().prop_map(|path| Request::Stat { path }),
        path().prop_map(|path| Request::List { path }),
        (path(), any::<bool>()).prop_map(|(path, at_once)| Request::Locate { path, at_once }),
        path().prop_map(|names| Request::Config { names }),
        path().prop_map(|path| Request::Checksum { path }),
        any::<Handle>().prop_map(|handle| Request::Close { handle }),
        (any::<Handle>(), any::<u64>(), any::<u32>()).prop_map(|(handle, offset, length)| {
            Request::Read {
                handle,
                offset,
                length,
            }
        }),
        (any::<Handle>(), any::<u64>(), any::<u32>(), any::<bool>()).prop_map(
            |(handle, offset, length, again)| Request::Pages {
                handle,
                offset,
                length,
                again,
            }
        ),
        prop::collection::vec(any::<(Handle, u32, u64)>(), 0..20)
            .prop_map(|ranges| Request::Vector { ranges }),
    ]
}

proptest! {
    #[test]
    fn requests_come_back(request in requests(), stream: u16, after in prop::collection::vec(any::<u8>(), 0..9)) {
        let mut bytes = request.encode(stream).unwrap();
        let size = bytes.len();
        bytes.extend(after);
        let (its_stream, its_request, its_size) = Request::decode(&bytes).unwrap();
        prop_assert_eq!((its_stream, its_size), (stream, size));
        prop_assert!(its_request == request);
    }

    #[test]
    fn truncated_requests_are_errors(request in requests(), cut in 1_usize..500) {
        let bytes = request.encode(1).unwrap();
        prop_assert!(Request::decode(&bytes[..bytes.len().saturating_sub(cut)]).is_err());
    }

    #[test]
    fn headers_come_back(stream: u16, state: u16, length in 0_u32..=0x7fff_ffff) {
        let header = Header { stream, state, length };
        prop_assert_eq!(Header::decode(&header.encode()), Ok(header));
        prop_assert!(Header::decode(&header.encode()[..7]).is_err());
    }

    #[test]
    fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..80), state in 3998_u16..4009) {
        let _ = (Request::decode(&bytes), Header::decode(&bytes), Reply::decode(state, &bytes));
        let _ = (Protocol::decode(&bytes), Login::decode(&bytes), Opened::decode(&bytes));
        let _ = (Status::decode(&bytes), Entry::decode_all(&bytes), Location::decode_all(&bytes));
        let _ = (Paged::decode(&bytes), values(&bytes, &["a", "b"]), segments(&bytes, &[([0; 4], 3, 0)]));
    }

    /// What precedes pages says how much follows: no bit of it is taken on trust.
    #[test]
    fn pages_are_announced_by_right_bytes_only(
        (stream, is_last) in any::<(u16, bool)>(),
        length in 0_u32..=0x7fff_ffff,
        offset in 0..=u64::MAX / 2,
        bit in 0_usize..24 * 8,
    ) {
        let paged = Paged { stream, is_last, length, offset };
        let mut body = paged.encode();
        prop_assert_eq!((body.len(), Paged::decode(&body)), (24, Ok(paged)));
        body[bit / 8] ^= 1 << (bit % 8);
        prop_assert!(Paged::decode(&body).is_err());
        body.truncate(bit / 8);
        prop_assert!(Paged::decode(&body).is_err());
    }

    #[test]
    fn any_text_is_read_or_refused(text in "[SsMmrw.:0-9 \\n\\[\\]?]{0,60}") {
        let _ = (Status::decode(text.as_bytes()), Location::decode_all(text.as_bytes()));
        let listing = format!(".\n0 0 0 0\n{text}");
        let _ = (Entry::decode_all(text.as_bytes()), Entry::decode_all(listing.as_bytes()));
    }

    #[test]
    fn hostile_promises_are_refused(length in 0_u32..=u32::MAX, body in prop::collection::vec(any::<u8>(), 0..30)) {
        let mut bytes = codes::ASYNC_RESPONSE.to_be_bytes().to_vec();
        bytes.extend([0; 4]);
        bytes.extend(Header { stream: 1, state: 0, length }.encode());
        bytes.extend(&body);
        let fits = usize::try_from(length) == Ok(body.len());
        prop_assert_eq!(Reply::decode(codes::ATTENTION, &bytes).is_ok(), fits);
    }
}

#[test]
fn the_layout_is_the_protocols() {
    let read = Request::Read {
        handle: [1, 2, 3, 4],
        offset: 0x0506,
        length: 0x0708,
    };
    let expected = [
        0, 9, 0x0b, 0xc5, 1, 2, 3, 4, 0, 0, 0, 0, 0, 0, 5, 6, 0, 0, 7, 8, 0, 0, 0, 0,
    ];
    assert_eq!(read.encode(9).unwrap(), expected);
    let pages = |again| Request::Pages {
        handle: [1, 2, 3, 4],
        offset: 0x0506,
        length: 0x0708,
        again,
    };
    let first = pages(false).encode(9).unwrap();
    assert_eq!(first[..4], [0, 9, 0x0b, 0xd6]);
    assert_eq!(first[4..], expected[4..]);
    assert_eq!(pages(true).encode(9).unwrap()[20..], [0, 0, 0, 2, 0, 1]);
    let open = Request::Open { path: "/a".into() }.encode(1).unwrap();
    assert_eq!(open[..8], [0, 1, 0x0b, 0xc2, 0, 0, 4, 16]);
    assert_eq!(open[20..], [0, 0, 0, 2, b'/', b'a']);
    let list = Request::List { path: "/".into() }.encode(1).unwrap();
    assert_eq!(list[19], codes::WITH_STATUS);
}

#[test]
fn requests_say_how_much_of_a_file_they_ask_for() {
    let (handle, offset, length) = ([0; 4], 10, 7);
    let read = Request::Read {
        handle,
        offset,
        length,
    };
    let pages = Request::Pages {
        handle,
        offset,
        length,
        again: false,
    };
    let vector = Request::Vector {
        ranges: vec![(handle, 7, 10), (handle, 5, 30)],
    };
    let open = Request::Open { path: "/a".into() };
    let bytes = [read, pages, vector, open, Request::Ping].map(|request| request.file_bytes());
    assert_eq!(bytes, [7, 7, 12, 0, 0]);
}

#[test]
fn secrets_are_not_shown() {
    let open = Request::Open {
        path: "/a?authz=secret".into(),
    };
    assert_eq!(format!("{open:?}"), "Request(3010)");
}

#[test]
fn redirects_are_taken_apart() {
    let redirect = |port: i32, text: &str| {
        let mut body = port.to_be_bytes().to_vec();
        body.extend(text.as_bytes());
        Reply::decode(codes::REDIRECT, &body)
    };
    let expected = |host: &str, port, opaque: &str, token: &str| {
        let (host, opaque, token) = (host.into(), opaque.into(), token.into());
        Ok(Reply::Redirect {
            host,
            port,
            opaque,
            token,
        })
    };
    assert_eq!(redirect(1094, "h\0"), expected("h", Some(1094), "", ""));
    assert_eq!(
        redirect(1, "h?a=1?t?u"),
        expected("h", Some(1), "a=1", "t?u")
    );
    assert_eq!(redirect(1, "h??t"), expected("h", Some(1), "", "t"));
    assert_eq!(
        redirect(-1, "root://h//a?b"),
        expected("root://h//a?b", None, "", "")
    );
    assert!(redirect(70_000, "h").is_err());
}

#[test]
fn bodies_are_taken_apart() {
    let status = Status {
        size: 12,
        flags: 16,
        changed: 99,
    };
    assert_eq!(Status::decode(b"7 12 16 99 1 2 0644 a b\0"), Ok(status));
    assert!(Status::decode(b"7 12 16\0").is_err());
    assert!(Status::decode(b"7 -12 16 99\0").is_err());
    let listing = Entry::decode_all(b".\n0 0 0 0\na b\n7 12 16 99\nc\n7 12 16 99\0").unwrap();
    assert_eq!(
        listing[0],
        Entry {
            name: "a b".into(),
            status: Some(status)
        }
    );
    assert_eq!(listing.len(), 2);
    let names: Vec<_> = Entry::decode_all(b"a\nb\0")
        .unwrap()
        .into_iter()
        .map(|e| e.name)
        .collect();
    assert_eq!(names, ["a", "b"]);
    let places = Location::decode_all(b"Sr[::1]:1094 mwh:1\0").unwrap();
    assert_eq!(
        (places[0].server.as_str(), places[0].is_pending),
        ("[::1]:1094", false)
    );
    assert!(places[1].is_manager && places[1].is_pending);
    assert_eq!(
        values(b"1024\nb\n", &["a", "b", "c"]),
        [Some("1024".into()), None, None]
    );
    assert_eq!(
        Opened::decode(&[1, 2, 3, 4]),
        Ok(Opened {
            handle: [1, 2, 3, 4],
            status: None
        })
    );
    let mut opened = vec![1, 2, 3, 4, 0, 0, 0, 0, 0, 0, 0, 0];
    opened.extend(b"7 12 16 99\0");
    assert_eq!(Opened::decode(&opened).unwrap().status, Some(status));
    opened[7] = 1;
    assert!(Opened::decode(&opened).is_err());
}

#[test]
fn segments_must_be_those_asked_for() {
    let asked = [([1; 4], 2, 7), ([1; 4], 0, 9)];
    let mut body = vec![1, 1, 1, 1, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 7, b'x', b'y'];
    body.extend([1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 9]);
    assert_eq!(segments(&body, &asked), Ok(vec![&b"xy"[..], &[]]));
    assert!((0..body.len()).all(|cut| segments(&body[..cut], &asked).is_err()));
    for place in 0..16 {
        let mut other = body.clone();
        other[place] ^= 1;
        assert!(segments(&other, &asked).is_err());
    }
    body.push(0);
    assert!(segments(&body, &asked).is_err());
}
