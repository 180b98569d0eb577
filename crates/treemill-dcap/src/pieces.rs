//! Ranges that were asked for, cut into pieces that requests carry, and put together again. Pure: knows no connection;
//! `P` is what the caller wants back with a range's bytes.

use crate::limits::{LARGE, PART, RANGES, VECTOR_BYTES};
use bytes::Bytes;
use std::collections::{BTreeMap, HashMap};
use std::ops::Range;
use treemill_source::is_within;

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

struct Want<P> {
    range: Range<u64>,
    promise: P,
    /// What is here, by its offset.
    parts: BTreeMap<u64, Bytes>,
    /// Bytes that are not.
    missing: u64,
}

/// Ranges whose bytes are not all here yet.
pub struct Wants<P> {
    next: u64,
    open: HashMap<u64, Want<P>>,
}

impl<P> Default for Wants<P> {
    fn default() -> Self {
        Wants {
            next: 0,
            open: HashMap::new(),
        }
    }
}

impl<P> Wants<P> {
    /// Takes a range in, which must not be empty: its pieces.
    pub fn add(&mut self, range: &Range<u64>, promise: P) -> Vec<Piece> {
        let want = self.next;
        self.next = self.next.wrapping_add(1);
        let missing = range.end.saturating_sub(range.start);
        let is_alone = missing > LARGE;
        let (promise, parts) = (promise, BTreeMap::new());
        let open = Want {
            range: range.clone(),
            promise,
            parts,
            missing,
        };
        self.open.insert(want, open);
        let mut pieces = Vec::new();
        let mut start = range.start;
        while start < range.end {
            let end = start.saturating_add(PART).min(range.end);
            pieces.push(Piece {
                want,
                range: start..end,
                is_alone,
                tries: 0,
            });
            start = end;
        }
        pieces
    }

    /// A piece's bytes are here: what was given with its range, and the range's bytes, if they are all here now.
    pub fn fill(&mut self, piece: &Piece, bytes: Bytes) -> Option<(P, Bytes)> {
        let want = self.open.get_mut(&piece.want)?;
        let length = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        if want.parts.insert(piece.range.start, bytes).is_none() {
            want.missing = want.missing.saturating_sub(length);
        }
        if want.missing > 0 {
            return None;
        }
        let Want { promise, parts, .. } = self.open.remove(&piece.want)?;
        Some((promise, joined(parts.into_values().collect())))
    }

    /// The range of a piece will not come: what was given with it, once.
    pub fn give_up(&mut self, piece: &Piece) -> Option<P> {
        self.open.remove(&piece.want).map(|want| want.promise)
    }

    /// Nothing within these ranges is wanted any more: what was given with each range that lies there, and how many of its
    /// bytes are not here.
    pub fn abandon(&mut self, ranges: &[Range<u64>]) -> Vec<(P, u64)> {
        let gone = self
            .open
            .extract_if(|_, want| is_within(&want.range, ranges));
        gone.map(|(_, want)| (want.promise, want.missing)).collect()
    }

    /// Those of the pieces whose ranges are wanted.
    #[must_use]
    pub fn wanted(&self, mut pieces: Vec<Piece>) -> Vec<Piece> {
        pieces.retain(|piece| self.open.contains_key(&piece.want));
        pieces
    }
}

/// A single part is shared, several are copied together.
fn joined(mut parts: Vec<Bytes>) -> Bytes {
    match (parts.len(), parts.pop()) {
        (1, Some(only)) => only,
        (_, last) => {
            parts.extend(last);
            Bytes::from(parts.concat())
        }
    }
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
    use proptest::prelude::*;

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
            let pieces = ranges.iter().enumerate().flat_map(|(n, range)| wants.add(range, n)).collect::<Vec<_>>();
            let asked = pack(pieces, has_vectors);
            let mut come = vec![None; ranges.len()];
            for one in &asked {
                let most: u64 = one.pieces().iter().map(|p| p.size() as u64).sum();
                prop_assert!(most <= VECTOR_BYTES && one.pieces().len() <= RANGES);
                prop_assert!(has_vectors || matches!(one, Asked::One(_)));
                for piece in one.pieces() {
                    prop_assert!(piece.size() > 0 && piece.size() as u64 <= PART);
                    if let Some((n, bytes)) = wants.fill(piece, content(&piece.range)) {
                        prop_assert!(come[n].replace(bytes).is_none());
                    }
                }
            }
            for (range, bytes) in ranges.iter().zip(come) {
                prop_assert_eq!(bytes.unwrap(), content(range));
            }
            prop_assert!(wants.open.is_empty());
        }
    }

    #[test]
    fn what_is_refused_is_asked_for_alone_and_then_counted() {
        let mut wants = Wants::default();
        let pieces = [0..4, 8..12].map(|range| wants.add(&range, ())).concat();
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
        assert!(wants.give_up(&alone[0].pieces()[0]).is_some());
        assert!(wants.give_up(&alone[0].pieces()[0]).is_none());
    }

    #[test]
    fn what_is_not_wanted_any_more_is_not_asked_for_again() {
        let mut wants = Wants::default();
        let ranges = [0..3 << 20, 4 << 20..5 << 20];
        let pieces = ranges.map(|range| wants.add(&range, range.end)).concat();
        wants.fill(&pieces[0], content(&(0..2 << 20)));
        assert_eq!(
            wants.abandon(&[0..2 << 20, 4 << 20..6 << 20]),
            [(5 << 20, 1 << 20)]
        );
        assert_eq!(wants.wanted(pieces.clone()), pieces[..2]);
        assert_eq!(wants.abandon(&[0..4 << 20]), [(3 << 20, 1 << 20)]);
        assert!(wants.wanted(pieces).is_empty());
    }
}
