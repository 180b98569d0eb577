//! Bodies of responses with data: what the answered request makes of them. Knows no states.

use super::cursor::{Cursor, text};
use super::{Handle, WireError, codes};
use treemill_source::Checksums;

/// What a server says of itself ("kXR_protocol Request").
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Protocol {
    /// The version that the server speaks, as three digits.
    pub version: u32,
    /// What it is and does, by bits.
    pub flags: u32,
}

impl Protocol {
    /// # Errors
    /// If the body ends early. What security is wanted follows; the login says it again.
    pub fn decode(body: &[u8]) -> Result<Self, WireError> {
        let mut cursor = Cursor::new(body);
        Ok(Protocol {
            version: cursor.u32()?,
            flags: cursor.u32()?,
        })
    }

    /// Whether it knows servers that have files, and has none itself.
    #[must_use]
    pub fn is_manager(&self) -> bool {
        self.flags & codes::IS_MANAGER != 0
    }

    /// Whether it gives files of other servers: what it says of a path and of an open file may come from different ones.
    #[must_use]
    pub fn is_proxy(&self) -> bool {
        self.flags & codes::IS_PROXY != 0
    }

    /// Whether the server gives pages with checksums (`kXR_pgread`).
    #[must_use]
    pub fn has_pages(&self) -> bool {
        self.version >= codes::PAGES_SINCE && self.flags & codes::HAS_PAGES != 0
    }
}

/// What a login gives ("kXR_login Request").
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Login {
    /// The authentications that the server takes, as `&P=unix&P=host`; empty if it wants none.
    pub security: String,
}

impl Login {
    /// # Errors
    /// If the body is shorter than the session's 16 bytes (very old servers send none at all).
    pub fn decode(body: &[u8]) -> Result<Self, WireError> {
        let mut cursor = Cursor::new(body);
        if !cursor.is_empty() {
            cursor.bytes(16)?;
        }
        Ok(Login {
            security: text(cursor.rest()),
        })
    }
}

/// The status of a file or folder ("kXR_stat Request").
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Status {
    /// Bytes of the file.
    pub size: u64,
    /// What it is, by bits.
    pub flags: u32,
    /// Seconds from 1970 to its last change.
    pub changed: i64,
}

impl Status {
    /// Reads `id size flags mtime`, and more that newer servers add.
    ///
    /// # Errors
    /// If any of the three numbers is missing or is none.
    pub fn decode(body: &[u8]) -> Result<Self, WireError> {
        Self::parse(&text(body))
    }

    fn parse(line: &str) -> Result<Self, WireError> {
        let wrong = || WireError::new(format!("{line:?} is not the status of a file"));
        let mut words = line.split_ascii_whitespace().skip(1);
        let mut next = || words.next().ok_or_else(wrong);
        Ok(Status {
            size: next()?.parse().map_err(|_| wrong())?,
            flags: next()?.parse().map_err(|_| wrong())?,
            changed: next()?.parse().map_err(|_| wrong())?,
        })
    }

    /// Whether it is a folder.
    #[must_use]
    pub fn is_folder(&self) -> bool {
        self.flags & codes::IS_FOLDER != 0
    }

    /// Whether the file must first be brought from tape.
    #[must_use]
    pub fn is_offline(&self) -> bool {
        self.flags & codes::IS_OFFLINE != 0
    }
}

/// An open file ("kXR_open Request").
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Opened {
    /// What later requests call the file.
    pub handle: Handle,
    /// Its status, if the server sent it along.
    pub status: Option<Status>,
}

impl Opened {
    /// # Errors
    /// If the body ends early, or if its status is none.
    pub fn decode(body: &[u8]) -> Result<Self, WireError> {
        let mut cursor = Cursor::new(body);
        let handle = cursor.array()?;
        if cursor.rest().len() <= 8 {
            return Ok(Opened {
                handle,
                status: None,
            });
        }
        if cursor.u32()? != 0 {
            return Err(WireError::new("it sends the file compressed"));
        }
        cursor.bytes(4)?;
        Ok(Opened {
            handle,
            status: Some(Status::decode(cursor.rest())?),
        })
    }
}

/// One entry of a folder ("kXR_dirlist Request").
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Its name in the folder.
    pub name: String,
    /// Its status, if the server sends it.
    pub status: Option<Status>,
}

impl Entry {
    /// Reads a listing. Names and statuses alternate if it starts with an entry `.` of the status `0 0 0 0`.
    ///
    /// # Errors
    /// If a status is none.
    pub fn decode_all(body: &[u8]) -> Result<Vec<Self>, WireError> {
        let listing = text(body);
        let Some(pairs) = listing.strip_prefix(".\n0 0 0 0\n") else {
            let names = listing
                .lines()
                .filter(|name| !name.is_empty() && *name != "0 0 0 0");
            return Ok(names
                .map(|name| Entry {
                    name: name.to_owned(),
                    status: None,
                })
                .collect());
        };
        let mut lines = pairs.lines();
        let mut entries = Vec::new();
        while let Some(name) = lines.next() {
            let status = Some(Status::parse(lines.next().unwrap_or_default())?);
            entries.push(Entry {
                name: name.to_owned(),
                status,
            });
        }
        Ok(entries)
    }
}

/// One place of a file ("kXR_locate Request").
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Location {
    /// `host:port`.
    pub server: String,
    /// Whether it is a manager, which knows others, and no server.
    pub is_manager: bool,
    /// Whether the file is yet to be brought there.
    pub is_pending: bool,
}

impl Location {
    /// Reads a list of words such as `Sr[::1]:1094`.
    ///
    /// # Errors
    /// If a word has another form.
    pub fn decode_all(body: &[u8]) -> Result<Vec<Self>, WireError> {
        let list = text(body);
        let one = |word: &str| {
            let mut letters = word.chars();
            let kind = letters.next().filter(|kind| "SsMm".contains(*kind));
            let access = letters.next().filter(|access| "rw".contains(*access));
            let (Some(kind), Some(_)) = (kind, access) else {
                return Err(WireError::new(format!("{word:?} is not a location")));
            };
            Ok(Location {
                server: letters.as_str().to_owned(),
                is_manager: kind.eq_ignore_ascii_case(&'m'),
                is_pending: kind.is_ascii_lowercase(),
            })
        };
        list.split_ascii_whitespace().map(one).collect()
    }
}

/// Takes the answer of a vectored read apart: the data of each range, in the order that was asked for.
///
/// # Errors
/// If handle, length or offset of any range are not those asked for, or if there are too few or too many bytes.
pub fn segments<'a>(
    body: &'a [u8],
    asked: &[(Handle, u32, u64)],
) -> Result<Vec<&'a [u8]>, WireError> {
    let mut cursor = Cursor::new(body);
    let mut found = Vec::with_capacity(asked.len());
    for &(handle, length, offset) in asked {
        let got: (Handle, u32, u64) = (cursor.array()?, cursor.u32()?, cursor.u64()?);
        if got != (handle, length, offset) {
            return Err(WireError::new(format!(
                "it sends a range of {} bytes at {} where treemill asked for {length} at {offset}",
                got.1, got.2
            )));
        }
        let size = usize::try_from(length).map_err(|_| WireError::new("a range is too long"))?;
        found.push(cursor.bytes(size)?);
    }
    if cursor.is_empty() {
        return Ok(found);
    }
    Err(WireError::new(format!(
        "{} bytes follow the end of a vectored read",
        cursor.rest().len()
    )))
}

/// A file's checksum, `adler32 091e01de`; none if it is one that is not known ("kXR_query Checksum Request").
#[must_use]
pub fn checksums(body: &[u8]) -> Checksums {
    let answer = text(body);
    let mut words = answer.split_ascii_whitespace();
    let mut found = Checksums::default();
    if let (Some(algorithm), Some(value)) = (words.next(), words.next()) {
        found.add(algorithm, value);
    }
    found
}

/// Values of a configuration, one a line in the order asked for; `None` where the server repeats the name, which says
/// that it does not know it, and where there is none ("kXR_query Request").
#[must_use]
pub fn values(body: &[u8], names: &[&str]) -> Vec<Option<String>> {
    let answer = text(body);
    let mut lines = answer.lines();
    let value = |name: &&str| {
        let line = lines.next()?.trim();
        (line != *name && !line.is_empty()).then(|| line.to_owned())
    };
    names.iter().map(value).collect()
}
