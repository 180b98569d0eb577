//! Ranges that were asked for, cut into pieces that requests carry, and what answers bring of each. Pure: knows no connection.

use crate::error::trouble;
use crate::limits;
use crate::vector::Most;
use bytes::{Bytes, BytesMut};
use std::ops::Range;
use std::time::Duration;
use treemill_transfer::{Chunk, Kind, Trouble, Wants, parts};

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

    /// The piece in smaller ones of `most` bytes at most.
    fn cut(self, most: u64) -> impl Iterator<Item = Piece> {
        let parts = parts(self.range(), most).into_iter();
        parts.map(move |range| self.of(range))
    }

    /// The part of the piece that is this range.
    fn of(&self, range: Range<u64>) -> Piece {
        Piece {
            offset: range.start,
            length: u32::try_from(range.end.saturating_sub(range.start)).unwrap_or(u32::MAX),
            ..self.clone()
        }
    }

    /// Whether it was cut from this one, or is the same.
    pub(crate) fn is_part_of(&self, other: &Piece) -> bool {
        let (own, of) = (self.range(), other.range());
        self.want == other.want && of.start <= own.start && own.end <= of.end
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

/// Takes in a range that is asked for now: its pieces. Small ranges are one piece; large ones are read in parts, alone, so that
/// they stream. An empty range has no pieces and must not be given.
pub(crate) fn cut<P>(
    wants: &mut Wants<P>,
    range: &Range<u64>,
    promise: P,
    now: Duration,
) -> Vec<Piece> {
    let manner = match range.end.saturating_sub(range.start) > limits::LARGE {
        true => Manner::Alone,
        false => Manner::Any,
    };
    let (want, parts) = wants.add(range, promise, limits::PART);
    let piece = |range: Range<u64>| Piece {
        want,
        offset: range.start,
        length: u32::try_from(range.end.saturating_sub(range.start)).unwrap_or(u32::MAX),
        tries: 0,
        asked: now,
        manner,
    };
    parts.into_iter().map(piece).collect()
}

/// Those of the pieces whose ranges are wanted.
pub(crate) fn wanted<P>(wants: &Wants<P>, mut pieces: Vec<Piece>) -> Vec<Piece> {
    pieces.retain(|piece| wants.missing(piece.want) > 0);
    pieces
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

/// A request with the memory for its data, if they are a part of a range that has several.
pub(crate) fn furnished<P>(wants: &mut Wants<P>, asked: Asked) -> (Asked, BytesMut) {
    let room = match &asked {
        Asked::Plain(piece) | Asked::Pages(piece) => wants.room(piece.want, &piece.range()),
        Asked::Vector(_) => BytesMut::new(),
    };
    (asked, room)
}

/// Takes the data of an answer apart by pieces, without copies.
///
/// # Errors
/// `Changed` if the file is shorter than it was, `Protocol` if the data are not what was asked for.
pub(crate) fn unpack(asked: &Asked, data: BytesMut) -> Result<Vec<(&Piece, Chunk)>, Trouble> {
    let wrong = |what: String| trouble(Kind::Malformed, what);
    let pieces = match asked {
        Asked::Plain(piece) | Asked::Pages(piece) if data.len() == piece.size() => {
            return Ok(vec![(piece, data.into())]);
        }
        Asked::Plain(piece) | Asked::Pages(piece) => return Err(shorter(data.len(), piece)),
        Asked::Vector(pieces) => pieces,
    };
    let mut rest = data.freeze();
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
        found.push((piece, segment.into()));
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
