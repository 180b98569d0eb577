//! Responses: 8 bytes of header, then a body whose form the state decides ("Server Response Format"). Knows nothing
//! of the request that is answered.

use super::cursor::{Cursor, text};
use super::{WireError, codes};

/// A response's header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Header {
    /// The stream of the request that is answered.
    pub stream: u16,
    /// The state, one of `codes`.
    pub state: u16,
    /// Bytes of the body.
    pub length: u32,
}

impl Header {
    /// The bytes of a header.
    pub const SIZE: usize = 8;

    /// Reads a header.
    ///
    /// # Errors
    /// If there are fewer than 8 bytes, or if the length is negative.
    pub fn decode(bytes: &[u8]) -> Result<Self, WireError> {
        let mut cursor = Cursor::new(bytes);
        let header = Header {
            stream: cursor.u16()?,
            state: cursor.u16()?,
            length: cursor.u32()?,
        };
        if i32::try_from(header.length).is_err() {
            return Err(WireError::new("a response has a negative length"));
        }
        Ok(header)
    }

    /// Bytes of the body, as this machine counts.
    #[must_use]
    pub fn size(self) -> usize {
        usize::try_from(self.length).unwrap_or(usize::MAX)
    }

    /// Whether the body is data of the answer, and no [`Reply`].
    #[must_use]
    pub fn has_data(self) -> bool {
        self.state == codes::OK || self.state == codes::OK_SO_FAR
    }

    /// The bytes to send. For servers of tests.
    #[must_use]
    pub fn encode(self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(Self::SIZE);
        bytes.extend(self.stream.to_be_bytes());
        bytes.extend(self.state.to_be_bytes());
        bytes.extend(self.length.to_be_bytes());
        bytes
    }
}

/// A response that carries no data of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reply {
    /// The request failed.
    Error { code: u32, message: String },
    /// Ask another server; `host` is a whole URL if there is no port.
    Redirect {
        host: String,
        port: Option<u16>,
        opaque: String,
        token: String,
    },
    /// Ask again later.
    Wait { seconds: u32 },
    /// The response comes later, by itself.
    Promise { seconds: u32 },
    /// More credentials are wanted.
    MoreAuth(Vec<u8>),
    /// A response that was promised: its header, and the bytes of its body.
    Promised { header: Header, body: Vec<u8> },
    /// A message that changes nothing for a reader.
    Notice { action: u32 },
}

impl Reply {
    /// Reads the body of a response in one of the states that carry no data.
    ///
    /// # Errors
    /// If the body ends early, or if the state is none of the protocol's.
    pub fn decode(state: u16, body: &[u8]) -> Result<Self, WireError> {
        let mut cursor = Cursor::new(body);
        Ok(match state {
            codes::ERROR => Reply::Error {
                code: cursor.u32()?,
                message: text(cursor.rest()),
            },
            codes::REDIRECT => redirect(cursor)?,
            codes::WAIT => Reply::Wait {
                seconds: cursor.u32()?,
            },
            codes::WAIT_RESPONSE => Reply::Promise {
                seconds: cursor.u32()?,
            },
            codes::MORE_AUTH => Reply::MoreAuth(body.to_vec()),
            codes::ATTENTION => attention(cursor)?,
            _ => {
                return Err(WireError::new(format!(
                    "a response has the unknown state {state}"
                )));
            }
        })
    }
}

/// "kXR_redirect Response": host, opaque part and token between question marks. A port that is negative says that
/// the host is a URL.
fn redirect(mut cursor: Cursor) -> Result<Reply, WireError> {
    let port = i32::from_be_bytes(cursor.array()?);
    let target = text(cursor.rest());
    if port < 0 {
        return Ok(Reply::Redirect {
            host: target,
            port: None,
            opaque: String::new(),
            token: String::new(),
        });
    }
    let port = u16::try_from(port)
        .map_err(|_| WireError::new(format!("it redirects to the port {port}")))?;
    let mut parts = target.splitn(3, '?').map(str::to_owned);
    let mut part = || parts.next().unwrap_or_default();
    Ok(Reply::Redirect {
        host: part(),
        port: Some(port),
        opaque: part(),
        token: part(),
    })
}

/// "kXR_attn Response".
fn attention(mut cursor: Cursor) -> Result<Reply, WireError> {
    let action = cursor.u32()?;
    if action != codes::ASYNC_RESPONSE {
        return Ok(Reply::Notice { action });
    }
    cursor.bytes(4)?; // reserved
    let header = Header::decode(cursor.bytes(Header::SIZE)?)?;
    if usize::try_from(header.length).ok() != Some(cursor.rest().len()) {
        return Err(WireError::new(
            "a postponed response differs in length from its message",
        ));
    }
    Ok(Reply::Promised {
        header,
        body: cursor.rest().to_vec(),
    })
}
