//! Requests: 24 bytes of header and parameters, then data ("Client Request Format"). Knows no answers.

use super::cursor::Cursor;
use super::{Handle, WireError, codes};
use std::fmt;

/// A request. Paths carry their opaque part after `?`.
#[derive(Clone, PartialEq, Eq)]
pub enum Request {
    /// Which protocol the server speaks, and what security it wants. With TLS, what follows the answer is encrypted.
    Protocol { with_tls: bool },
    /// Begins a session: the process and the user's name (8 bytes, padded with NUL), and a token for the server.
    Login {
        process: u32,
        user: [u8; 8],
        token: Vec<u8>,
    },
    /// Credentials for one authentication.
    Auth { kind: [u8; 4], credentials: Vec<u8> },
    /// Opens a file to read it.
    Open { path: String },
    /// Closes a file.
    Close { handle: Handle },
    /// Reads one range.
    Read {
        handle: Handle,
        offset: u64,
        length: u32,
    },
    /// Reads one range, with a checksum for each page; once more if the checksums were wrong.
    Pages {
        handle: Handle,
        offset: u64,
        length: u32,
        again: bool,
    },
    /// Reads many ranges.
    Vector { ranges: Vec<(Handle, u32, u64)> },
    /// The status of a path.
    Stat { path: String },
    /// What a folder holds, with the status of each entry.
    List { path: String },
    /// Where a file is; with `*` before the path, all servers that may have something there. `at_once`: those that are
    /// known now are enough.
    Locate { path: String, at_once: bool },
    /// The checksum of a file.
    Checksum { path: String },
    /// Values of the server's configuration, by names.
    Config { names: String },
    /// Asks whether the server is there.
    Ping,
}

impl fmt::Debug for Request {
    /// The code only: paths and credentials may hold secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Request({})", self.code())
    }
}

impl Request {
    /// The request's number.
    #[must_use]
    pub fn code(&self) -> u16 {
        match self {
            Request::Protocol { .. } => codes::PROTOCOL,
            Request::Login { .. } => codes::LOGIN,
            Request::Auth { .. } => codes::AUTH,
            Request::Open { .. } => codes::OPEN,
            Request::Close { .. } => codes::CLOSE,
            Request::Read { .. } => codes::READ,
            Request::Pages { .. } => codes::PGREAD,
            Request::Vector { .. } => codes::READV,
            Request::Stat { .. } => codes::STAT,
            Request::List { .. } => codes::DIRLIST,
            Request::Locate { .. } => codes::LOCATE,
            Request::Checksum { .. } | Request::Config { .. } => codes::QUERY,
            Request::Ping => codes::PING,
        }
    }

    /// Bytes of a file that the request asks for; 0 if it asks for something else.
    #[must_use]
    pub fn file_bytes(&self) -> u64 {
        match self {
            Request::Read { length, .. } | Request::Pages { length, .. } => u64::from(*length),
            Request::Vector { ranges } => {
                let lengths = ranges.iter().map(|(_, length, _)| u64::from(*length));
                lengths.fold(0, u64::saturating_add)
            }
            _ => 0,
        }
    }

    /// The bytes to send.
    ///
    /// # Errors
    /// If the data is longer than the 31 bits of its length can say.
    pub fn encode(&self, stream: u16) -> Result<Vec<u8>, WireError> {
        let data = self.data();
        let length = i32::try_from(data.len()).map_err(|_| {
            WireError::new(format!("a request of {} bytes is too long", data.len()))
        })?;
        let mut bytes = Vec::with_capacity(data.len().saturating_add(24));
        bytes.extend(stream.to_be_bytes());
        bytes.extend(self.code().to_be_bytes());
        bytes.extend(self.parameters());
        bytes.extend(length.to_be_bytes());
        bytes.extend(data);
        Ok(bytes)
    }

    /// The 16 bytes between a request's number and the length of its data; what is not set is reserved.
    fn parameters(&self) -> [u8; 16] {
        let zeros = |count: usize| std::iter::repeat_n(0, count);
        let mut bytes = Vec::with_capacity(16);
        match self {
            Request::Protocol { with_tls } => {
                let tls = if *with_tls { codes::TLS_WANTED } else { 0 };
                bytes.extend(codes::VERSION.to_be_bytes());
                bytes.extend([codes::SECURITY_WANTED | tls, codes::LOGIN_FOLLOWS]);
            }
            Request::Login { process, user, .. } => {
                bytes.extend(process.to_be_bytes());
                bytes.extend(user);
                bytes.extend([0, codes::ABILITY, codes::CAPABILITY]);
            }
            Request::Auth { kind, .. } => {
                bytes.extend(zeros(12));
                bytes.extend(kind);
            }
            Request::Open { .. } => {
                bytes.extend(zeros(2));
                bytes.extend(codes::OPEN_TO_READ.to_be_bytes());
            }
            Request::Close { handle } => bytes.extend(handle),
            Request::Read {
                handle,
                offset,
                length,
            }
            | Request::Pages {
                handle,
                offset,
                length,
                ..
            } => {
                bytes.extend(handle);
                bytes.extend(offset.to_be_bytes());
                bytes.extend(length.to_be_bytes());
            }
            Request::List { .. } => {
                bytes.extend(zeros(15));
                bytes.push(codes::WITH_STATUS);
            }
            Request::Locate { at_once, .. } => {
                let now = if *at_once { codes::AT_ONCE } else { 0 };
                bytes.extend((codes::BY_NAME | now).to_be_bytes());
            }
            Request::Checksum { .. } => bytes.extend(codes::QUERY_CHECKSUM.to_be_bytes()),
            Request::Config { .. } => bytes.extend(codes::QUERY_CONFIG.to_be_bytes()),
            Request::Vector { .. } | Request::Stat { .. } | Request::Ping => {}
        }
        let mut all = [0; 16];
        all.iter_mut().zip(bytes).for_each(|(to, from)| *to = from);
        all
    }

    fn data(&self) -> Vec<u8> {
        match self {
            Request::Login { token, .. } => token.clone(),
            Request::Auth { credentials, .. } => credentials.clone(),
            Request::Open { path }
            | Request::Stat { path }
            | Request::List { path }
            | Request::Locate { path, .. }
            | Request::Checksum { path } => path.clone().into_bytes(),
            Request::Config { names } => names.clone().into_bytes(),
            // The first byte names the connection to answer on: this one.
            Request::Pages { again: true, .. } => vec![0, codes::PAGE_AGAIN],
            Request::Vector { ranges } => {
                let mut list = Vec::with_capacity(ranges.len().saturating_mul(16));
                for (handle, length, offset) in ranges {
                    list.extend(handle);
                    list.extend(length.to_be_bytes());
                    list.extend(offset.to_be_bytes());
                }
                list
            }
            Request::Protocol { .. }
            | Request::Close { .. }
            | Request::Read { .. }
            | Request::Pages { .. }
            | Request::Ping => Vec::new(),
        }
    }

    /// Reads one request from the front of `bytes`: its stream, the request, and how many bytes it took. For servers
    /// of tests.
    ///
    /// # Errors
    /// If the bytes end early, or if the request is none of those above.
    pub fn decode(bytes: &[u8]) -> Result<(u16, Request, usize), WireError> {
        let mut cursor = Cursor::new(bytes);
        let (stream, code) = (cursor.u16()?, cursor.u16()?);
        let mut fixed = Cursor::new(cursor.bytes(16)?);
        let length = i32::from_be_bytes(cursor.array()?);
        let length = usize::try_from(length)
            .map_err(|_| WireError::new(format!("a length of data of {length} bytes")))?;
        let data = cursor.bytes(length)?;
        let text = || {
            String::from_utf8(data.to_vec()).map_err(|_| WireError::new("a path that is no UTF-8"))
        };
        let request = match code {
            codes::PROTOCOL => {
                fixed.u32()?;
                let [flags, _] = fixed.array()?;
                let with_tls = flags & codes::TLS_WANTED == codes::TLS_WANTED;
                Request::Protocol { with_tls }
            }
            codes::LOGIN => Request::Login {
                process: fixed.u32()?,
                user: fixed.array()?,
                token: data.to_vec(),
            },
            codes::AUTH => {
                fixed.bytes(12)?;
                Request::Auth {
                    kind: fixed.array()?,
                    credentials: data.to_vec(),
                }
            }
            codes::OPEN => Request::Open { path: text()? },
            codes::CLOSE => Request::Close {
                handle: fixed.array()?,
            },
            codes::READ => Request::Read {
                handle: fixed.array()?,
                offset: fixed.u64()?,
                length: fixed.u32()?,
            },
            codes::PGREAD => Request::Pages {
                handle: fixed.array()?,
                offset: fixed.u64()?,
                length: fixed.u32()?,
                again: data
                    .get(1)
                    .is_some_and(|flags| flags & codes::PAGE_AGAIN != 0),
            },
            codes::READV => Request::Vector {
                ranges: ranges(data)?,
            },
            codes::STAT => Request::Stat { path: text()? },
            codes::DIRLIST => Request::List { path: text()? },
            codes::LOCATE => Request::Locate {
                path: text()?,
                at_once: fixed.u16()? & codes::AT_ONCE != 0,
            },
            codes::QUERY => match fixed.u16()? {
                codes::QUERY_CHECKSUM => Request::Checksum { path: text()? },
                codes::QUERY_CONFIG => Request::Config { names: text()? },
                kind => return Err(WireError::new(format!("no query has the number {kind}"))),
            },
            codes::PING => Request::Ping,
            _ => return Err(WireError::new(format!("no request has the number {code}"))),
        };
        Ok((stream, request, length.saturating_add(24)))
    }
}

fn ranges(data: &[u8]) -> Result<Vec<(Handle, u32, u64)>, WireError> {
    let mut cursor = Cursor::new(data);
    let mut ranges = Vec::new();
    while !cursor.is_empty() {
        ranges.push((cursor.array()?, cursor.u32()?, cursor.u64()?));
    }
    Ok(ranges)
}
