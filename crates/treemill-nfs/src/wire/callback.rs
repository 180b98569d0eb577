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

/// Layouts that the server wants back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Recall {
    /// Those of one file, by its handle.
    File {
        /// The file.
        handle: Bytes,
        /// The layout.
        state: StateId,
    },
    /// All.
    All,
}

/// What one call wants, and the body of its answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Called {
    /// What is to be given back.
    pub recalls: Vec<Recall>,
    /// The body of the reply.
    pub answer: Writer,
}

/// Answers a call. `has` says whether we have what is recalled.
#[must_use]
pub fn answer(procedure: Procedure, body: &Reader, has: impl Fn(&Recall) -> bool) -> Called {
    let nothing = Called {
        recalls: Vec::new(),
        answer: Writer::default(),
    };
    if procedure.program != CALLBACK || procedure.number == 0 {
        return nothing;
    }
    let mut reader = body.clone();
    let mut calls = Calls {
        has: &has,
        recalls: Vec::new(),
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
    Called {
        recalls: calls.recalls,
        answer,
    }
}

fn front(reader: &mut Reader) -> Result<(Bytes, u32), Malformed> {
    let tag = reader.opaque(MOST_NAME)?;
    let _ = (reader.u32()?, reader.u32()?);
    Ok((tag, reader.u32()?))
}

struct Calls<'a> {
    has: &'a dyn Fn(&Recall) -> bool,
    recalls: Vec<Recall>,
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
            RECALL_SLOT => {
                let _ = reader.u32()?;
            }
            NOTIFY_DEVICE => {
                reader.list(MOST_CALLED, |change| {
                    change.list(MOST_WORDS, Reader::u32)?;
                    change.opaque(MOST_AUTH)
                })?;
            }
            LAYOUT_RECALL => {
                let recall = layout_recall(reader)?;
                if !(self.has)(&recall) {
                    return Ok(NO_MATCHING_LAYOUT);
                }
                self.recalls.push(recall);
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
    let _ = (reader.u32()?, reader.u32()?, reader.bool()?);
    Ok(match reader.u32()? {
        1 => {
            let handle = reader.opaque(MOST_HANDLE)?;
            let _ = (reader.u64()?, reader.u64()?);
            Recall::File {
                handle,
                state: StateId::read(reader)?,
            }
        }
        2 => {
            let _ = (reader.u64()?, reader.u64()?);
            Recall::All
        }
        3 => Recall::All,
        other => return Err(Malformed::new(format!("a recall of kind {other}"))),
    })
}
