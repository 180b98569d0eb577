//! The operations that make and keep a session (RFC 8881, sections 18.35 to 18.51). Knows no file.

use super::compound::{Failure, Operations, Results};
use super::xdr::{Malformed, Reader, Writer};
use crate::limits::{
    BACK_SLOTS, MOST_ANSWER, MOST_BACK, MOST_OPAQUE, MOST_OPERATIONS, MOST_REQUEST, SLOTS,
};

const BIND_CONN_TO_SESSION: u32 = 41;
const CREATE_SESSION: u32 = 43;
const DESTROY_SESSION: u32 = 44;
const EXCHANGE_ID: u32 = 42;
const DESTROY_CLIENTID: u32 = 57;
const FREE_STATEID: u32 = 45;
pub(crate) const RECLAIM_COMPLETE: u32 = 58;
pub(crate) const SEQUENCE: u32 = 53;

const NO_PROTECTION: u32 = 0;
const WITH_BACK_CHANNEL: u32 = 2;
/// EXCHGID4_FLAG_USE_PNFS_DS.
pub const AS_DATA_SERVER: u32 = 0x4_0000;
/// EXCHGID4_FLAG_USE_PNFS_MDS: the server gives layouts.
pub const GIVES_LAYOUTS: u32 = 0x2_0000;
/// CDFC4_FORE: a connection that carries requests, and no calls of the server.
const FORE: u32 = 1;
/// The number of our program on the back channel.
pub const CALLBACK: u32 = 0x4000_0000;

/// A slot of a session, and the number of its next request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Slot {
    /// The slot's number.
    pub number: u32,
    /// The request's number in it.
    pub sequence: u32,
    /// The highest slot that is in use.
    pub highest: u32,
}

impl Operations {
    /// Says which client this is, and since when: another verifier means that it has restarted.
    #[must_use]
    pub fn exchange_id(mut self, owner: &[u8], verifier: [u8; 8], flags: u32) -> Self {
        let out = self.operation(EXCHANGE_ID);
        out.fixed(&verifier).opaque(owner);
        out.u32(flags).u32(NO_PROTECTION).u32(0);
        self
    }

    /// Makes a session.
    #[must_use]
    pub fn create_session(mut self, client: u64, sequence: u32) -> Self {
        let out = self.operation(CREATE_SESSION);
        out.u64(client).u32(sequence).u32(WITH_BACK_CHANNEL);
        let fore = Channel {
            most_request: MOST_REQUEST,
            most_answer: MOST_ANSWER,
            operations: MOST_OPERATIONS,
            slots: SLOTS,
        };
        let back = Channel {
            most_request: MOST_BACK,
            most_answer: MOST_BACK,
            operations: 8,
            slots: BACK_SLOTS,
        };
        fore.write(out);
        back.write(out);
        // The server calls back as no user (AUTH_NONE).
        out.u32(CALLBACK).u32(1).u32(0);
        self
    }

    /// Makes the connection that it comes on one of the session's, for requests.
    #[must_use]
    pub fn bind_connection(mut self, session: &[u8; 16]) -> Self {
        let out = self.operation(BIND_CONN_TO_SESSION);
        out.fixed(session).u32(FORE).bool(false);
        self
    }

    /// Ends a session.
    #[must_use]
    pub fn destroy_session(mut self, session: &[u8; 16]) -> Self {
        self.operation(DESTROY_SESSION).fixed(session);
        self
    }

    /// Says that a client is not there any more, after its sessions and all that it had open.
    #[must_use]
    pub fn destroy_client(mut self, client: u64) -> Self {
        self.operation(DESTROY_CLIENTID).u64(client);
        self
    }

    /// Begins a request in a slot.
    #[must_use]
    pub fn sequence(mut self, session: &[u8; 16], slot: Slot) -> Self {
        let out = self.operation(SEQUENCE);
        out.fixed(session).u32(slot.sequence).u32(slot.number);
        out.u32(slot.highest).bool(false);
        self
    }

    /// Says that nothing else of a former state is wanted back.
    #[must_use]
    pub fn reclaim_complete(mut self) -> Self {
        self.operation(RECLAIM_COMPLETE).bool(false);
        self
    }

    /// Lets go of a state that the server has taken away.
    #[must_use]
    pub fn free(mut self, state: super::compound::StateId) -> Self {
        state.write(self.operation(FREE_STATEID));
        self
    }
}

/// What a server says of itself and of this client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Exchanged {
    /// The client's number.
    pub client: u64,
    /// The number of its first session.
    pub sequence: u32,
    /// What the server is.
    pub flags: u32,
}

/// One direction of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Channel {
    /// Bytes of a request, at most.
    pub most_request: u32,
    /// Bytes of an answer, at most.
    pub most_answer: u32,
    /// Operations of a request, at most.
    pub operations: u32,
    /// Requests at once.
    pub slots: u32,
}

impl Channel {
    fn write(&self, out: &mut Writer) {
        out.u32(0).u32(self.most_request).u32(self.most_answer);
        out.u32(0).u32(self.operations).u32(self.slots).u32(0);
    }

    fn read(reader: &mut Reader) -> Result<Self, Malformed> {
        let _ = reader.u32()?;
        let most_request = reader.u32()?;
        let most_answer = reader.u32()?;
        let _ = reader.u32()?;
        let channel = Channel {
            most_request,
            most_answer,
            operations: reader.u32()?,
            slots: reader.u32()?,
        };
        reader.list(1, Reader::u32)?;
        Ok(channel)
    }
}

/// A session that was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Created {
    /// Its name.
    pub session: [u8; 16],
    /// What this client's requests may be.
    pub fore: Channel,
}

/// What a server says with each answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sequenced {
    /// The slot that is answered.
    pub slot: u32,
    /// The highest slot that the client should use.
    pub target: u32,
    /// What the client should know of its state.
    pub flags: u32,
}

impl Results {
    /// Reads the result of EXCHANGE_ID.
    ///
    /// # Errors
    /// If the operation has failed; if the answer is malformed. So do all that follow.
    pub fn exchanged(&mut self) -> Result<Exchanged, Failure> {
        let reader = self.next(EXCHANGE_ID)?;
        let found = Exchanged {
            client: reader.u64()?,
            sequence: reader.u32()?,
            flags: reader.u32()?,
        };
        if reader.u32()? != NO_PROTECTION {
            return Err(
                Malformed::new("it protects state in a way that treemill did not ask for").into(),
            );
        }
        Ok(found) // the names of the server follow, and are the last
    }

    /// Reads the result of CREATE_SESSION.
    ///
    /// # Errors
    /// See `exchanged`.
    pub fn created(&mut self) -> Result<Created, Failure> {
        let reader = self.next(CREATE_SESSION)?;
        let session = reader.array()?;
        let _ = (reader.u32()?, reader.u32()?);
        let fore = Channel::read(reader)?;
        Channel::read(reader)?;
        Ok(Created { session, fore })
    }

    /// Reads the result of BIND_CONN_TO_SESSION.
    ///
    /// # Errors
    /// See `exchanged`.
    pub fn bound(&mut self) -> Result<(), Failure> {
        let reader = self.next(BIND_CONN_TO_SESSION)?;
        let _: [u8; 16] = reader.array()?;
        let _ = (reader.u32()?, reader.bool()?);
        Ok(())
    }

    /// Reads the result of SEQUENCE.
    ///
    /// # Errors
    /// See `exchanged`.
    pub fn sequenced(&mut self) -> Result<Sequenced, Failure> {
        let reader = self.next(SEQUENCE)?;
        let _: [u8; 16] = reader.array()?;
        let _ = reader.u32()?;
        let slot = reader.u32()?;
        let _ = reader.u32()?;
        Ok(Sequenced {
            slot,
            target: reader.u32()?,
            flags: reader.u32()?,
        })
    }

    /// Reads the result of RECLAIM_COMPLETE: its status.
    ///
    /// # Errors
    /// If the answer is malformed.
    pub fn complete(&mut self) -> Result<u32, Malformed> {
        self.status(RECLAIM_COMPLETE)
    }
}

/// The owner of a client's name, which is not longer than it may be.
#[must_use]
pub fn owner(text: &str) -> Vec<u8> {
    text.bytes().take(MOST_OPAQUE).collect()
}
