//! Ranges that were asked for, cut into pieces that requests carry, and put together again. Pure: knows no connection;
//! `P` is what the caller wants back with a range's bytes.

use crate::error::trouble;
use crate::limits;
use crate::vector::Most;
use bytes::Bytes;
use std::collections::{BTreeMap, HashMap};
use std::ops::Range;
use std::time::Duration;
use treemill_source::is_within;
use treemill_transfer::{Kind, Trouble};

/// A part of a range, which one request carries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Piece {
    /// The range that it is of.
    pub(crate) want: u64,
    pub(crate) offset: u64,
    pub(crate) length: u32,
    /// How often servers refused it.
    pub(crate) tries: u32,
    /// When it was asked for first.
    pub(crate) asked: Duration,
    /// How it must be asked for.
    pub(crate) manner: Manner,
}

/// How a piece must be asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Manner {
    /// It may be asked for with others in one request, or alone.
    Any,
    /// It must be asked for alone.
    Alone,
    /// It must be asked for alone and without checksums: the server has none.
    Bare,
    /// It must be asked for alone once more: what came differed from its checksums.
    Again,
}

/// What the server of a connection can do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Means {
    /// Its limits of vectored reads.
    pub(crate) most: Most,
    /// Whether it can send a range with checksums.
    pub(crate) has_pages: bool,
    /// Whether ranges are asked for so from the start, and not only where something was wrong.
    pub(crate) checks: bool,
}

impl Piece {
    pub(crate) fn size(&self) -> usize {
        usize::try_from(self.length).unwrap_or(usize::MAX)
    }

    /// The piece in smaller ones of `most` bytes.
    fn cut(self, most: u64) -> impl Iterator<Item = Piece> {
        cut(self.range(), most).map(move |range| self.of(range))
    }

    /// The part of the piece that is this range.
    fn of(&self, range: Range<u64>) -> Piece {
        Piece {
            offset: range.start,
            length: u32::try_from(range.end.saturating_sub(range.start)).unwrap_or(u32::MAX),
            ..self.clone()
        }
    }

    pub(crate) fn range(&self) -> Range<u64> {
        self.offset..self.offset.saturating_add(u64::from(self.length))
    }
}

/// One request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Asked {
    /// A read of one range.
    Plain(Piece),
    /// A read of one range with checksums.
    Pages(Piece),
    /// A vectored read.
    Vector(Vec<Piece>),
}

impl Asked {
    pub(crate) fn into_pieces(self) -> Vec<Piece> {
        match self {
            Asked::Plain(piece) | Asked::Pages(piece) => vec![piece],
            Asked::Vector(pieces) => pieces,
        }
    }

    /// A read of one range.
    fn alone(piece: Piece, means: Means) -> Self {
        let by_pages = match piece.manner {
            Manner::Any | Manner::Alone => means.has_pages && means.checks,
            Manner::Again => means.has_pages,
            Manner::Bare => false,
        };
        match by_pages {
            true => Asked::Pages(piece),
            false => Asked::Plain(piece),
        }
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
pub(crate) struct Wants<P> {
    next: u64,
    open: HashMap<u64, Want<P>>,
}

impl<P> Wants<P> {
    pub(crate) fn new() -> Self {
        Wants {
            next: 0,
            open: HashMap::new(),
        }
    }

    /// Takes a range in that is asked for now: its pieces. Small ranges are one piece; large ones are read in parts, alone, so that they
    /// stream. An empty range has no pieces and must not be given.
    pub(crate) fn add(&mut self, range: &Range<u64>, promise: P, now: Duration) -> Vec<Piece> {
        let want = self.next;
        self.next = self.next.wrapping_add(1);
        let size = range.end.saturating_sub(range.start);
        let (manner, most) = match size > limits::LARGE {
            true => (Manner::Alone, limits::PART),
            false => (Manner::Any, limits::LARGE),
        };
        let open = Want {
            range: range.clone(),
            promise,
            parts: BTreeMap::new(),
            missing: size,
        };
        self.open.insert(want, open);
        let piece = |range: Range<u64>| Piece {
            want,
            offset: range.start,
            length: u32::try_from(range.end.saturating_sub(range.start)).unwrap_or(u32::MAX),
            tries: 0,
            asked: now,
            manner,
        };
        cut(range.clone(), most).map(piece).collect()
    }

    /// A piece's bytes are here: what was given with its range, and the range's bytes, if they are all here now.
    pub(crate) fn fill(&mut self, piece: &Piece, bytes: Bytes) -> Option<(P, Bytes)> {
        let want = self.open.get_mut(&piece.want)?;
        let length = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        if want.parts.insert(piece.offset, bytes).is_none() {
            want.missing = want.missing.saturating_sub(length);
        }
        if want.missing > 0 {
            return None;
        }
        let Want { promise, parts, .. } = self.open.remove(&piece.want)?;
        Some((promise, joined(parts.into_values().collect())))
    }

    /// The range of a piece will not come: what was given with it, once.
    pub(crate) fn give_up(&mut self, piece: &Piece) -> Option<P> {
        self.open.remove(&piece.want).map(|want| want.promise)
    }

    /// Nothing within these ranges is wanted any more: what was given with each range that lies there, and how many of its
    /// bytes are not here.
    pub(crate) fn abandon(&mut self, ranges: &[Range<u64>]) -> Vec<(P, u64)> {
        let gone = self
            .open
            .extract_if(|_, want| is_within(&want.range, ranges));
        gone.map(|(_, want)| (want.promise, want.missing)).collect()
    }

    /// Those of the pieces whose ranges are wanted.
    pub(crate) fn wanted(&self, mut pieces: Vec<Piece>) -> Vec<Piece> {
        pieces.retain(|piece| self.open.contains_key(&piece.want));
        pieces
    }
}

/// A range in parts of `most` bytes.
fn cut(range: Range<u64>, most: u64) -> impl Iterator<Item = Range<u64>> {
    let step = usize::try_from(most).unwrap_or(usize::MAX).max(1);
    let end = range.end;
    range
        .step_by(step)
        .map(move |start| start..start.saturating_add(most).min(end))
}

/// A single part is shared, several are copied together.
fn joined(mut parts: Vec<Bytes>) -> Bytes {
    if parts.len() == 1
        && let Some(only) = parts.pop()
    {
        return only;
    }
    Bytes::from(parts.concat())
}

/// Puts pieces into as few requests as the server's limits allow, the first ones first. `caution` counts how often
/// the connection was lost without progress: each time makes requests smaller, so that some of them end.
pub(crate) fn pack(pieces: Vec<Piece>, means: Means, caution: u32) -> Vec<Asked> {
    let most = means.most;
    let careful = |most: u64| most >> caution.saturating_mul(2).min(limits::MOST_CAUTION);
    let (room, part) = (careful(limits::VECTOR_BYTES), careful(limits::PART));
    let shared = match means.has_pages && means.checks {
        true => limits::PAGED.saturating_sub(1),
        false => u64::MAX,
    };
    let shared = shared.min(part).min(u64::from(most.bytes));
    let (mut vectors, mut alone): (Vec<Vec<Piece>>, Vec<Asked>) = (Vec::new(), Vec::new());
    let mut bytes = 0_u64;
    for piece in pieces {
        let length = u64::from(piece.length);
        if piece.manner != Manner::Any || length > shared {
            alone.extend(piece.cut(part).map(|piece| Asked::alone(piece, means)));
            continue;
        }
        bytes = bytes.saturating_add(length);
        match vectors.last_mut() {
            Some(last) if last.len() < most.ranges && bytes <= room => last.push(piece),
            _ => {
                bytes = length;
                vectors.push(vec![piece]);
            }
        }
    }
    let one = |mut pieces: Vec<Piece>| match pieces.pop() {
        Some(only) if pieces.is_empty() => Asked::alone(only, means),
        last => {
            pieces.extend(last);
            Asked::Vector(pieces)
        }
    };
    vectors.into_iter().map(one).chain(alone).collect()
}

/// Takes the data of an answer apart by pieces, without copies.
///
/// # Errors
/// `Changed` if the file is shorter than it was, `Protocol` if the data are not what was asked for.
pub(crate) fn unpack(asked: &Asked, data: Bytes) -> Result<Vec<(&Piece, Bytes)>, Trouble> {
    let wrong = |what: String| trouble(Kind::Malformed, what);
    let pieces = match asked {
        Asked::Plain(piece) | Asked::Pages(piece) if data.len() == piece.size() => {
            return Ok(vec![(piece, data)]);
        }
        Asked::Plain(piece) | Asked::Pages(piece) => return Err(shorter(data.len(), piece)),
        Asked::Vector(pieces) => pieces,
    };
    let mut rest = data;
    let mut found = Vec::with_capacity(pieces.len());
    for piece in pieces {
        let due = piece.size().saturating_add(limits::SEGMENT_HEADER);
        if rest.len() < due {
            return Err(wrong("the answer to a vectored read ends early".to_owned()));
        }
        let mut segment = rest.split_to(due);
        let header = segment.split_to(limits::SEGMENT_HEADER);
        let expected = [&piece.length.to_be_bytes()[..], &piece.offset.to_be_bytes()].concat();
        // The first four bytes are the file's handle, which the server may write as it likes.
        if header.get(4..) != Some(&expected[..]) {
            let what = "the answer to a vectored read has other ranges than treemill asked for";
            return Err(wrong(what.to_owned()));
        }
        found.push((piece, segment));
    }
    if rest.is_empty() {
        return Ok(found);
    }
    Err(wrong(format!(
        "{} bytes follow the end of a vectored read",
        rest.len()
    )))
}

/// What came of a piece with checksums.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Unpaged {
    /// What is right.
    pub(crate) right: Vec<(Piece, Bytes)>,
    /// What is to be asked for once more: it differed from its checksums, or did not come.
    pub(crate) again: Vec<Piece>,
    /// What differed from its checksums for a second time.
    pub(crate) damaged: Vec<Piece>,
}

/// Takes pages apart by what differs from its checksums.
///
/// # Errors
/// `Changed` if nothing came: the file is shorter than it was.
pub(crate) fn unpaged(
    piece: &Piece,
    data: &Bytes,
    damaged: &[Range<u64>],
) -> Result<Unpaged, Trouble> {
    if data.is_empty() {
        return Err(shorter(0, piece));
    }
    let mut found = Unpaged {
        right: Vec::new(),
        again: Vec::new(),
        damaged: Vec::new(),
    };
    let come = u64::try_from(data.len()).unwrap_or(u64::MAX);
    let end = piece.range().end.min(piece.offset.saturating_add(come));
    let mut at = piece.offset;
    for wrong in joined_ranges(damaged) {
        found.keep(piece, data, at..wrong.start);
        let wrong = wrong.start.max(piece.offset)..wrong.end.min(end);
        at = wrong.end;
        match piece.manner {
            Manner::Again => found.damaged.push(piece.of(wrong)),
            _ => found.again.push(Piece {
                manner: Manner::Again,
                ..piece.of(wrong)
            }),
        }
    }
    found.keep(piece, data, at..end);
    if end < piece.range().end {
        found.again.push(piece.of(end..piece.range().end));
    }
    Ok(found)
}

impl Unpaged {
    fn keep(&mut self, piece: &Piece, data: &Bytes, range: Range<u64>) {
        let place = |at: u64| usize::try_from(at.saturating_sub(piece.offset)).ok();
        if let (Some(start), Some(end)) = (place(range.start), place(range.end))
            && start < end
            && end <= data.len()
        {
            self.right.push((piece.of(range), data.slice(start..end)));
        }
    }
}

/// Ranges in order, those that touch as one.
fn joined_ranges(ranges: &[Range<u64>]) -> Vec<Range<u64>> {
    let mut all: Vec<Range<u64>> = Vec::new();
    for range in ranges {
        match all.last_mut() {
            Some(last) if last.end == range.start => last.end = range.end,
            _ => all.push(range.clone()),
        }
    }
    all
}

fn shorter(came: usize, piece: &Piece) -> Trouble {
    let due = piece.length;
    let what = format!(
        "the server sent {came} bytes where treemill asked for {due}: the file is shorter than when treemill opened it"
    );
    trouble(Kind::Changed, what)
}

#[cfg(test)]
mod tests;
