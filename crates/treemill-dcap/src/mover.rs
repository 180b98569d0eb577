//! The state of one data connection: requests that a pool has not answered yet, and what its bytes say of them. Pools answer
//! in order. Pure: knows no socket and no clock.

use crate::frames::{
    ACKNOWLEDGED, FINISHED, Frame, code, frame, number, reads_like_an_answer, size, text,
};
use crate::limits::MOST_FRAME;
use crate::pieces::Asked;
use bytes::Bytes;
use std::collections::VecDeque;

/// What became of the oldest request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// The bytes of its pieces, in their order.
    Data(Vec<Bytes>),
    /// The size of the file.
    Size(u64),
    /// The pool has refused it before it sent any byte.
    Refused(String),
    /// The pool could not send all of it.
    Failed(String),
    /// The file ended before the range did.
    Short,
}

/// What a pool has sent breaks the protocol: nothing that follows can be understood.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Broken(pub &'static str);

/// What comes next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// Whether the request is accepted.
    Accept,
    /// The mark before the data.
    Begin,
    /// The length of a block, or the mark after the last one.
    Length,
    /// Bytes of a block, and how many are left.
    Block(usize),
    /// Whether all was sent.
    Finish,
}

/// A data connection's state.
#[derive(Debug)]
pub struct Mover {
    asked: VecDeque<Asked>,
    /// Answers that the caller has not taken.
    answered: VecDeque<(Asked, Outcome)>,
    stage: Stage,
    /// Bytes of a message or a length that is not complete.
    head: Vec<u8>,
    /// What has come of the oldest request, by its pieces.
    parts: Vec<Vec<u8>>,
    /// Where the block that is coming began in its piece.
    began: usize,
}

impl Default for Mover {
    fn default() -> Self {
        Mover {
            asked: VecDeque::new(),
            answered: VecDeque::new(),
            stage: Stage::Accept,
            head: Vec::new(),
            parts: Vec::new(),
            began: 0,
        }
    }
}

impl Mover {
    /// This request is sent.
    pub fn sent(&mut self, asked: Asked) {
        self.asked.push_back(asked);
    }

    /// Requests that are not answered.
    #[must_use]
    pub fn due(&self) -> usize {
        self.asked.len()
    }

    /// Takes the oldest answer that has come.
    pub fn answer(&mut self) -> Option<(Asked, Outcome)> {
        self.answered.pop_front()
    }

    /// All requests that are not answered, or whose answer was not taken: the connection is given up. An answer that was taken
    /// may have said that those after it are of no use.
    pub fn lost(&mut self) -> Vec<Asked> {
        let answered = self.answered.drain(..).map(|(asked, _)| asked);
        answered.chain(self.asked.drain(..)).collect()
    }

    /// Bytes have come: there may be answers now, also those before an error.
    ///
    /// # Errors
    /// If the bytes break the protocol. Then the connection must be given up; the request that they are about is the oldest
    /// of [`Mover::lost`], once all answers are taken.
    pub fn take(&mut self, mut bytes: &[u8]) -> Result<(), Broken> {
        while !bytes.is_empty() {
            if self.asked.is_empty() {
                return Err(Broken(
                    "it has sent something that treemill did not ask for",
                ));
            }
            match self.stage {
                Stage::Block(left) => {
                    let (now, later) = bytes.split_at(left.min(bytes.len()));
                    bytes = later;
                    self.block(now, left.saturating_sub(now.len()))?;
                }
                Stage::Length => {
                    if self.head(&mut bytes, 4) {
                        self.length()?;
                    }
                }
                Stage::Accept | Stage::Begin | Stage::Finish => {
                    if self.message(&mut bytes)?
                        && let Some(outcome) = self.said()?
                    {
                        let asked = self.asked.pop_front();
                        self.answered.extend(asked.map(|asked| (asked, outcome)));
                        self.stage = Stage::Accept;
                        self.parts.clear();
                    }
                }
            }
        }
        Ok(())
    }

    /// Moves bytes into `head` until it has this number of them, and says whether it has.
    fn head(&mut self, bytes: &mut &[u8], length: usize) -> bool {
        let missing = length.saturating_sub(self.head.len());
        let (now, later) = bytes.split_at(missing.min(bytes.len()));
        self.head.extend_from_slice(now);
        *bytes = later;
        self.head.len() >= length
    }

    /// Whether a whole message is in `head`.
    fn message(&mut self, bytes: &mut &[u8]) -> Result<bool, Broken> {
        if !self.head(bytes, 4) {
            return Ok(false);
        }
        let length = number(&self.head, 0..4).and_then(|length| usize::try_from(length).ok());
        match length {
            Some(length) if (4..=MOST_FRAME).contains(&length) => {
                Ok(self.head(bytes, length.saturating_add(4)))
            }
            _ => Err(Broken("it has sent a message of an impossible length")),
        }
    }

    /// What the message in `head` says; an outcome, if the oldest request has one now.
    fn said(&mut self) -> Result<Option<Outcome>, Broken> {
        let head = std::mem::take(&mut self.head);
        let said = frame(head.get(4..).unwrap_or_default());
        let own = self.asked.front().map_or(0, code);
        match (self.stage, said) {
            (Stage::Begin, Some(Frame::Data)) => {
                let asked = self.asked.front().map_or(&[][..], Asked::pieces);
                // Memory is taken when the first bytes of a piece come, and pieces are bounded.
                self.parts = asked.iter().map(|_| Vec::new()).collect();
                self.stage = Stage::Length;
                Ok(None)
            }
            // A refusal may name a command of its own: a pool that does not know the request says 666.
            (
                Stage::Accept,
                Some(Frame::Answer {
                    kind: ACKNOWLEDGED,
                    result,
                    rest,
                    ..
                }),
            ) if result != 0 => Ok(Some(Outcome::Refused(text(rest)))),
            (
                Stage::Accept,
                Some(Frame::Answer {
                    kind: ACKNOWLEDGED,
                    command,
                    rest,
                    ..
                }),
            ) if command == own => {
                if self.asked.front() == Some(&Asked::Size) {
                    let size = size(rest).ok_or(Broken("it has not said how large the file is"))?;
                    return Ok(Some(Outcome::Size(size)));
                }
                self.stage = Stage::Begin;
                Ok(None)
            }
            (
                Stage::Finish,
                Some(Frame::Answer {
                    kind: FINISHED,
                    command,
                    result,
                    rest,
                }),
            ) if command == own => Ok(Some(match result {
                0 if self.is_whole() => {
                    let parts = std::mem::take(&mut self.parts);
                    Outcome::Data(parts.into_iter().map(Bytes::from).collect())
                }
                0 => Outcome::Short,
                _ => Outcome::Failed(text(rest)),
            })),
            _ => Err(Broken(
                "it has sent another message than the one that was due",
            )),
        }
    }

    /// The piece that the next block is of, and its bytes that have not come.
    fn next(&self) -> Option<(usize, usize)> {
        let pieces = self.asked.front()?.pieces();
        let mut missing = pieces.iter().zip(&self.parts).enumerate();
        missing.find_map(|(at, (piece, part))| {
            let missing = piece.size().saturating_sub(part.len());
            (missing > 0).then_some((at, missing))
        })
    }

    fn is_whole(&self) -> bool {
        self.next().is_none()
    }

    fn length(&mut self) -> Result<(), Broken> {
        let length = number(&self.head, 0..4).unwrap_or(0);
        self.head.clear();
        let is_vector = matches!(self.asked.front(), Some(Asked::Vector(_)));
        if length == -1 && !is_vector {
            self.stage = Stage::Finish;
            return Ok(());
        }
        let Ok(length) = usize::try_from(length) else {
            return Err(Broken("it has sent a block of an impossible length"));
        };
        match self.next() {
            Some((at, missing)) if length <= missing => {
                self.began = self.parts.get(at).map_or(0, Vec::len);
                self.stage = match length {
                    0 => Stage::Length,
                    _ => Stage::Block(length),
                };
                Ok(())
            }
            Some(_) => Err(Broken("it has sent a block beyond the end of a range")),
            None => Err(Broken("it has sent more than treemill asked for")),
        }
    }

    /// Takes bytes of a block that have come, of which this number is left.
    fn block(&mut self, bytes: &[u8], left: usize) -> Result<(), Broken> {
        let Some((at, missing)) = self.next() else {
            return Err(Broken("it has sent more than treemill asked for"));
        };
        let is_vector = matches!(self.asked.front(), Some(Asked::Vector(_)));
        let own = self.asked.front().map_or(0, code);
        if let Some(part) = self.parts.get_mut(at) {
            if part.is_empty() {
                part.reserve_exact(missing);
            }
            part.extend_from_slice(bytes);
            let block = part.get(self.began..).unwrap_or_default();
            if left == 0 && is_vector && reads_like_an_answer(block, own) {
                return Err(Broken("it has sent a message in the place of data"));
            }
        }
        self.stage = match left {
            0 if is_vector && self.is_whole() => Stage::Finish,
            0 => Stage::Length,
            left => Stage::Block(left),
        };
        Ok(())
    }
}

#[cfg(test)]
mod tests;
