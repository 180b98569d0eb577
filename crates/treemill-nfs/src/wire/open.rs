//! OPEN for reading (RFC 8881, section 18.16). Knows no session.

use super::attributes::read_set;
use super::compound::{Failure, OPEN, Operations, Results, StateId};
use super::xdr::{Malformed, Reader};
use crate::limits::MOST_NAME;

const ACCESS_READ: u32 = 1;
const WANT_NO_DELEGATION: u32 = 0x400;
const DENY_NONE: u32 = 0;
const NO_CREATE: u32 = 0;

/// What is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Claim {
    /// The file of the current handle (CLAIM_FH).
    Here,
    /// The current file, which was open before the server restarted (CLAIM_PREVIOUS).
    Again,
}

impl Operations {
    /// Opens the current file for reading, for a client and an owner of its own.
    #[must_use]
    pub fn open(mut self, claim: Claim, client: u64, owner: &[u8]) -> Self {
        let out = self.operation(OPEN);
        out.u32(0)
            .u32(ACCESS_READ | WANT_NO_DELEGATION)
            .u32(DENY_NONE);
        out.u64(client).opaque(owner).u32(NO_CREATE);
        match claim {
            Claim::Here => out.u32(4),
            Claim::Again => out.u32(1).u32(0),
        };
        self
    }
}

impl Results {
    /// Reads the result of OPEN: the state. A delegation is skipped.
    ///
    /// # Errors
    /// If the operation has failed; if the answer is malformed.
    pub fn opened(&mut self) -> Result<StateId, Failure> {
        let reader = self.next(OPEN)?;
        let state = StateId::read(reader)?;
        let _ = (reader.bool()?, reader.u64()?, reader.u64()?);
        let _ = reader.u32()?;
        read_set(reader)?;
        delegation(reader)?;
        Ok(state)
    }
}

fn delegation(reader: &mut Reader) -> Result<(), Malformed> {
    let kind = reader.u32()?;
    match kind {
        0 => {}
        1 | 2 => {
            StateId::read(reader)?;
            let _ = reader.bool()?;
            if kind == 2 {
                let _ = (reader.u32()?, reader.u64()?); // a limit of bytes, or of blocks, has 8 bytes
            }
            let _ = (reader.u32()?, reader.u32()?, reader.u32()?);
            reader.opaque(MOST_NAME)?;
        }
        3 => {
            // Contention and resources say whether the server will tell of a change.
            if matches!(reader.u32()?, 1 | 2) {
                let _ = reader.bool()?;
            }
        }
        other => {
            return Err(Malformed::new(format!(
                "a delegation has the unknown kind {other}"
            )));
        }
    }
    Ok(())
}
