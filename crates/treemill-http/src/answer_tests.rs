#![allow(
    clippy::unwrap_used,
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing
)]

use super::*;
use proptest::prelude::*;

fn headers(pairs: &[(&str, &str)]) -> HeaderMap {
    let pair = |(name, value): &(&str, &str)| {
        (name.parse::<HeaderName>().unwrap(), value.parse().unwrap())
    };
    pairs.iter().map(pair).collect()
}

fn judged(status: u16, pairs: &[(&str, &str)], known: Option<u64>) -> Result<Accepted, Trouble> {
    let known = known.map(|size| Known {
        size,
        version: Version::of(&headers(&[("etag", "\"1\"")])),
        is_its: true,
    });
    judge(
        StatusCode::from_u16(status).unwrap(),
        &headers(pairs),
        &(10..20),
        known.as_ref(),
        1 << 24,
        "s",
    )
}

#[test]
fn ranges_are_taken_as_asked() {
    let tag = ("etag", "\"1\"");
    let whole = judged(206, &[("content-range", "bytes 10-19/100"), tag], Some(100)).unwrap();
    assert_eq!(
        (whole.start, whole.size, whole.is_whole),
        (10, Some(100), false)
    );
    assert!(
        judged(206, &[("content-range", "bytes 10-12/100"), tag], Some(100)).is_ok(),
        "the rest is asked for"
    );
    for (pairs, words) in [
        (vec![tag], "does not say"),
        (
            vec![("content-range", "bytes 11-19/100"), tag],
            "instead of 10..20",
        ),
        (
            vec![("content-range", "bytes 10-20/100"), tag],
            "instead of 10..20",
        ),
        (vec![("content-range", "bytes 10-19/101"), tag], "changed"),
        (
            vec![("content-range", "bytes 10-19/100"), ("etag", "\"2\"")],
            "changed",
        ),
        (vec![("content-range", "bytes 10-19/100")], "changed"),
        (
            vec![
                ("content-range", "bytes 10-19/100"),
                ("content-encoding", "gzip"),
                tag,
            ],
            "compressed",
        ),
    ] {
        let trouble = judged(206, &pairs, Some(100)).unwrap_err();
        assert!(trouble.what.contains(words), "{}", trouble.what);
        let kind = match words {
            "changed" => Kind::Changed,
            _ => Kind::Permanent,
        };
        assert_eq!(trouble.kind, kind, "{words}");
    }
}

#[test]
fn a_server_without_ranges_serves_small_files_only() {
    let tag = ("etag", "\"1\"");
    let small = judged(200, &[("content-length", "100"), tag], Some(100)).unwrap();
    assert!(small.is_whole && small.start == 0);
    assert!(judged(200, &[("content-length", "100")], None).is_ok());
    for known in [None, Some(1 << 30)] {
        let trouble = judged(200, &[("content-length", "1073741824"), tag], known).unwrap_err();
        assert!(
            trouble.what.contains("does not send parts of a file"),
            "{}",
            trouble.what
        );
    }
}

#[test]
fn statuses_say_whether_to_try_again() {
    for (status, kind) in [
        (404, Kind::Missing),
        (410, Kind::Missing),
        (500, Kind::Transient),
        (503, Kind::Busy),
        (429, Kind::Busy),
        (501, Kind::Permanent),
        (401, Kind::Denied),
        (403, Kind::Denied),
        (412, Kind::Changed),
        (416, Kind::Changed),
        (204, Kind::Permanent),
    ] {
        assert_eq!(
            judged(status, &[], Some(100)).unwrap_err().kind,
            kind,
            "{status}"
        );
    }
    let busy = judged(503, &[("retry-after", "3")], Some(100)).unwrap_err();
    assert_eq!(busy.after, Some(Duration::from_secs(3)));
    assert!(
        judged(412, &[], Some(100))
            .unwrap_err()
            .what
            .contains("changed")
    );
}

#[test]
fn what_is_announced_beyond_the_end_is_noticed() {
    let told = [("content-range", "bytes 10-19/15"), ("etag", "\"1\"")];
    let opened = judged(206, &told, None).unwrap();
    assert_eq!((opened.size, opened.is_beyond), (Some(15), true));
    assert!(judged(206, &told, Some(15)).is_err());
}

#[test]
fn an_empty_file_can_be_opened() {
    let empty = judged(416, &[("content-range", "bytes */0")], None).unwrap();
    assert_eq!(empty.size, Some(0));
    assert!(judged(416, &[("content-range", "bytes */9")], None).is_err());
}

#[test]
fn another_server_has_a_tag_of_its_own_and_the_same_size() {
    let opened = [("etag", "\"1\""), ("date", "Mon, 23 Nov 2026 10:00:00 GMT")];
    let known = Known {
        size: 100,
        version: Version::of(&headers(&opened)),
        is_its: false,
    };
    let judged = |pairs: &[(&str, &str)]| {
        let status = StatusCode::PARTIAL_CONTENT;
        judge(
            status,
            &headers(pairs),
            &(10..20),
            Some(&known),
            1 << 24,
            "s",
        )
    };
    let (told, tag) = (("content-range", "bytes 10-19/100"), ("etag", "\"2\""));
    assert!(judged(&[told]).is_ok());
    assert!(
        judged(&[
            told,
            tag,
            ("last-modified", "Sun, 22 Nov 2026 10:00:00 GMT")
        ])
        .is_ok()
    );
    for (pairs, words) in [
        (vec![("content-range", "bytes 10-19/101"), tag], "changed"),
        (vec![("content-range", "bytes 10-19/*"), tag], "how long"),
        (
            vec![told, ("last-modified", "Mon, 23 Nov 2026 10:00:05 GMT")],
            "changed",
        ),
    ] {
        let trouble = judged(&pairs).unwrap_err();
        assert!(trouble.what.contains(words), "{}", trouble.what);
    }
}

proptest! {
    #[test]
    fn no_text_panics(text in ".{0,40}") {
        let _ = ContentRange::parse(&text);
    }

    #[test]
    fn what_is_written_is_read(first in 0..u64::MAX / 4, length in 1..u64::MAX / 4, more in 0..u64::MAX / 4) {
        let (end, size) = (first + length, first + length + more);
        let read = ContentRange::parse(&format!("bytes {first}-{}/{size}", end - 1)).unwrap();
        prop_assert_eq!(read, ContentRange { range: Some(first..end), size: Some(size) });
    }

    #[test]
    fn an_answer_never_lies_outside_what_was_asked(first in 0..40_u64, length in 1..40_u64, status in 100..600_u16) {
        let value = format!("bytes {first}-{}/100", first + length - 1);
        let pairs = [("content-range", value.as_str()), ("etag", "\"1\""), ("content-length", "100")];
        if let Ok(accepted) = judged(status, &pairs, Some(100)) {
            prop_assert!(accepted.is_whole || (first == 10 && length <= 10));
        }
    }
}
