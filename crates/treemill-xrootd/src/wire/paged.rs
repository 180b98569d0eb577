//! What precedes data with checksums: how much follows, and of where in the file ("kXR_status Response", "kXR_pgread
//! Response"). It has a checksum of its own. Knows no pages.

use super::cursor::Cursor;
use super::{WireError, codes};
use crc_fast::crc32_iscsi;

/// The body of a response in the state [`codes::STATUS`] to a `kXR_pgread`. The data follow it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Paged {
    /// The stream of the request that is answered.
    pub stream: u16,
    /// Whether the answer ends with these data.
    pub is_last: bool,
    /// Bytes that follow, checksums included.
    pub length: u32,
    /// Where in the file the first byte is.
    pub offset: u64,
}

impl Paged {
    /// Reads the body.
    ///
    /// # Errors
    /// If it ends early, differs from its checksum or belongs to another kind of request.
    pub fn decode(body: &[u8]) -> Result<Self, WireError> {
        let mut cursor = Cursor::new(body);
        let sum = cursor.u32()?;
        if sum != crc32_iscsi(cursor.rest()) {
            let what = "a response differs from its checksum";
            return Err(WireError::new(what));
        }
        let stream = cursor.u16()?;
        let [request, kind] = cursor.array()?;
        cursor.bytes(4)?; // reserved
        let (length, offset) = (cursor.u32()?, cursor.u64()?);
        let is_last = match kind {
            codes::FINAL => true,
            codes::PARTIAL => false,
            _ => {
                return Err(WireError::new(format!(
                    "it sends data of the unknown kind {kind}"
                )));
            }
        };
        if codes::FIRST.checked_add(request.into()) != Some(codes::PGREAD) {
            let what = format!("it sends data with checksums for the request {request}");
            return Err(WireError::new(what));
        }
        if i32::try_from(length).is_err() || i64::try_from(offset).is_err() {
            return Err(WireError::new(
                "it sends data with a negative length or place",
            ));
        }
        Ok(Paged {
            stream,
            is_last,
            length,
            offset,
        })
    }

    /// The body. For servers of tests.
    #[must_use]
    pub fn encode(self) -> Vec<u8> {
        let kind = if self.is_last {
            codes::FINAL
        } else {
            codes::PARTIAL
        };
        let [_, request] = codes::PGREAD.saturating_sub(codes::FIRST).to_be_bytes();
        let mut rest = self.stream.to_be_bytes().to_vec();
        rest.extend([request, kind, 0, 0, 0, 0]);
        rest.extend(self.length.to_be_bytes());
        rest.extend(self.offset.to_be_bytes());
        let mut body = crc32_iscsi(&rest).to_be_bytes().to_vec();
        body.extend(rest);
        body
    }
}
