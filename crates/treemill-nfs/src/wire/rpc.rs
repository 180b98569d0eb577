//! ONC RPC (RFC 5531): calls and replies, in records on a stream. Knows no program but by its number.

use super::xdr::{Malformed, Reader, Writer};
use crate::limits::{MOST_AUTH, MOST_FRAGMENTS};
use bytes::{Buf, Bytes, BytesMut};

const CALL: u32 = 0;
const REPLY: u32 = 1;
const VERSION: u32 = 2;
const LAST: u32 = 1 << 31;
const AUTH_NONE: u32 = 0;
const AUTH_SYS: u32 = 1;

/// The user that a call is made for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Credential {
    /// No user (AUTH_NONE).
    None,
    /// A user by numbers, which the server believes (AUTH_SYS).
    System {
        /// The name of this machine.
        machine: String,
        /// The user.
        uid: u32,
        /// The user's group.
        gid: u32,
        /// The user's other groups; 16 of them are told.
        gids: Vec<u32>,
    },
}

impl Credential {
    fn write(&self, out: &mut Writer) {
        match self {
            Credential::None => {
                out.u32(AUTH_NONE).u32(0);
            }
            Credential::System {
                machine,
                uid,
                gid,
                gids,
            } => {
                let mut body = Writer::default();
                let gids: Vec<u32> = gids.iter().take(16).copied().collect();
                body.u32(0).opaque(machine.as_bytes()).u32(*uid).u32(*gid);
                body.u32(u32::try_from(gids.len()).unwrap_or(0));
                for gid in gids {
                    body.u32(gid);
                }
                out.u32(AUTH_SYS).opaque(body.bytes());
            }
        }
    }
}

/// A procedure of a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Procedure {
    /// The program.
    pub program: u32,
    /// Its version.
    pub version: u32,
    /// The procedure.
    pub number: u32,
}

/// A call, as the record that is sent.
#[must_use]
pub fn call(xid: u32, procedure: Procedure, credential: &Credential, body: &Writer) -> Vec<u8> {
    let mut out = Writer::default();
    out.u32(xid).u32(CALL).u32(VERSION);
    out.u32(procedure.program)
        .u32(procedure.version)
        .u32(procedure.number);
    credential.write(&mut out);
    out.u32(AUTH_NONE).u32(0).append(body);
    record(out.bytes())
}

/// A reply that a call was carried out, as the record that is sent.
#[must_use]
pub fn reply(xid: u32, body: &Writer) -> Vec<u8> {
    let mut out = Writer::default();
    out.u32(xid).u32(REPLY).u32(0).u32(AUTH_NONE).u32(0).u32(0);
    record(out.append(body).bytes())
}

fn record(bytes: &[u8]) -> Vec<u8> {
    let length = u32::try_from(bytes.len()).unwrap_or(0);
    let mut record = (LAST | length).to_be_bytes().to_vec();
    record.extend(bytes);
    record
}

/// What comes on a connection.
#[derive(Debug, Clone)]
pub enum Message {
    /// The answer to a call of ours.
    Reply {
        /// The call's number.
        xid: u32,
        /// What the procedure gave, or why it was not carried out.
        body: Result<Reader, Refusal>,
    },
    /// A call of the server's, on the back channel.
    Call {
        /// Its number.
        xid: u32,
        /// What is called.
        procedure: Procedure,
        /// Its arguments.
        body: Reader,
    },
}

/// Why a call was not carried out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The credential was not taken (`auth_stat`).
    #[error(
        "the server refuses the user that AUTH_SYS names (authentication status {0}); it may require Kerberos, \
         which treemill does not support for NFS"
    )]
    Credential(u32),
    /// Another version of RPC.
    #[error("the server speaks another version of RPC")]
    Rpc,
    /// The server does not have this program, or not in this version.
    #[error("the server has no NFS of version 4 at this port")]
    Program,
    /// The arguments were not understood, or the like (`accept_stat`).
    #[error("the server did not understand the call (RPC status {0})")]
    Call(u32),
}

/// Reads what came as one record.
///
/// # Errors
/// If it is neither a call nor a reply.
pub fn message(record: Bytes) -> Result<Message, Malformed> {
    let mut reader = Reader::new(record);
    let xid = reader.u32()?;
    match reader.u32()? {
        CALL => {
            let _ = reader.u32()?; // the version
            let procedure = Procedure {
                program: reader.u32()?,
                version: reader.u32()?,
                number: reader.u32()?,
            };
            verifier(&mut reader)?;
            verifier(&mut reader)?;
            Ok(Message::Call {
                xid,
                procedure,
                body: reader,
            })
        }
        REPLY => {
            let refused = refusal(&mut reader)?;
            let body = refused.map_or(Ok(reader), Err);
            Ok(Message::Reply { xid, body })
        }
        other => Err(Malformed::new(format!(
            "a message of RPC has the unknown kind {other}"
        ))),
    }
}

fn verifier(reader: &mut Reader) -> Result<(), Malformed> {
    let _ = reader.u32()?;
    reader.opaque(MOST_AUTH).map(|_| ())
}

fn refusal(reader: &mut Reader) -> Result<Option<Refusal>, Malformed> {
    if reader.u32()? != 0 {
        return Ok(Some(match reader.u32()? {
            1 => Refusal::Credential(reader.u32()?),
            _ => Refusal::Rpc,
        }));
    }
    verifier(reader)?;
    Ok(match reader.u32()? {
        0 => None,
        1 | 2 => Some(Refusal::Program),
        other => Some(Refusal::Call(other)),
    })
}

/// Puts records together from what comes in pieces.
#[derive(Debug)]
pub struct Records {
    most: usize,
    /// Fragments of a record whose last one has not come.
    begun: Option<BytesMut>,
    fragments: usize,
}

impl Records {
    /// Records of `most` bytes at most.
    #[must_use]
    pub fn new(most: usize) -> Self {
        Records {
            most,
            begun: None,
            fragments: 0,
        }
    }

    /// The next record, if it is whole; it is taken from the buffer's front.
    ///
    /// # Errors
    /// If a record is larger than it may be, or comes in too many fragments.
    pub fn next(&mut self, buffer: &mut BytesMut) -> Result<Option<Bytes>, Malformed> {
        loop {
            let Some(mark) = buffer
                .first_chunk::<4>()
                .map(|mark| u32::from_be_bytes(*mark))
            else {
                return Ok(None);
            };
            let length = usize::try_from(mark & !LAST).unwrap_or(usize::MAX);
            let before = self.begun.as_ref().map_or(0, BytesMut::len);
            self.fragments = self.fragments.saturating_add(1);
            if before.saturating_add(length) > self.most || self.fragments > MOST_FRAGMENTS {
                return Err(Malformed::new(format!(
                    "a record of more than {} bytes, or in more than {MOST_FRAGMENTS} fragments",
                    self.most
                )));
            }
            if buffer.len() < length.saturating_add(4) {
                self.fragments = self.fragments.saturating_sub(1); // it is looked at again
                return Ok(None);
            }
            buffer.advance(4);
            let fragment = buffer.split_to(length);
            let whole = match self.begun.take() {
                None => fragment,
                Some(mut begun) => {
                    begun.extend_from_slice(&fragment);
                    begun
                }
            };
            if mark & LAST != 0 {
                self.fragments = 0;
                return Ok(Some(whole.freeze()));
            }
            self.begun = Some(whole);
        }
    }

    /// Bytes of the record at the buffer's front, without what says how many they are, if it has one fragment and is not
    /// larger than it may be.
    #[must_use]
    pub fn only(&self, buffer: &[u8]) -> Option<usize> {
        let mark = u32::from_be_bytes(*buffer.first_chunk::<4>()?);
        let length = usize::try_from(mark & !LAST).ok()?;
        let is_only = mark & LAST != 0 && self.begun.is_none() && self.fragments == 0;
        (is_only && length <= self.most).then_some(length)
    }

    /// Bytes that the record at the buffer's front still wants, as far as that is known.
    #[must_use]
    pub fn wanted(&self, buffer: &BytesMut) -> usize {
        let mark = buffer
            .first_chunk::<4>()
            .map(|mark| u32::from_be_bytes(*mark));
        let length = mark.map_or(0, |mark| usize::try_from(mark & !LAST).unwrap_or(0));
        length
            .saturating_add(4)
            .saturating_sub(buffer.len())
            .min(self.most)
    }
}
