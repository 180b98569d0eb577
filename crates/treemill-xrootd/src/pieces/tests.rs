//! Ranges of any sizes through pieces, requests and answers, which come in any order.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    clippy::single_range_in_vec_init
)]

use super::*;
use proptest::prelude::*;

fn fill<P>(wants: &mut Wants<P>, piece: &Piece, bytes: Bytes) -> Option<(P, Bytes)> {
    wants.fill(piece.want, piece.offset, bytes.into())
}

fn byte(at: u64) -> u8 {
    (at % 251) as u8
}

fn bytes(range: Range<u64>) -> Vec<u8> {
    range.map(byte).collect()
}

fn answer(asked: &Asked) -> BytesMut {
    let vector = |pieces: &Vec<Piece>| {
        let segment = |piece: &Piece| {
            let mut segment = b"hand".to_vec();
            segment.extend(piece.length.to_be_bytes());
            segment.extend(piece.offset.to_be_bytes());
            segment.extend(bytes(piece.range()));
            segment
        };
        pieces.iter().flat_map(segment).collect()
    };
    let answer: Vec<u8> = match asked {
        Asked::Plain(piece) | Asked::Pages(piece) => bytes(piece.range()),
        Asked::Vector(pieces) => vector(pieces),
    };
    answer[..].into()
}

fn ranges() -> impl Strategy<Value = Vec<Range<u64>>> {
    let length = prop_oneof![
        20 => 1_u64..2000,
        1 => limits::LARGE - 1..limits::LARGE + 2,
        1 => limits::PART - 1..2 * limits::PART + 2,
    ];
    let one = (0_u64..1 << 40, length).prop_map(|(start, length)| start..start + length);
    prop::collection::vec(one, 0..40)
}

fn means() -> impl Strategy<Value = Means> {
    (1_usize..20, 500_u32..3000, any::<bool>()).prop_map(|(ranges, bytes, has_pages)| Means {
        most: Most { ranges, bytes },
        has_pages,
        checks: has_pages,
    })
}

fn request_bytes(pieces: &[Piece]) -> u64 {
    pieces.iter().map(|piece| u64::from(piece.length)).sum()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn every_range_comes_back_whole_and_once(
        ranges in ranges(),
        means in means(),
        caution in 0_u32..9,
        order in any::<prop::sample::Index>(),
    ) {
        let mut wants = Wants::default();
        let pieces: Vec<Piece> = ranges.iter().enumerate().flat_map(|(i, range)| cut(&mut wants, range, i, Duration::ZERO)).collect();
        let mut requests = pack(pieces, means, caution);
        for asked in &requests {
            prop_assert!(!means.has_pages || !matches!(asked, Asked::Plain(_)));
            if let Asked::Plain(piece) | Asked::Pages(piece) = asked
                && piece.manner == Manner::Alone
            {
                prop_assert!(u64::from(piece.length) <= limits::PART >> (2 * caution).min(10));
            }
            if let Asked::Vector(pieces) = asked {
                prop_assert!(pieces.len() <= means.most.ranges && pieces.len() > 1);
                prop_assert!(pieces.iter().all(|piece| piece.length <= means.most.bytes));
                prop_assert!(request_bytes(pieces) <= limits::VECTOR_BYTES >> (2 * caution).min(10));
            }
        }
        if !requests.is_empty() {
            let first = order.index(requests.len());
            requests.rotate_left(first);
        }
        let mut found = vec![None; ranges.len()];
        for asked in &requests {
            for (piece, data) in unpack(asked, answer(asked)).unwrap() {
                let data = Bytes::from(data);
                // What comes twice, since it was asked for twice, counts once.
                if found.len() % 2 == 0 && wants.missing(piece.want) > data.len() as u64 {
                    prop_assert!(fill(&mut wants, piece, data.clone()).is_none());
                }
                if let Some((which, whole)) = fill(&mut wants, piece, data) {
                    prop_assert!(found[which].replace(whole).is_none());
                }
            }
        }
        for (range, whole) in ranges.iter().zip(found) {
            prop_assert!(whole.unwrap() == bytes(range.clone()));
        }
        prop_assert!(wants.is_empty());
    }

    #[test]
    fn answers_that_are_not_to_the_request_are_refused(
        ranges in ranges().prop_filter("a request", |ranges| ranges.len() > 1),
        short in any::<prop::sample::Index>(),
        garbage in prop::collection::vec(any::<u8>(), 0..300),
    ) {
        let mut wants = Wants::default();
        let pieces: Vec<Piece> = ranges.iter().flat_map(|range| cut(&mut wants, range, (), Duration::ZERO)).collect();
        for asked in pack(pieces, Means::default(), 0) {
            let whole = answer(&asked);
            prop_assert!(unpack(&asked, whole[..short.index(whole.len())].into()).is_err());
            let longer = [&whole[..], b"x"].concat();
            prop_assert!(unpack(&asked, longer[..].into()).is_err());
            if garbage.len() != whole.len() {
                prop_assert!(unpack(&asked, garbage[..].into()).is_err());
            }
        }
    }
}

#[test]
fn small_ranges_are_one_request_and_large_ones_stream() {
    let mut wants = Wants::default();
    let small = (0..500_u64).map(|i| i * 5000..i * 5000 + 100);
    let pieces = small
        .chain(std::iter::once(0..10 << 20))
        .flat_map(|range| cut(&mut wants, &range, (), Duration::ZERO));
    let requests = pack(pieces.collect(), Means::default(), 0);
    assert!(matches!(&requests[0], Asked::Vector(pieces) if pieces.len() == 500));
    assert_eq!(requests.len(), 1 + (10 << 20) / limits::PART as usize);
}

/// Whatever the size of the requests: the bytes lie where the first one's were written.
#[test]
fn a_large_range_is_put_together_without_a_copy() {
    for caution in [0, 2] {
        let (mut wants, range) = (Wants::default(), 7..7 + (5 << 20));
        let pieces = cut(&mut wants, &range, (), Duration::ZERO);
        let (mut first, mut whole) = (None, None);
        for asked in pack(pieces, Means::default(), caution) {
            let (asked, mut room) = furnished(&mut wants, asked);
            first.get_or_insert(room.as_ptr());
            room.extend_from_slice(&answer(&asked));
            for (piece, data) in unpack(&asked, room).unwrap() {
                whole = wants.fill(piece.want, piece.offset, data);
            }
        }
        let (_, whole) = whole.unwrap();
        assert_eq!(Some(whole.as_ptr()), first);
        assert!(whole[..] == bytes(range)[..]);
    }
}

#[test]
fn a_range_that_is_given_up_is_so_once() {
    let mut wants = Wants::default();
    let pieces = cut(&mut wants, &(0..10 << 20), "promise", Duration::ZERO);
    assert!(fill(&mut wants, &pieces[0], Bytes::from_static(b"x")).is_none());
    assert_eq!(wants.give_up(pieces[1].want), Some("promise"));
    assert_eq!(wants.give_up(pieces[2].want), None);
    assert!(fill(&mut wants, &pieces[1], Bytes::from_static(b"x")).is_none());
}

/// Where servers give checksums, ranges of some size are read alone, and small ones together.
#[test]
fn the_size_decides_what_is_worth_a_request_of_its_own() {
    let means = Means {
        has_pages: true,
        checks: true,
        ..Means::default()
    };
    let mut wants = Wants::default();
    let sizes = [100, 200, limits::PAGED, limits::PAGED - 1, 5 << 20];
    let pieces: Vec<Piece> = sizes
        .iter()
        .flat_map(|&size| cut(&mut wants, &(0..size), (), Duration::ZERO))
        .collect();
    let shape = |asked: &Asked| match asked {
        Asked::Vector(pieces) => pieces.len(),
        Asked::Pages(_) => 1,
        Asked::Plain(_) => 0,
    };
    let shapes: Vec<usize> = pack(pieces.clone(), means, 0).iter().map(shape).collect();
    assert_eq!(shapes, [3, 1, 1, 1, 1]);
    let near = Means {
        checks: false,
        ..means
    };
    assert!(
        matches!(&pack(pieces.clone(), near, 0)[0], Asked::Vector(pieces) if pieces.len() == 4)
    );
    let wrong = Piece {
        manner: Manner::Again,
        ..pieces[0].clone()
    };
    assert!(matches!(pack(vec![wrong], near, 0)[0], Asked::Pages(_)));
    let bare = pieces.into_iter().map(|piece| Piece {
        manner: Manner::Bare,
        ..piece
    });
    let asked = pack(bare.collect(), means, 0);
    assert!(asked.iter().all(|asked| matches!(asked, Asked::Plain(_))));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// Rounds of answers that are short or damaged, until all is there: nothing damaged is given on.
    #[test]
    fn what_differs_from_its_checksums_is_asked_for_again(
        start in 0_u64..10_000,
        length in 1_u64..40_000,
        faults in prop::collection::vec((any::<bool>(), 0.0..1.0_f64, 0.0..1.0_f64), 0..6),
    ) {
        let mut wants = Wants::default();
        let range = start..start + length;
        let mut open = cut(&mut wants, &range, (), Duration::ZERO);
        let (mut faults, mut whole, mut failed) = (faults.into_iter(), None, 0);
        while let Some(piece) = open.pop() {
            let size = u64::from(piece.length) as f64;
            let (came, damaged) = match faults.next() {
                None => (piece.length.into(), vec![]),
                Some((true, cut, _)) => ((size * cut) as u64 + 1, vec![]),
                Some((false, first, second)) => {
                    let at = piece.offset + (size * first * 0.5) as u64;
                    let end = at + 1 + (size * second * 0.4) as u64;
                    (piece.length.into(), vec![at..end.min(piece.range().end)])
                }
            };
            let mut data = bytes(piece.offset..piece.offset + came);
            for wrong in &damaged {
                let place = (wrong.start - piece.offset) as usize..(wrong.end - piece.offset) as usize;
                data[place].iter_mut().for_each(|byte| *byte = 255);
            }
            let found = unpaged(&piece, &data.into(), &damaged).unwrap();
            prop_assert!(found.damaged.is_empty() || piece.manner == Manner::Again);
            for (part, right) in &found.right {
                prop_assert!(right[..] == bytes(part.range())[..]);
                if let Some(done) = fill(&mut wants, part, right.clone()) {
                    prop_assert!(whole.replace(done.1).is_none());
                }
            }
            failed += found.damaged.len();
            open.extend(found.again);
            open.extend(found.damaged);
        }
        prop_assert!(whole.unwrap()[..] == bytes(range)[..], "after {failed}");
        prop_assert!(unpaged(&cut(&mut wants, &(0..9), (), Duration::ZERO)[0], &Bytes::new(), &[]).is_err());
    }
}
