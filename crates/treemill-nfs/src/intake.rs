//! What comes on a connection, piece by piece: records, and data of READs that are written where they are wanted as they come.
//! Pure: says where to write what the socket has next. Knows no call.

use crate::limits::{GULP, LEAST_DATA, LEAST_ROOM};
use crate::wire::apart::{Front, front};
use crate::wire::rpc::Records;
use crate::wire::xdr::Malformed;
use bytes::buf::Limit;
use bytes::{Buf, BufMut, Bytes, BytesMut};

/// What has come whole.
pub enum Came {
    /// A record.
    Record(Bytes),
    /// An answer, as a record without its data.
    Apart {
        /// The call's number.
        xid: u32,
        /// All but the data, and what fills them up.
        record: Bytes,
        /// The data, in their room.
        data: BytesMut,
    },
}

/// What comes.
pub struct Intake {
    records: Records,
    buffer: BytesMut,
    filling: Option<Filling>,
}

/// An answer whose data are on their way to their room.
struct Filling {
    xid: u32,
    /// The record up to its data.
    before: Bytes,
    data: BytesMut,
    /// Bytes of data that are missing.
    left: usize,
    /// Bytes that fill the data up to a multiple of four.
    padding: usize,
    /// Bytes of the record behind that.
    behind: usize,
}

impl Intake {
    /// Takes records of `most` bytes at most.
    #[must_use]
    pub fn new(most: usize) -> Self {
        Intake {
            records: Records::new(most),
            buffer: BytesMut::new(),
            filling: None,
        }
    }

    /// Where the next bytes are written. `due`: bytes of the largest answer that is due.
    pub fn target(&mut self, due: usize) -> Limit<&mut BytesMut> {
        if let Some(Filling { data, left, .. }) = &mut self.filling
            && *left > 0
        {
            return data.limit(*left);
        }
        let (announced, here) = (self.records.wanted(&self.buffer), self.buffer.len());
        self.buffer.reserve(room(announced, here, due));
        let room = self.buffer.capacity().saturating_sub(here);
        (&mut self.buffer).limit(room)
    }

    /// This number of bytes was written to the target.
    pub fn wrote(&mut self, bytes: usize) {
        if let Some(filling) = &mut self.filling {
            filling.left = filling.left.saturating_sub(bytes);
        }
    }

    /// What is whole now, one after the other. `rooms` gives a call's room for a number of bytes of data, if it has one.
    ///
    /// # Errors
    /// If what comes are no records of RPC, or too large ones.
    pub fn next(
        &mut self,
        rooms: impl Fn(u32, usize) -> Option<BytesMut>,
    ) -> Result<Option<Came>, Malformed> {
        if self.filling.is_none() {
            self.filling = self.begun(rooms);
        }
        match self.filling.take() {
            None => Ok(self.records.next(&mut self.buffer)?.map(Came::Record)),
            Some(filling) => match filling.whole(&mut self.buffer) {
                Ok(came) => Ok(Some(came)),
                Err(filling) => {
                    self.filling = Some(filling);
                    Ok(None)
                }
            },
        }
    }

    /// The record at the buffer's front, if it is not whole, and its data have a room.
    fn begun(&mut self, rooms: impl Fn(u32, usize) -> Option<BytesMut>) -> Option<Filling> {
        let length = self.records.only(&self.buffer)?;
        if length < LEAST_DATA || self.buffer.len().saturating_sub(4) >= length {
            return None;
        }
        let Front::Data {
            xid,
            before,
            length: data,
        } = front(self.buffer.get(4..)?)
        else {
            return None;
        };
        let padded = data.checked_next_multiple_of(4)?;
        let behind = length.checked_sub(before)?.checked_sub(padded)?;
        let mut filled = rooms(xid, data)?;
        self.buffer.advance(4);
        let before = self.buffer.split_to(before).freeze();
        let here = self.buffer.split_to(data.min(self.buffer.len()));
        filled.extend_from_slice(&here);
        Some(Filling {
            xid,
            before,
            left: data.saturating_sub(here.len()),
            data: filled,
            padding: padded.saturating_sub(data),
            behind,
        })
    }
}

impl Filling {
    /// The answer, if all of it is here; it is taken from the buffer's front.
    fn whole(self, buffer: &mut BytesMut) -> Result<Came, Self> {
        if self.left > 0 || buffer.len() < self.padding.saturating_add(self.behind) {
            return Err(self);
        }
        buffer.advance(self.padding);
        let mut record = BytesMut::from(&*self.before);
        record.extend_from_slice(&buffer.split_to(self.behind));
        Ok(Came::Apart {
            xid: self.xid,
            record: record.freeze(),
            data: self.data,
        })
    }
}

/// Bytes to make room for, of those that the server has announced: no more than it was asked for, or than have come
/// already, or a gulp. A record for which there is room at once need not be copied as it grows.
fn room(announced: usize, here: usize, due: usize) -> usize {
    let known = GULP.max(here);
    let room = match announced <= known {
        true => announced,
        false => announced.min(known.max(due)),
    };
    room.max(LEAST_ROOM)
}

#[cfg(test)]
#[allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects
)]
mod tests {
    use super::*;
    use crate::wire::rpc::reply;
    use crate::wire::xdr::Writer;
    use proptest::prelude::*;
    use std::cell::Cell;

    /// The answer to a READ that brings these bytes, as it is sent.
    fn answer(xid: u32, data: &[u8]) -> Vec<u8> {
        let mut out = Writer::default();
        out.u32(0).opaque(b"").u32(4);
        out.u32(53).u32(0).fixed(&[7; 36]);
        out.u32(22).u32(0);
        out.u32(25).u32(0).bool(false).opaque(data);
        out.u32(9).u32(0).u32(1).u32(16).opaque(&[1; 8]);
        reply(xid, &out)
    }

    fn data(length: usize) -> Vec<u8> {
        (0_u8..251).cycle().take(length).collect()
    }

    /// All that comes of bytes that come in pieces: records, and data apart from them.
    fn taken(sent: &[u8], piece: usize, capacity: usize) -> Vec<(Vec<u8>, Option<Vec<u8>>)> {
        let mut intake = Intake::new(1 << 20);
        let (mut all, mut at) = (Vec::new(), 0);
        while at < sent.len() {
            let mut target = intake.target(1 << 20);
            let count = piece.min(sent.len() - at).min(target.remaining_mut());
            target.put_slice(&sent[at..at + count]);
            intake.wrote(count);
            at += count;
            let rooms = |_, bytes| (bytes <= capacity).then(|| BytesMut::with_capacity(bytes));
            while let Some(came) = intake.next(rooms).unwrap() {
                all.push(match came {
                    Came::Record(record) => (record.to_vec(), None),
                    Came::Apart { record, data, .. } => (record.to_vec(), Some(data.to_vec())),
                });
            }
        }
        all
    }

    proptest! {
        /// However the bytes come, the same data come of them: apart, or in their records.
        #[test]
        fn data_are_the_same_apart(
            lengths in prop::collection::vec(0_usize..100_000, 1..6),
            piece in 1_usize..70_000,
            capacity in 0_usize..100_000,
        ) {
            let sent: Vec<u8> = (1..).zip(&lengths).flat_map(|(xid, &n)| answer(xid, &data(n))).collect();
            let all = taken(&sent, piece, capacity);
            prop_assert_eq!(all.len(), lengths.len());
            for ((record, found), (xid, length)) in all.into_iter().zip((1..).zip(lengths)) {
                let whole = answer(xid, &data(length)).split_off(4);
                let Some(found) = found else {
                    prop_assert_eq!(record, whole);
                    continue;
                };
                prop_assert!(found == data(length));
                let without = answer(xid, &[]).split_off(4);
                prop_assert_eq!(record.len(), without.len());
            }
        }
    }

    #[test]
    fn data_without_a_room_come_with_their_record() {
        let sent = answer(5, &data(100_000));
        assert!(taken(&sent, 5000, 99_999)[0].1.is_none());
        assert!(taken(&sent, 5000, 100_000)[0].1.is_some());
        let small = answer(5, &data(8000));
        assert!(taken(&small, 1000, 8000)[0].1.is_none());
    }

    #[test]
    fn lengths_that_do_not_fit_their_record_are_no_data() {
        let mut sent = answer(5, &data(100_000));
        let at = sent.len() - 100_000 - 28 - 4;
        assert_eq!(sent[at..at + 4], 100_000_u32.to_be_bytes());
        sent[at..at + 4].copy_from_slice(&u32::MAX.to_be_bytes());
        let asked = Cell::new(0);
        let mut intake = Intake::new(1 << 20);
        intake.target(1 << 20).put_slice(&sent[..4096]);
        let rooms = |_, _| {
            asked.set(asked.get() + 1);
            None
        };
        assert!(intake.next(rooms).unwrap().is_none());
        assert_eq!(asked.get(), 0);
    }
}
