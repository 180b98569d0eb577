//! Servers that fail: the right bytes, or an error that names server and file, within 30 s, without a credential.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::single_range_in_vec_init
)]

mod common;

use common::bytes;
use common::scripted::{Act, Scripted, Seen, part, sound};
use std::sync::Arc;
use std::time::{Duration, Instant};
use treemill_http::open;
use treemill_source::{Source, SourceError, servers};

const SIZE: usize = 3_000_000;
const SECRET: &str = "/f.root?authz=secret";

/// Opens a file of a server that is sound for the first request, and reads its second half.
fn half(
    content: &Arc<Vec<u8>>,
    act: impl Fn(&Seen, &[u8]) -> Act + Send + Sync + 'static,
) -> (Scripted, Result<(), SourceError>) {
    let held = Arc::clone(content);
    let server = Scripted::start(move |request| match request.before {
        0 => sound(request, &held),
        _ => act(request, &held),
    });
    let source = open(&server.url(SECRET)).unwrap();
    let begun = Instant::now();
    let middle = SIZE / 2;
    let got = source.submit(vec![middle as u64..SIZE as u64])[0].wait();
    assert!(
        begun.elapsed() < Duration::from_secs(30),
        "{:?}",
        begun.elapsed()
    );
    let got = got.map(|bytes| assert!(bytes == content[middle..], "wrong bytes"));
    if let Err(error) = &got {
        named(error, &server);
        assert_eq!(error.range, Some(middle as u64..SIZE as u64));
    }
    (server, got)
}

fn named(error: &SourceError, server: &Scripted) {
    assert_eq!(error.name, server.url("/f.root"));
    let text = format!("{error} {error:?}");
    assert!(!text.contains("secret"), "{text}");
}

fn content() -> Arc<Vec<u8>> {
    Arc::new(bytes(SIZE))
}

/// What a sound server says, cut after `most` bytes.
fn cut(request: &Seen, content: &[u8], most: usize) -> (String, Vec<u8>) {
    let range = request.range();
    let body = content[range.clone()].iter().take(most).copied().collect();
    (part(&range, content.len()), body)
}

#[test]
fn answers_that_end_early_are_continued() {
    let (server, got) = half(&content(), |request, content| {
        let (head, body) = cut(request, content, 200_000);
        Act::SayAndClose(head, body)
    });
    got.unwrap();
    let mut ranges: Vec<_> = server.seen().iter().skip(1).map(Seen::range).collect();
    assert!(ranges.len() >= 8, "{ranges:?}");
    // Each part, known by its end, goes on behind what it has: no byte is asked for twice in a row.
    ranges.sort_by_key(|range| range.end);
    for part in ranges.chunk_by(|one, other| one.end == other.end) {
        assert!(
            part.is_sorted_by(|one, other| one.start < other.start),
            "{part:?}"
        );
    }
}

#[test]
fn connections_that_break_are_made_again() {
    let (server, got) = half(&content(), |request, content| match request.attempts {
        0 => Act::Close,
        1 => Act::Say(
            "503 Service Unavailable\r\nContent-Length: 0".into(),
            vec![],
        ),
        _ => sound(request, content),
    });
    got.unwrap();
    assert!(server.seen().iter().any(|seen| seen.attempts == 2));
}

/// Two workers read ten files through a firewall that allows few connections, and resets the others.
#[test]
fn a_server_that_takes_few_connections_is_read_over_those() {
    for most in [1, 4] {
        let content = content();
        let held = Arc::clone(&content);
        let server = Scripted::limited(most, move |request| sound(request, &held));
        let work = |first: usize| {
            for file in (first..10).step_by(2) {
                let source = open(&server.url(&format!("/{file}.root"))).unwrap();
                let ranges = (1..60).map(|i| 49_900 * i..49_900 * i + 5_000);
                let ranges: Vec<_> = ranges.chain([2_950_000..SIZE]).collect();
                let asked = ranges
                    .iter()
                    .map(|range| range.start as u64..range.end as u64);
                for (range, ticket) in ranges.iter().zip(source.submit(asked.collect())) {
                    assert!(ticket.wait().unwrap() == content[range.clone()]);
                }
            }
        };
        std::thread::scope(|scope| {
            scope.spawn(|| work(0));
            scope.spawn(|| work(1));
        });
        let (asked, refused) = (server.seen().len(), server.refused());
        assert!(refused < asked, "{refused} of {asked} by {most}");
    }
}

/// What brings much that nobody wants any more is ended at once; what is wanted comes.
#[test]
fn connections_that_bring_what_is_not_wanted_are_closed() {
    let content = content();
    let held = Arc::clone(&content);
    let server = Scripted::start(move |request| match request.range() {
        range if range.start < 1_000_000 && request.before > 0 => {
            Act::SayAndHang(part(&range, SIZE), held[range.start..][..1000].to_vec())
        }
        _ => sound(request, &held),
    });
    let source = open(&server.url("/f.root")).unwrap();
    let left = source.submit(vec![10_000..1_000_000, 500_000..700_000]);
    let kept = source.submit(vec![900_000..SIZE as u64]);
    while server.seen().len() < 4 {
        std::thread::yield_now();
    }
    source.abandon(&[10_000..1_000_000]);
    for ticket in left {
        assert!(ticket.wait().is_err());
    }
    // That of the range that is wanted, and perhaps the one that opened the file.
    while server.open() > 2 {
        std::thread::yield_now();
    }
    assert!(!kept[0].is_ready());
    let more = source.submit(vec![1_000_000..SIZE as u64]);
    assert!(more[0].wait().unwrap() == content[1_000_000..]);
}

#[test]
fn a_server_that_is_gone_is_given_up() {
    let (_, got) = half(&content(), |_, _| Act::Close);
    let error = got.unwrap_err();
    assert!(error.is_transient(), "{error:?}");
}

#[test]
fn a_server_that_hangs_is_given_up_for_all_that_wait() {
    let content = content();
    let held = Arc::clone(&content);
    let server = Scripted::start(move |request| match request.before {
        0 => sound(request, &held),
        n if n % 2 == 0 => Act::Hang,
        _ => Act::SayAndHang(part(&request.range(), SIZE), vec![]),
    });
    let source = open(&server.url(SECRET)).unwrap();
    let begun = Instant::now();
    let ranges = (0..200).map(|i| 10_000 * i + 9_000..10_000 * i + 9_100);
    for ticket in source.submit(ranges.collect()) {
        let error = ticket.wait().unwrap_err();
        named(&error, &server);
        assert!(
            error.is_transient() && error.what.contains("has sent nothing for 10 s"),
            "{error}"
        );
    }
    assert!(
        begun.elapsed() < Duration::from_secs(30),
        "{:?}",
        begun.elapsed()
    );
}

#[test]
fn a_hung_server_is_given_up_when_a_file_is_opened() {
    let server = Scripted::start(|_| Act::Hang);
    let begun = Instant::now();
    let error = open(&server.url(SECRET)).unwrap_err();
    named(&error, &server);
    assert!(begun.elapsed() < Duration::from_secs(30));
}

#[test]
fn wrong_answers_are_errors() {
    type Wrong = (fn(&Seen, &[u8]) -> Act, &'static str);
    let wrong: [Wrong; 7] = [
        (
            |_, _| Act::Say("206 Partial Content\r\nContent-Length: 0".into(), vec![]),
            "which range",
        ),
        (
            |_, content| Act::Say(part(&(0..10), SIZE), content[..10].to_vec()),
            "instead of",
        ),
        (
            |request, content| sound(request, &content[..SIZE - 1]),
            "changed",
        ),
        (
            |_, _| {
                Act::Say(
                    "412 Precondition Failed\r\nContent-Length: 0".into(),
                    vec![],
                )
            },
            "changed",
        ),
        (
            |_, _| {
                Act::Say(
                    "416 Range Not Satisfiable\r\nContent-Length: 0".into(),
                    vec![],
                )
            },
            "changed",
        ),
        (|_, _| Act::Say("204 No Content".into(), vec![]), "204"),
        (
            |request, content| match sound(request, content) {
                Act::Say(head, body) => Act::Say(head.replace("\"one\"", "\"two\""), body),
                act => act,
            },
            "changed",
        ),
    ];
    for (act, words) in wrong {
        let (_, got) = half(&content(), act);
        let error = got.unwrap_err();
        assert!(error.what.contains(words), "{error} has no '{words}'");
        assert!(!error.is_transient(), "{error}");
    }
}

#[test]
fn a_server_that_forgets_ranges_serves_small_files() {
    let whole = |content: &[u8]| {
        let head = format!(
            "200 OK\r\nETag: \"one\"\r\nContent-Length: {}",
            content.len()
        );
        Act::Say(head, content.to_vec())
    };
    let (_, got) = half(&content(), move |_, content| whole(content));
    got.unwrap();

    let small = bytes(100_000);
    let held = small.clone();
    let server = Scripted::start(move |_| whole(&held));
    let source = open(&server.url(SECRET)).unwrap();
    assert_eq!(
        source.submit(vec![90_000..100_000])[0].wait().unwrap(),
        &small[90_000..]
    );
    assert_eq!(server.seen().len(), 1, "the whole file is here");

    let server = Scripted::start(|_| {
        Act::SayAndClose(
            "200 OK\r\nContent-Length: 99999999999".into(),
            vec![0; 1000],
        )
    });
    let error = open(&server.url(SECRET)).unwrap_err();
    named(&error, &server);
    assert!(
        error.what.contains("does not send parts of a file"),
        "{error}"
    );

    let server = Scripted::start(|_| Act::SayAndClose("200 OK".into(), vec![0; (16 << 20) + 1]));
    let error = open(&server.url(SECRET)).unwrap_err();
    assert!(error.what.contains("more than"), "{error}");
}

#[test]
fn a_file_that_is_lost_behind_a_redirect_may_be_elsewhere() {
    let door = Scripted::start(move |request| match request.path.starts_with("/gone") {
        true => Act::Say("404 Not Found\r\nContent-Length: 0".into(), vec![]),
        false => {
            let port = request.header("host").unwrap().split(':').nth(1).unwrap();
            Act::Say(
                format!(
                    "302 Found\r\nLocation: http://localhost:{port}/gone?key=secret\r\nContent-Length: 0"
                ),
                vec![],
            )
        }
    });
    let error = open(&door.url(SECRET)).unwrap_err();
    named(&error, &door);
    assert!(error.is_transient() && !error.is_missing(), "{error:?}");
    assert!(
        error.what.contains("localhost") && error.what.contains("redirects"),
        "{error}"
    );
}

#[test]
fn a_data_server_that_hangs_is_left_for_another_one() {
    let content = content();
    let (first, second) = (Arc::clone(&content), Arc::clone(&content));
    let hanging = Scripted::start(move |request| match request.before {
        0 => sound(request, &first),
        1 => Act::SayAndHang(part(&request.range(), SIZE), vec![]),
        _ => Act::Hang,
    });
    let good = Scripted::start(move |request| sound(request, &second));
    let (hanging, good) = (hanging.url("/f"), good.url("/f"));
    let door = Scripted::start(move |request| {
        let there = if request.before == 0 { &hanging } else { &good };
        Act::Say(
            format!("302 Found\r\nLocation: {there}\r\nContent-Length: 0"),
            vec![],
        )
    });
    let source = open(&door.url(SECRET)).unwrap();
    let got = source.submit(vec![100_000..2_000_000, 2_000_000..SIZE as u64]);
    assert!(got[0].wait().unwrap() == content[100_000..2_000_000]);
    assert!(got[1].wait().unwrap() == content[2_000_000..]);
}

/// A server of the bytes that knows them by a tag and a time of its own, and refuses requests by another tag. After the
/// file was opened, it has lost the bytes from `lost` on.
fn tagged(content: &[u8], tag: &'static str, time: &'static str, lost: usize) -> Scripted {
    let held = content.to_vec();
    Scripted::start(move |request| {
        let says = |status: &str| Act::Say(format!("{status}\r\nContent-Length: 0"), vec![]);
        if request.header("if-match").is_some() && request.range().start >= lost {
            return says("404 Not Found");
        }
        if request.header("if-match").is_some_and(|asked| asked != tag) {
            return says("412 Precondition Failed");
        }
        let range = request.range();
        let range = range.start..range.end.min(held.len());
        let text = part(&range, held.len()).replace("\"one\"", tag);
        let times = "Date: Mon, 23 Nov 2026 10:00:00 GMT\r\nLast-Modified";
        Act::Say(format!("{text}\r\n{times}: {time}"), held[range].to_vec())
    })
}

/// A server that redirects its first request to one, and the others to the next one.
fn redirecting(pools: [&Scripted; 2]) -> Scripted {
    let there = pools.map(|pool| pool.url("/f"));
    Scripted::start(move |request| {
        let there = &there[request.before.min(1)];
        Act::Say(
            format!("302 Found\r\nLocation: {there}\r\nContent-Length: 0"),
            vec![],
        )
    })
}

const BEFORE: &str = "Sun, 15 Nov 2026 10:00:00 GMT";
const LATER: &str = "Sun, 22 Nov 2026 10:00:00 GMT";
const SINCE: &str = "Mon, 23 Nov 2026 10:00:01 GMT";

#[test]
fn servers_behind_a_redirect_have_tags_and_times_of_their_own() {
    let content = content();
    for time in [BEFORE, LATER] {
        let first = tagged(&content, "\"1\"", BEFORE, 1_500_000);
        let second = tagged(&content, "\"2\"", time, usize::MAX);
        let door = redirecting([&first, &second]);
        let source = open(&door.url("/f.root")).unwrap();
        assert!(source.info().may_move);
        for range in [1_000_000..1_100_000, 1_500_000..1_600_000, 2_900_000..SIZE] {
            let asked = vec![range.start as u64..range.end as u64];
            assert!(source.submit(asked)[0].wait().unwrap() == content[range]);
        }
        let tags = |server: &Scripted| -> Vec<Option<String>> {
            let seen = server.seen();
            let tag = |seen: &Seen| seen.header("if-match").map(str::to_owned);
            seen.iter().map(tag).collect()
        };
        // A range may come in several parts, and each part may meet the second server first.
        let told = |server, tag: &str| {
            let seen = tags(server);
            let (strange, known): (Vec<_>, Vec<_>) = seen.into_iter().partition(Option::is_none);
            assert!(!strange.is_empty() && !known.is_empty());
            assert!(
                known.iter().all(|known| known.as_deref() == Some(tag)),
                "{known:?}"
            );
        };
        told(&first, "\"1\"");
        told(&second, "\"2\"");
        assert!(tags(&door).iter().all(Option::is_none));
    }
}

#[test]
fn another_file_behind_a_redirect_is_refused() {
    let content = content();
    for (size, time) in [(SIZE - 1, BEFORE), (SIZE, SINCE)] {
        let first = tagged(&content, "\"1\"", BEFORE, 0);
        let second = tagged(&content[..size], "\"2\"", time, usize::MAX);
        let door = redirecting([&first, &second]);
        let source = open(&door.url(SECRET)).unwrap();
        let error = source.submit(vec![200_000..300_000])[0].wait().unwrap_err();
        named(&error, &door);
        assert!(error.what.contains("changed"), "{error}");
    }
}

#[test]
fn credentials_do_not_follow_redirects() {
    let held = bytes(100);
    let pool = Arc::new(Scripted::start(move |request| sound(request, &held[..])));
    let there = pool.url("/f");
    let door = Scripted::start(move |_| {
        Act::Say(
            format!("307 Temporary Redirect\r\nLocation: {there}\r\nContent-Length: 0"),
            vec![],
        )
    });
    let url = door.url("/f").replace("http://", "http://me:secret@");
    // A range beyond the end is answered with what there is.
    open(&url).unwrap();
    assert!(door.seen()[0].header("authorization").is_some());
    assert!(pool.seen()[0].header("authorization").is_none());
}

#[test]
fn redirects_in_a_circle_end() {
    let server = Scripted::start(|_| {
        Act::Say(
            "302 Found\r\nLocation: /again\r\nContent-Length: 0".into(),
            vec![],
        )
    });
    let error = open(&server.url(SECRET)).unwrap_err();
    named(&error, &server);
    assert!(error.what.contains("circle"), "{error}");
}

/// RFC 6761: no name ends in `invalid`. Where there is no name server the look-up may fail for now.
#[test]
fn a_name_that_does_not_exist_is_asked_for_twice_at_most() {
    let name = "treemill-has-no-such-host.invalid";
    let look_up = std::net::ToSocketAddrs::to_socket_addrs(&(name, 80));
    let is_certain = look_up.is_err_and(|error| error.to_string().contains("not known"));
    let server = format!("http://{name}");
    let error = open(&format!("{server}/f.root")).unwrap_err();
    assert!(error.to_string().contains(name), "{error}");
    let asked = servers()[server.as_str()].messages;
    assert!(asked <= 2 || !is_certain, "asked {asked} times");
}

#[test]
fn no_server_at_all() {
    let error = open("http://me:secret@127.0.0.1:1/f?token=secret").unwrap_err();
    assert!(
        error.is_transient() && !error.to_string().contains("secret"),
        "{error}"
    );
    assert!(error.to_string().contains("127.0.0.1:1"), "{error}");
}
