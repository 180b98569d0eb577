//! Ranges that were asked for, cut into pieces that requests carry. Pure: knows no connection.

use crate::limits::{LARGE, PART, RANGES, VECTOR_BYTES};
use std::ops::Range;
pub use treemill_transfer::Wants;

/// A part of a range, which one request carries. It is not empty, and has 2 MB at most.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Piece {
    /// The range that it is of.
    pub want: u64,
    /// The bytes of the file.
    pub range: Range<u64>,
    /// Whether it must be read alone.
    pub is_alone: bool,
    /// How often it was refused.
    pub tries: u32,
}

impl Piece {
    /// Bytes.
    #[must_use]
    pub fn size(&self) -> usize {
        let length = self.range.end.saturating_sub(self.range.start);
        usize::try_from(length).unwrap_or(usize::MAX)
    }
}

/// One request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Asked {
    /// The size of the file as the pool has it.
    Size,
    /// A read of one range.
    One(Piece),
    /// A vectored read.
    Vector(Vec<Piece>),
}

impl Asked {
    /// What it asks for, in order.
    #[must_use]
    pub fn pieces(&self) -> &[Piece] {
        match self {
            Asked::Size => &[],
            Asked::One(piece) => std::slice::from_ref(piece),
            Asked::Vector(pieces) => pieces,
        }
    }

    /// The pieces of [`Asked::pieces`], each to be asked for again: alone, if it was not.
    #[must_use]
    pub fn again(self, is_refused: bool) -> Vec<Piece> {
        let was_alone = matches!(self, Asked::One(_));
        let pieces = match self {
            Asked::Size => Vec::new(),
            Asked::One(piece) => vec![piece],
            Asked::Vector(pieces) => pieces,
        };
        let again = |piece: Piece| Piece {
            is_alone: piece.is_alone || is_refused,
            tries: match is_refused && was_alone {
                true => piece.tries.saturating_add(1),
                false => piece.tries,
            },
            ..piece
        };
        pieces.into_iter().map(again).collect()
    }
}

/// Takes in a range that is wanted, which must not be empty: its pieces.
pub fn cut<P>(wants: &mut Wants<P>, range: &Range<u64>, promise: P) -> Vec<Piece> {
    let is_alone = range.end.saturating_sub(range.start) > LARGE;
    let (want, parts) = wants.add(range, promise, PART);
    let piece = |range| Piece {
        want,
        range,
        is_alone,
        tries: 0,
    };
    parts.into_iter().map(piece).collect()
}

/// Those of the pieces whose ranges are wanted.
#[must_use]
pub fn wanted<P>(wants: &Wants<P>, mut pieces: Vec<Piece>) -> Vec<Piece> {
    pieces.retain(|piece| wants.missing(piece.want) > 0);
    pieces
}

/// Puts pieces into as few requests as pools take, the first ones first. `has_vectors`: whether they know vectored reads.
#[must_use]
pub fn pack(pieces: Vec<Piece>, has_vectors: bool) -> Vec<Asked> {
    let mut all: Vec<Asked> = Vec::new();
    let (mut open, mut bytes) = (Vec::new(), 0_u64);
    for piece in pieces {
        let length = piece.range.end.saturating_sub(piece.range.start);
        if piece.is_alone || !has_vectors {
            all.push(Asked::One(piece));
            continue;
        }
        if open.len() >= RANGES || bytes.saturating_add(length) > VECTOR_BYTES {
            all.extend(vector(std::mem::take(&mut open)));
            bytes = 0;
        }
        bytes = bytes.saturating_add(length);
        open.push(piece);
    }
    all.extend(vector(open));
    all
}

fn vector(mut pieces: Vec<Piece>) -> Option<Asked> {
    match pieces.len() {
        0 | 1 => pieces.pop().map(Asked::One),
        _ => Some(Asked::Vector(pieces)),
    }
}

#[cfg(test)]
#[allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    clippy::single_range_in_vec_init
)]
mod tests {
    use super::*;
    use bytes::Bytes;
    use proptest::prelude::*;

    fn fill<P>(wants: &mut Wants<P>, piece: &Piece, bytes: Bytes) -> Option<(P, Bytes)> {
        wants.fill(piece.want, piece.range.start, bytes.into())
    }

    fn content(range: &Range<u64>) -> Bytes {
        range.clone().map(|at| (at % 251) as u8).collect()
    }

    proptest! {
        /// Whatever is asked for comes, whole and once, in requests that pools take.
        #[test]
        fn what_is_cut_is_put_together(
            starts in prop::collection::vec((0_u64..1 << 40, 1_u64..3000), 0..2000),
            large in 1_u64..5 << 20, has_vectors: bool,
        ) {
            let mut ranges: Vec<_> = starts.into_iter().map(|(start, size)| start..start + size).collect();
            ranges.push(7..7 + large);
            let mut wants = Wants::default();
            let pieces = ranges.iter().enumerate().flat_map(|(n, range)| cut(&mut wants, range, n)).collect::<Vec<_>>();
            let asked = pack(pieces, has_vectors);
            let mut come = vec![None; ranges.len()];
            for one in &asked {
                let most: u64 = one.pieces().iter().map(|p| p.size() as u64).sum();
                prop_assert!(most <= VECTOR_BYTES && one.pieces().len() <= RANGES);
                prop_assert!(has_vectors || matches!(one, Asked::One(_)));
                for piece in one.pieces() {
                    prop_assert!(piece.size() > 0 && piece.size() as u64 <= PART);
                    if let Some((n, bytes)) = fill(&mut wants, piece, content(&piece.range)) {
                        prop_assert!(come[n].replace(bytes).is_none());
                    }
                }
            }
            for (range, bytes) in ranges.iter().zip(come) {
                prop_assert_eq!(bytes.unwrap(), content(range));
            }
            prop_assert!(wants.is_empty());
        }
    }

    #[test]
    fn what_is_refused_is_asked_for_alone_and_then_counted() {
        let mut wants = Wants::default();
        let pieces = [0..4, 8..12]
            .map(|range| cut(&mut wants, &range, ()))
            .concat();
        let packed = pack(pieces, true);
        assert_eq!(packed.len(), 1, "one request");
        let asked = &packed[0];
        let lost = asked.clone().again(false);
        assert!(lost.iter().all(|piece| !piece.is_alone && piece.tries == 0));
        let refused = asked.clone().again(true);
        assert!(
            refused
                .iter()
                .all(|piece| piece.is_alone && piece.tries == 0)
        );
        let alone = pack(refused, true);
        assert_eq!(alone.len(), 2);
        assert_eq!(alone[0].clone().again(true)[0].tries, 1);
        assert!(wants.give_up(alone[0].pieces()[0].want).is_some());
        assert!(wants.give_up(alone[0].pieces()[0].want).is_none());
    }

    #[test]
    fn what_is_not_wanted_any_more_is_not_asked_for_again() {
        let mut wants = Wants::default();
        let ranges = [0..4 << 20, 5 << 20..6 << 20];
        let pieces = ranges
            .map(|range| cut(&mut wants, &range, range.end))
            .concat();
        fill(&mut wants, &pieces[0], content(&(0..2 << 20)));
        assert_eq!(
            wants.abandon(&[0..2 << 20, 5 << 20..7 << 20]),
            [(6 << 20, 1 << 20)]
        );
        assert_eq!(wanted(&wants, pieces.clone()), pieces[..2]);
        assert_eq!(wants.abandon(&[0..5 << 20]), [(4 << 20, 2 << 20)]);
        assert!(wanted(&wants, pieces).is_empty());
    }
}
