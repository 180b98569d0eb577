//! Pages with checksums, in any pieces, and what servers may do wrong with them.

use super::*;
use crc_fast::crc32_iscsi;
use std::ops::Range;

const PAGE: u64 = codes::PAGE;

fn byte(at: u64) -> u8 {
    (at.wrapping_mul(0x9e37_79b9) >> 13) as u8
}

fn file(range: Range<u64>) -> Vec<u8> {
    range.map(byte).collect()
}

/// A stream on which one request for these pages is in flight, as stream 1.
fn asking(range: &Range<u64>) -> Stream {
    let mut stream = Stream::new(DEADLINES);
    let length = (range.end - range.start) as u32;
    let request = Request::Pages {
        handle: [0; 4],
        offset: range.start,
        length,
        again: false,
    };
    stream.send(&request, length as usize, at(0)).unwrap();
    stream
}

/// The pages of a range, each with the checksum of the file's bytes; and where in it each page begins.
fn units(range: Range<u64>) -> Vec<(Range<u64>, Vec<u8>)> {
    let mut units = Vec::new();
    let mut start = range.start;
    while start < range.end {
        let end = ((start / PAGE + 1) * PAGE).min(range.end);
        let mut unit = crc32_iscsi(&file(start..end)).to_be_bytes().to_vec();
        unit.extend(file(start..end));
        units.push((start..end, unit));
        start = end;
    }
    units
}

fn announced(is_last: bool, offset: u64, bytes: &[u8]) -> Vec<u8> {
    let length = bytes.len() as u32;
    let paged = Paged {
        stream: 1,
        is_last,
        length,
        offset,
    };
    [response(1, codes::STATUS, &paged.encode()), bytes.to_vec()].concat()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// Responses of any numbers of pages, bytes in any pieces, and pages of which one bit is wrong: those are named, and
    /// no others.
    #[test]
    fn pages_are_the_files_bytes_or_named(
        start in 0..3 * PAGE,
        length in 1..9 * PAGE,
        short in prop_oneof![3 => Just(0_u64), 1 => 0..3 * PAGE],
        cuts in prop::collection::vec(1_usize..4, 1..9),
        pieces in prop::collection::vec(1_usize..6000, 1..20),
        wrong in prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>()), 0..4),
    ) {
        let range = start..start + length;
        let end = (start + length).saturating_sub(short).max(start);
        let mut units = units(start..end);
        let mut damaged = std::collections::BTreeMap::new();
        for (which, bit) in wrong {
            if units.is_empty() { break }
            let index = which.index(units.len());
            let (page, unit) = &mut units[index];
            let bit = bit.index(unit.len() * 8);
            if damaged.insert(page.start, page.end).is_none() {
                unit[bit / 8] ^= 1 << (bit % 8);
            }
        }
        let (mut bytes, mut cuts, mut rest) = (Vec::new(), cuts.iter().cycle(), &units[..]);
        while !rest.is_empty() {
            let (some, after) = rest.split_at((*cuts.next().unwrap()).min(rest.len()));
            let body: Vec<u8> = some.iter().flat_map(|(_, unit)| unit.clone()).collect();
            bytes.extend(announced(false, some[0].0.start, &body));
            rest = after;
        }
        bytes.extend(announced(true, end, &[]));
        let (mut stream, mut events) = (asking(&range), Vec::new());
        let (mut rest, mut pieces) = (&bytes[..], pieces.iter().cycle());
        while !rest.is_empty() {
            let (piece, after) = rest.split_at((*pieces.next().unwrap()).min(rest.len()));
            events.extend(stream.taken(piece, at(1)).unwrap());
            rest = after;
        }
        let [Event::Done { stream: 1, outcome: Outcome::Pages { data, damaged: found } }] = &events[..] else {
            panic!("{events:?}");
        };
        let expected: Vec<Range<u64>> = damaged.into_iter().map(|(start, end)| start..end).collect();
        prop_assert_eq!(found, &expected);
        prop_assert_eq!(data.len() as u64, end - start);
        for (place, (&byte, right)) in data.iter().zip(file(start..end)).enumerate() {
            let is_named = expected.iter().any(|range| range.contains(&(start + place as u64)));
            prop_assert!(byte == right || is_named);
        }
        prop_assert_eq!(stream.in_flight(), 0);
    }

    /// Whatever follows an announcement, no more data than was asked for is kept, and nothing panics.
    #[test]
    fn any_pages_are_taken_or_refused(
        start in 0..2 * PAGE,
        length in 1_u64..2 * PAGE,
        claims in prop::collection::vec((any::<bool>(), 0_u32..20_000, 0_u64..5 * PAGE), 1..4),
        bytes in prop::collection::vec(any::<u8>(), 0..20_000),
    ) {
        let mut stream = asking(&(start..start + length));
        let mut rest = &bytes[..];
        for (is_last, size, offset) in claims {
            let offset = if offset % 3 == 0 { start } else { offset };
            let (body, after) = rest.split_at((size as usize).min(rest.len()));
            rest = after;
            let paged = Paged { stream: 1, is_last, length: size, offset };
            let whole = [response(1, codes::STATUS, &paged.encode()), body.to_vec()].concat();
            match stream.taken(&whole, at(1)) {
                Err(_) => break,
                Ok(events) => for event in events {
                    if let Event::Done { outcome: Outcome::Pages { data, .. }, .. } = event {
                        prop_assert!(data.len() as u64 <= length);
                    }
                }
            }
        }
    }
}

#[test]
fn what_is_no_answer_to_the_request_ends_the_connection() {
    let range = 100..5000;
    let page = |range: Range<u64>| units(range).remove(0).1;
    let refused = [
        announced(true, 101, &page(101..200)),      // another place
        announced(true, 100, &page(100..200)[..3]), // within a checksum
        announced(true, 100, &page(100..200)[..4]), // a checksum of nothing
        response(1, codes::OK, b"data without checksums"),
        response(1, codes::STATUS, &[0; 24]),
        promised(1, codes::STATUS, &[0; 24]),
    ];
    for bytes in refused {
        assert!(asking(&range).taken(&bytes, at(0)).is_err(), "{bytes:?}");
    }
    let all: Vec<u8> = units(100..5001)
        .into_iter()
        .flat_map(|unit| unit.1)
        .collect();
    let more = announced(true, 100, &all);
    assert!(asking(&range).taken(&more, at(0)).is_err());
    let unasked = announced(true, 0, &page(0..8));
    assert!(reading(1).taken(&unasked, at(0)).is_err());
}

#[test]
fn a_request_that_is_sent_again_begins_anew() {
    let mut stream = asking(&(0..100));
    let half = announced(false, 0, &units(0..50).remove(0).1);
    assert_eq!(stream.taken(&half, at(0)).unwrap(), []);
    let wait = response(1, codes::WAIT, &1_u32.to_be_bytes());
    assert_eq!(stream.taken(&wait, at(0)).unwrap(), []);
    assert_eq!(stream.tick(at(2)).len(), 1);
    let whole = announced(true, 0, &units(0..100).remove(0).1);
    let (data, damaged) = (file(0..100)[..].into(), vec![]);
    let expected = done(1, Outcome::Pages { data, damaged });
    assert_eq!(stream.taken(&whole, at(2)).unwrap(), [expected]);
}

#[test]
fn pages_of_a_request_that_was_given_up_are_passed_over() {
    let mut stream = asking(&(0..100));
    stream.send(&Request::Ping, 0, at(0)).unwrap();
    let half = announced(false, 0, &units(0..50).remove(0).1);
    stream.taken(&half, at(0)).unwrap();
    stream.taken(&response(2, codes::OK, b""), at(59)).unwrap();
    let given_up = done(1, Outcome::Neglected);
    assert_eq!(stream.tick(at(61)), [given_up]);
    let rest = announced(true, 50, &units(50..100).remove(0).1);
    assert_eq!(stream.taken(&rest, at(62)).unwrap(), []);
    assert!(stream.taken(&rest, at(62)).is_err(), "its stream is free");
}
