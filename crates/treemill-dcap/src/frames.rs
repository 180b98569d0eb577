//! The pools' messages, in both directions: numbers with the highest byte first. Pure: knows no socket.

use crate::pieces::Asked;
use crate::words::clean;
use std::ops::Range;

/// Commands, and kinds of answers.
pub const CLOSE: i32 = 4;
pub const ACKNOWLEDGED: i32 = 6;
pub const FINISHED: i32 = 7;
pub const DATA: i32 = 8;
pub const LOCATE: i32 = 9;
pub const SEEK_AND_READ: i32 = 11;
pub const READ_VECTOR: i32 = 13;

/// "From the beginning", for `SEEK_AND_READ`.
const FROM_START: i32 = 0;

/// The message that the client of a session sends first.
#[must_use]
pub fn greeting(session: u32, challenge: &str) -> Vec<u8> {
    let length = u32::try_from(challenge.len()).unwrap_or(u32::MAX);
    let head = [session.to_be_bytes(), length.to_be_bytes()].concat();
    [&head, challenge.as_bytes()].concat()
}

/// The request.
#[must_use]
pub fn request(asked: &Asked) -> Vec<u8> {
    match asked {
        Asked::Size => command(LOCATE, &[]),
        Asked::One(piece) => {
            let offset = piece.range.start.to_be_bytes();
            let size = u64::try_from(piece.size()).unwrap_or(u64::MAX);
            let from = [&offset[..], &FROM_START.to_be_bytes()].concat();
            command(SEEK_AND_READ, &[&from[..], &size.to_be_bytes()].concat())
        }
        Asked::Vector(pieces) => {
            let count = u32::try_from(pieces.len()).unwrap_or(u32::MAX);
            let mut body = count.to_be_bytes().to_vec();
            for piece in pieces {
                let size = u32::try_from(piece.size()).unwrap_or(u32::MAX);
                body.extend(piece.range.start.to_be_bytes());
                body.extend(size.to_be_bytes());
            }
            command(READ_VECTOR, &body)
        }
    }
}

/// Ends a connection.
#[must_use]
pub fn close() -> Vec<u8> {
    command(CLOSE, &[])
}

fn command(code: i32, body: &[u8]) -> Vec<u8> {
    let length = u32::try_from(body.len()).unwrap_or(u32::MAX);
    let head = [length.saturating_add(4).to_be_bytes(), code.to_be_bytes()];
    [&head.concat(), body].concat()
}

/// The command that answers to a request name.
#[must_use]
pub fn code(asked: &Asked) -> i32 {
    match asked {
        Asked::Size => LOCATE,
        Asked::One(_) => SEEK_AND_READ,
        Asked::Vector(_) => READ_VECTOR,
    }
}

/// A message of a pool, without the length before it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Frame<'a> {
    /// Blocks of data follow.
    Data,
    /// A request is accepted or refused (`ACKNOWLEDGED`), or done (`FINISHED`).
    Answer {
        kind: i32,
        command: i32,
        /// Zero if all is well.
        result: i32,
        /// What follows: a text if it is not.
        rest: &'a [u8],
    },
}

/// Reads a message; `None` if it is none.
#[must_use]
pub fn frame(bytes: &[u8]) -> Option<Frame<'_>> {
    let kind = number(bytes, 0..4)?;
    match kind {
        DATA if bytes.len() == 4 => Some(Frame::Data),
        ACKNOWLEDGED | FINISHED => Some(Frame::Answer {
            kind,
            command: number(bytes, 4..8)?,
            result: number(bytes, 8..12)?,
            rest: bytes.get(12..)?,
        }),
        _ => None,
    }
}

/// The text of a message, after its length.
#[must_use]
pub fn text(rest: &[u8]) -> String {
    let Some((length, rest)) = rest.split_first_chunk() else {
        return String::new();
    };
    let text = rest.get(..usize::from(u16::from_be_bytes(*length)));
    clean(&String::from_utf8_lossy(text.unwrap_or(rest)))
}

/// The size of the file, of an answer to `LOCATE`. The position follows it.
#[must_use]
pub fn size(rest: &[u8]) -> Option<u64> {
    let size = i64::from_be_bytes(*rest.first_chunk()?);
    u64::try_from(size).ok()
}

/// Whether bytes that should be data of a file read like an answer to this command: a pool that cannot go on with a vectored
/// read says so in the place of a block.
#[must_use]
pub fn reads_like_an_answer(bytes: &[u8], own: i32) -> bool {
    matches!(frame(bytes), Some(Frame::Answer { command, .. }) if command == own)
}

pub(crate) fn number(bytes: &[u8], place: Range<usize>) -> Option<i32> {
    let bytes = bytes.get(place)?.first_chunk()?;
    Some(i32::from_be_bytes(*bytes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pieces::Piece;
    use proptest::prelude::*;

    fn piece(range: Range<u64>) -> Piece {
        Piece {
            want: 0,
            range,
            is_alone: false,
            tries: 0,
        }
    }

    #[test]
    fn requests_are_as_pools_read_them() {
        assert_eq!(greeting(5, "YWI="), *b"\0\0\0\x05\0\0\0\x04YWI=");
        assert_eq!(close(), *b"\0\0\0\x04\0\0\0\x04");
        let one = request(&Asked::One(piece(258..261)));
        let head = b"\0\0\0\x18\0\0\0\x0b";
        let rest = b"\0\0\0\0\0\0\x01\x02\0\0\0\0\0\0\0\0\0\0\0\x03";
        assert_eq!(one, [&head[..], rest].concat());
        let vector = request(&Asked::Vector(vec![piece(1..3), piece(9..10)]));
        let head = b"\0\0\0\x20\0\0\0\x0d\0\0\0\x02";
        let ranges = b"\0\0\0\0\0\0\0\x01\0\0\0\x02\0\0\0\0\0\0\0\x09\0\0\0\x01";
        assert_eq!(vector, [&head[..], ranges].concat());
    }

    #[test]
    fn answers_are_read() {
        let refused = frame(b"\0\0\0\x06\0\0\x02\x9a\0\0\0\x09\0\x03no!");
        let expected = Frame::Answer {
            kind: ACKNOWLEDGED,
            command: 666,
            result: 9,
            rest: b"\0\x03no!",
        };
        assert_eq!(refused, Some(expected));
        assert_eq!(
            (text(b"\0\x03no!"), text(b"\0\x09no!"), text(b"")),
            ("no!".into(), "no!".into(), "".into())
        );
        assert_eq!(size(b"\0\0\0\0\0\0\x01\0\0\0\0\0\0\0\0\0"), Some(256));
        assert_eq!((size(b"\0"), size(&[0xff; 16])), (None, None));
        assert_eq!(frame(b"\0\0\0\x08"), Some(Frame::Data));
        assert_eq!(frame(b"\0\0\0\x06\0\0\0\x0b"), None);
        assert!(reads_like_an_answer(
            b"\0\0\0\x07\0\0\0\x0d\0\0\0\0",
            READ_VECTOR
        ));
    }

    proptest! {
        #[test]
        fn no_message_panics(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
            if let Some(Frame::Answer { rest, .. }) = frame(&bytes) {
                let _ = (text(rest), size(rest));
            }
        }
    }
}
