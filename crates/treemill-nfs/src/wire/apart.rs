//! Where the data of a READ lie in an answer whose front is here: they can be written elsewhere while the rest of them comes.
//! Knows no connection.

use super::compound::{PUTFH, READ};
use super::rpc::{Message, message};
use super::session::{RECLAIM_COMPLETE, SEQUENCE};
use super::status::OK;
use super::xdr::{Malformed, Reader};
use crate::limits::{MOST_FRONT, MOST_NAME};
use bytes::Bytes;

/// Bytes that a successful SEQUENCE has.
const SEQUENCED: usize = 36;
/// Results before that of READ, at most: SEQUENCE, RECLAIM_COMPLETE and PUTFH.
const BEFORE: u32 = 3;

/// What the front of an answer tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Front {
    /// More of it must come.
    Short,
    /// It has no data, or not where they are looked for.
    Other,
    /// The data of a READ.
    Data {
        /// The call's number.
        xid: u32,
        /// Bytes before the data.
        before: usize,
        /// Bytes of data, and what fills them up to a multiple of four is not counted.
        length: usize,
    },
}

/// Looks at the front of a record.
///
/// ```
/// use treemill_nfs::wire::apart::{Front, front};
///
/// assert_eq!(front(&[0, 0, 0, 7, 0, 0]), Front::Short);
/// assert_eq!(front(&[0, 0, 0, 7, 0, 0, 0, 0]), Front::Short); // a call: its arguments would follow
/// assert_eq!(front(&[255; 12]), Front::Other);
/// ```
#[must_use]
pub fn front(record: &[u8]) -> Front {
    let seen = record.get(..MOST_FRONT).unwrap_or(record);
    match data(seen) {
        Ok(found) => found,
        Err(_) if is_cut(seen) => Front::Short,
        Err(_) => Front::Other,
    }
}

/// Whether it may be malformed only because it ends too early. A record of an unknown kind is not.
fn is_cut(seen: &[u8]) -> bool {
    let kind = seen.get(4..8);
    seen.len() < MOST_FRONT && kind.is_none_or(|kind| matches!(kind, [0, 0, 0, 0 | 1]))
}

fn data(seen: &[u8]) -> Result<Front, Malformed> {
    let Message::Reply {
        xid,
        body: Ok(mut reader),
    } = message(Bytes::copy_from_slice(seen))?
    else {
        return Ok(Front::Other);
    };
    reader.u32()?; // the status of all
    reader.opaque(MOST_NAME)?;
    let count = reader.u32()?;
    for _ in 0..count.min(BEFORE.saturating_add(1)) {
        let (operation, status) = (reader.u32()?, reader.u32()?);
        match (operation, status) {
            (SEQUENCE, OK) => drop(reader.fixed(SEQUENCED)?),
            (RECLAIM_COMPLETE | PUTFH, OK) => {}
            (READ, OK) => return found(xid, seen.len(), reader),
            _ => break,
        }
    }
    Ok(Front::Other)
}

fn found(xid: u32, seen: usize, mut reader: Reader) -> Result<Front, Malformed> {
    reader.bool()?;
    let length = usize::try_from(reader.u32()?).unwrap_or(usize::MAX);
    Ok(Front::Data {
        xid,
        before: seen.saturating_sub(reader.rest().len()),
        length,
    })
}
