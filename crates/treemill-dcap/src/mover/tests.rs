//! A pool's bytes against the state that reads them: whole, in any pieces, broken, and made up.
#![allow(
    clippy::unwrap_used,
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation
)]

use super::*;
use crate::pieces::Piece;
use proptest::prelude::*;

fn content(piece: &Piece) -> Vec<u8> {
    piece.range.clone().map(|at| (at % 251) as u8).collect()
}

fn answer(kind: i32, command: i32, result: i32, rest: &[u8]) -> Vec<u8> {
    let mut bytes = (12 + rest.len() as i32).to_be_bytes().to_vec();
    for number in [kind, command, result] {
        bytes.extend(number.to_be_bytes());
    }
    bytes.extend(rest);
    bytes
}

fn refusal(kind: i32, command: i32, text: &str) -> Vec<u8> {
    let length = (text.len() as u16).to_be_bytes();
    answer(kind, command, 5, &[&length[..], text.as_bytes()].concat())
}

/// What a pool sends for a request, with blocks of `most` bytes; `broken`: the piece that it cannot read.
fn sent(asked: &Asked, most: usize, broken: Option<usize>) -> Vec<u8> {
    let own = code(asked);
    if *asked == Asked::Size {
        return answer(ACKNOWLEDGED, own, 0, &[0; 16]);
    }
    let mut bytes = answer(ACKNOWLEDGED, own, 0, &[]);
    bytes.extend([0, 0, 0, 4, 0, 0, 0, 8]);
    for (n, piece) in asked.pieces().iter().enumerate() {
        if Some(n) != broken {
            for block in content(piece).chunks(most) {
                bytes.extend((block.len() as u32).to_be_bytes());
                bytes.extend(block);
            }
        }
    }
    if matches!(asked, Asked::One(_)) {
        bytes.extend((-1_i32).to_be_bytes());
    }
    bytes.extend(match broken {
        Some(_) => refusal(FINISHED, own, "the disk is broken"),
        None => answer(FINISHED, own, 0, &[]),
    });
    bytes
}

fn asked() -> impl Strategy<Value = Asked> {
    let piece = (0_u64..1 << 40, 1_u64..200).prop_map(|(start, size)| Piece {
        want: 0,
        range: start..start + size,
        is_alone: false,
        tries: 0,
    });
    prop_oneof![
        1 => Just(Asked::Size),
        4 => piece.clone().prop_map(Asked::One),
        4 => prop::collection::vec(piece, 2..9).prop_map(Asked::Vector),
    ]
}

/// Gives the bytes in parts of these sizes: all outcomes, and whether the connection broke.
fn given(mover: &mut Mover, mut bytes: &[u8], cuts: &[usize]) -> (Vec<(Asked, Outcome)>, bool) {
    let mut all = Vec::new();
    let mut cuts = cuts.iter().cycle();
    while !bytes.is_empty() {
        let (now, later) = bytes.split_at((*cuts.next().unwrap()).min(bytes.len()));
        bytes = later;
        let taken = mover.take(now);
        all.extend(std::iter::from_fn(|| mover.answer()));
        if taken.is_err() {
            return (all, true);
        }
    }
    (all, false)
}

proptest! {
    #[test]
    fn answers_come_in_order_however_they_are_cut(
        all in prop::collection::vec(asked(), 1..6), most in 1_usize..300,
        cuts in prop::collection::vec(1_usize..400, 1..8),
    ) {
        let mut mover = Mover::default();
        let bytes: Vec<u8> = all.iter().flat_map(|asked| sent(asked, most, None)).collect();
        all.iter().cloned().for_each(|asked| mover.sent(asked));
        let (done, is_broken) = given(&mut mover, &bytes, &cuts);
        prop_assert!(!is_broken && mover.due() == 0);
        for ((got, outcome), asked) in done.iter().zip(&all) {
            prop_assert_eq!(got, asked);
            match asked {
                Asked::Size => prop_assert_eq!(outcome, &Outcome::Size(0)),
                _ => {
                    let parts = asked.pieces().iter().map(|piece| content(piece).into());
                    prop_assert_eq!(outcome, &Outcome::Data(parts.collect()));
                }
            }
        }
        prop_assert_eq!(done.len(), all.len());
    }

    /// A pool that cannot read a range says so after the others, and other answers follow: what is given as data is
    /// right, and of the request that failed nothing is.
    #[test]
    fn a_range_that_cannot_be_read_never_gives_wrong_bytes(
        all in prop::collection::vec(asked(), 1..6), most in 1_usize..300, broken: prop::sample::Index,
        piece: prop::sample::Index, cuts in prop::collection::vec(1_usize..400, 1..8),
    ) {
        let failing = broken.index(all.len());
        let pieces = all[failing].pieces().len();
        prop_assume!(pieces > 0);
        let bytes: Vec<u8> = all.iter().enumerate().flat_map(|(n, asked)| {
            sent(asked, most, (n == failing).then(|| piece.index(pieces)))
        }).collect();
        let mut mover = Mover::default();
        all.iter().cloned().for_each(|asked| mover.sent(asked));
        let (done, _) = given(&mut mover, &bytes, &cuts);
        for (n, (asked, outcome)) in done.into_iter().enumerate() {
            if let Outcome::Data(parts) = outcome {
                prop_assert!(n != failing);
                let right: Vec<Bytes> = asked.pieces().iter().map(|piece| content(piece).into()).collect();
                prop_assert_eq!(parts, right);
            }
        }
    }

    #[test]
    fn bytes_of_no_sense_never_panic_and_never_give_too_much(
        all in prop::collection::vec(asked(), 0..4), noise in prop::collection::vec(any::<u8>(), 0..600),
        place: prop::sample::Index, cuts in prop::collection::vec(1_usize..100, 1..4),
    ) {
        let mut bytes: Vec<u8> = all.iter().flat_map(|asked| sent(asked, 64, None)).collect();
        let place = place.index(bytes.len() + 1);
        let end = (place + noise.len()).min(bytes.len());
        bytes.splice(place..end, noise);
        let mut mover = Mover::default();
        all.iter().cloned().for_each(|asked| mover.sent(asked));
        let (done, _) = given(&mut mover, &bytes, &cuts);
        // No request is forgotten, whatever came.
        let left = mover.lost();
        prop_assert!(done.iter().map(|(asked, _)| asked).chain(&left).eq(&all));
        for (asked, outcome) in done {
            if let Outcome::Data(parts) = outcome {
                let sizes: Vec<usize> = asked.pieces().iter().map(Piece::size).collect();
                prop_assert_eq!(parts.iter().map(Bytes::len).collect::<Vec<_>>(), sizes);
            }
        }
    }
}

#[test]
fn a_file_that_is_shorter_and_a_request_that_is_not_known_are_told() {
    let piece = Piece {
        want: 0,
        range: 10..20,
        is_alone: true,
        tries: 0,
    };
    let one = Asked::One(piece);
    let mut mover = Mover::default();
    mover.sent(one.clone());
    let own = code(&one);
    let data = [0, 0, 0, 4, 0, 0, 0, 8, 0, 0, 0, 2, 1, 2, 255, 255, 255, 255];
    let (accepted, finished) = (
        answer(ACKNOWLEDGED, own, 0, &[]),
        answer(FINISHED, own, 0, &[]),
    );
    let bytes = [&accepted[..], &data, &finished].concat();
    assert_eq!(mover.take(&bytes), Ok(()));
    assert_eq!(mover.answer(), Some((one.clone(), Outcome::Short)));
    mover.sent(one.clone());
    let bytes = refusal(ACKNOWLEDGED, 666, "Invalid mover command");
    assert_eq!(mover.take(&bytes), Ok(()));
    let outcome = Outcome::Refused("Invalid mover command".to_owned());
    assert_eq!(mover.answer(), Some((one, outcome)));
    assert!(mover.take(&[0]).is_err(), "nothing is due");
}

/// The size is asked for first. When it is not that of the file, the bytes after it are not the file's.
#[test]
fn answers_behind_one_that_ends_the_connection_are_lost_with_it() {
    let piece = |start| Piece {
        want: 0,
        range: start..start + 5,
        is_alone: false,
        tries: 0,
    };
    let all = [Asked::Size, Asked::One(piece(0)), Asked::One(piece(9))];
    let mut mover = Mover::default();
    all.iter().cloned().for_each(|asked| mover.sent(asked));
    let bytes: Vec<u8> = all[..2]
        .iter()
        .flat_map(|asked| sent(asked, 9, None))
        .collect();
    assert_eq!(mover.take(&bytes), Ok(()));
    assert_eq!(mover.answer(), Some((Asked::Size, Outcome::Size(0))));
    assert_eq!(mover.due(), 1);
    assert_eq!(mover.lost(), all[1..]);
    assert_eq!(mover.answer(), None);
}
