//! Calls of the server on the back channel (RFC 8881, section 20): what it calls, and what is answered. Knows no
//! connection and no file.

use super::compound::StateId;
use super::rpc::Procedure;
use super::session::CALLBACK;
use super::xdr::{Malformed, Reader, Writer};
use crate::limits::{BACK_SLOTS, MOST_AUTH, MOST_CALLED, MOST_HANDLE, MOST_NAME, MOST_WORDS};
use bytes::Bytes;

const LAYOUT_RECALL: u32 = 5;
const RECALL: u32 = 4;
const RECALL_ANY: u32 = 8;
const RECALL_SLOT: u32 = 10;
const SEQUENCE: u32 = 11;
const NOTIFY_DEVICE: u32 = 14;

const NOT_SUPPORTED: u32 = 10004;
const BAD_XDR: u32 = 10036;
const NO_MATCHING_LAYOUT: u32 = 10060;
const LATER: u32 = 10008;

/// What the server wants.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Order {
    /// Layouts back.
    Layouts(Recall),
    /// No slot above this one used.
    Slots(u32),
    /// Groups of data servers asked for again.
    Devices,
}

/// Layouts that the server wants back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recall {
    /// The kind of the layouts, by its number (`layouttype4`).
    pub kind: u32,
    /// Whether layouts for reading, for writing or of any kind are recalled (`layoutiomode4`).
    pub mode: u32,
    /// The files whose layouts are recalled.
    pub of: Recalled,
}

/// The files whose layouts are recalled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Recalled {
    /// The layout of one file, by its handle.
    File {
        /// The file.
        handle: Bytes,
        /// The layout.
        state: StateId,
    },
    /// The layouts of a file system, by its number.
    FileSystem((u64, u64)),
    /// All layouts of the client.
    All,
}

/// What is said to an order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Said {
    /// It is done, or will be.
    Done,
    /// The server may ask later: answers are on their way that decide it.
    Later,
    /// There is no such layout.
    NoLayout,
}

impl Said {
    fn status(self) -> u32 {
        match self {
            Said::Done => 0,
            Said::Later => LATER,
            Said::NoLayout => NO_MATCHING_LAYOUT,
        }
    }
}

/// The body of the answer to a call. `obey` does what the server wants, or says why not.
#[must_use]
pub fn answer(procedure: Procedure, body: &Reader, obey: impl Fn(&Order) -> Said) -> Writer {
    if procedure.program != CALLBACK || procedure.number == 0 {
        return Writer::default();
    }
    let mut reader = body.clone();
    let mut calls = Calls {
        obey: &obey,
        results: Writer::default(),
        count: 0,
    };
    let (tag, status) = match front(&mut reader) {
        Ok((tag, count)) => (tag, calls.all(&mut reader, count)),
        Err(_) => (Bytes::new(), BAD_XDR),
    };
    let mut answer = Writer::default();
    answer.u32(status).opaque(&tag);
    answer.u32(calls.count).append(&calls.results);
    answer
}

fn front(reader: &mut Reader) -> Result<(Bytes, u32), Malformed> {
    let tag = reader.opaque(MOST_NAME)?;
    let _ = (reader.u32()?, reader.u32()?);
    Ok((tag, reader.u32()?))
}

struct Calls<'a> {
    obey: &'a dyn Fn(&Order) -> Said,
    results: Writer,
    count: u32,
}

impl Calls<'_> {
    /// Does operations until one fails: the status of the last one.
    fn all(&mut self, reader: &mut Reader, count: u32) -> u32 {
        for _ in 0..count.min(MOST_CALLED as u32) {
            let Ok(operation) = reader.u32() else {
                return BAD_XDR;
            };
            self.count = self.count.saturating_add(1);
            let mut result = Writer::default();
            let status = self.one(operation, reader, &mut result).unwrap_or(BAD_XDR);
            self.results.u32(operation).u32(status);
            if status != 0 {
                return status;
            }
            self.results.append(&result);
        }
        0
    }

    fn one(
        &mut self,
        operation: u32,
        reader: &mut Reader,
        out: &mut Writer,
    ) -> Result<u32, Malformed> {
        match operation {
            SEQUENCE => sequence(reader, out)?,
            // We ask for no delegation; one that is recalled is not used.
            RECALL => {
                StateId::read(reader)?;
                reader.bool()?;
                reader.opaque(MOST_HANDLE)?;
            }
            RECALL_ANY => {
                let _ = reader.u32()?;
                reader.list(MOST_WORDS, Reader::u32)?;
            }
            RECALL_SLOT => return Ok((self.obey)(&Order::Slots(reader.u32()?)).status()),
            NOTIFY_DEVICE => {
                reader.list(MOST_CALLED, |change| {
                    change.list(MOST_WORDS, Reader::u32)?;
                    change.opaque(MOST_AUTH)
                })?;
                return Ok((self.obey)(&Order::Devices).status());
            }
            LAYOUT_RECALL => {
                let recall = layout_recall(reader)?;
                return Ok((self.obey)(&Order::Layouts(recall)).status());
            }
            _ => return Ok(NOT_SUPPORTED),
        }
        Ok(0)
    }
}

fn sequence(reader: &mut Reader, out: &mut Writer) -> Result<(), Malformed> {
    let session: [u8; 16] = reader.array()?;
    let (sequence, slot, highest) = (reader.u32()?, reader.u32()?, reader.u32()?);
    reader.bool()?;
    reader.list(MOST_CALLED, |list| {
        let _: [u8; 16] = list.array()?;
        list.list(MOST_CALLED, |call| Ok((call.u32()?, call.u32()?)))
    })?;
    out.fixed(&session).u32(sequence).u32(slot);
    out.u32(highest).u32(BACK_SLOTS.saturating_sub(1));
    Ok(())
}

fn layout_recall(reader: &mut Reader) -> Result<Recall, Malformed> {
    let (kind, mode, _) = (reader.u32()?, reader.u32()?, reader.bool()?);
    let of = match reader.u32()? {
        1 => {
            let handle = reader.opaque(MOST_HANDLE)?;
            let _ = (reader.u64()?, reader.u64()?);
            Recalled::File {
                handle,
                state: StateId::read(reader)?,
            }
        }
        2 => Recalled::FileSystem((reader.u64()?, reader.u64()?)),
        3 => Recalled::All,
        other => {
            return Err(Malformed::new(format!(
                "a recall has the unknown kind {other}"
            )));
        }
    };
    Ok(Recall { kind, mode, of })
}
