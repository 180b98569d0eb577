//! A COMPOUND: several operations in one call (RFC 8881, section 16.2), and the results of each in the same order.
//! Knows no session.

use super::attributes::{Attributes, write_set};
use super::status::{OK, words};
use super::xdr::{Malformed, Reader, Writer};
use crate::limits::{MOST_AT_ONCE, MOST_HANDLE, MOST_NAME};
use crate::room::Room;
use bytes::Bytes;

pub(crate) const CLOSE: u32 = 4;
pub(crate) const GETATTR: u32 = 9;
pub(crate) const GETFH: u32 = 10;
pub(crate) const LOOKUP: u32 = 15;
pub(crate) const OPEN: u32 = 18;
pub(crate) const PUTFH: u32 = 22;
pub(crate) const PUTROOTFH: u32 = 24;
pub(crate) const READ: u32 = 25;
pub(crate) const READDIR: u32 = 26;
pub(crate) const READLINK: u32 = 27;

/// Names what a file is open for, at the server that has given it (stateid4).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct StateId {
    /// How often it has changed; zero means the newest.
    pub sequence: u32,
    /// The name itself.
    pub other: [u8; 12],
}

impl StateId {
    /// The state that an operation before in the same request has made.
    pub const CURRENT: StateId = StateId {
        sequence: 1,
        other: [0; 12],
    };

    /// The same state, as it is when the request comes.
    #[must_use]
    pub fn newest(self) -> Self {
        StateId {
            sequence: 0,
            ..self
        }
    }

    pub(crate) fn read(reader: &mut Reader) -> Result<Self, Malformed> {
        Ok(StateId {
            sequence: reader.u32()?,
            other: reader.array()?,
        })
    }

    pub(crate) fn write(&self, out: &mut Writer) {
        out.u32(self.sequence).fixed(&self.other);
    }
}

/// Operations of one call, without the SEQUENCE that the session puts before them.
#[derive(Debug, Clone, Default)]
pub struct Operations {
    count: u32,
    /// Bytes of data that they ask for.
    asked: u64,
    body: Writer,
    /// Where the data may be written.
    room: Option<Room>,
}

impl Operations {
    /// One more operation; its arguments follow.
    pub(crate) fn operation(&mut self, number: u32) -> &mut Writer {
        self.count = self.count.saturating_add(1);
        self.body.u32(number)
    }

    /// Starts at the server's root.
    #[must_use]
    pub fn root(mut self) -> Self {
        self.operation(PUTROOTFH);
        self
    }

    /// Starts at a file handle.
    #[must_use]
    pub fn handle(mut self, handle: &[u8]) -> Self {
        self.operation(PUTFH).opaque(handle);
        self
    }

    /// Goes to names, each in the folder of the one before.
    #[must_use]
    pub fn lookup<'a>(mut self, names: impl IntoIterator<Item = &'a String>) -> Self {
        for name in names {
            self.operation(LOOKUP).opaque(name.as_bytes());
        }
        self
    }

    /// Asks for the handle of where it is.
    #[must_use]
    pub fn get_handle(mut self) -> Self {
        self.operation(GETFH);
        self
    }

    /// Asks for attributes.
    #[must_use]
    pub fn attributes(mut self, numbers: &[u32]) -> Self {
        write_set(numbers, self.operation(GETATTR));
        self
    }

    /// Asks for bytes.
    #[must_use]
    pub fn read(mut self, state: StateId, offset: u64, count: u32) -> Self {
        let out = self.operation(READ);
        state.write(out);
        out.u64(offset).u32(count);
        self.asked = self.asked.saturating_add(u64::from(count));
        self
    }

    /// Asks for a symbolic link's target.
    #[must_use]
    pub fn read_link(mut self) -> Self {
        self.operation(READLINK);
        self
    }

    /// Asks for a folder's entries from a place on.
    #[must_use]
    pub fn list(mut self, from: Place, numbers: &[u32], most: u32) -> Self {
        let out = self.operation(READDIR);
        out.u64(from.cookie).fixed(&from.verifier);
        out.u32(most).u32(most);
        write_set(numbers, out);
        self
    }

    /// Closes a file.
    #[must_use]
    pub fn close(mut self, state: StateId) -> Self {
        state.write(self.operation(CLOSE).u32(0));
        self
    }

    /// The data of the only READ may be written there.
    #[must_use]
    pub(crate) fn into_room(mut self, room: &Room) -> Self {
        self.room = Some(room.clone());
        self
    }

    /// Where the data may be written.
    pub(crate) fn room(&self) -> Option<Room> {
        self.room.clone()
    }

    /// How many there are.
    #[must_use]
    pub fn count(&self) -> u32 {
        self.count
    }

    /// Bytes of data that they ask for.
    #[must_use]
    pub fn asked(&self) -> u64 {
        self.asked
    }

    /// The arguments of the call, with other operations before these.
    pub(crate) fn arguments(&self, minor: u32, before: &Operations) -> Writer {
        let mut out = Writer::default();
        out.opaque(&[]).u32(minor);
        out.u32(self.count.saturating_add(before.count));
        out.append(&before.body).append(&self.body);
        out
    }
}

/// Why an answer has not what was asked for.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Failure {
    /// An operation has failed; those behind it were not done.
    #[error("{}", words(*.status))]
    Status {
        /// Its place among the results, from zero.
        place: u32,
        /// Its status.
        status: u32,
    },
    /// The answer is not what the protocol says.
    #[error(transparent)]
    Malformed(#[from] Malformed),
}

impl Failure {
    /// The status, if it is one.
    #[must_use]
    pub fn status(&self) -> Option<u32> {
        match self {
            Failure::Status { status, .. } => Some(*status),
            Failure::Malformed(_) => None,
        }
    }
}

/// The results of a call, one after the other.
#[derive(Debug, Clone)]
pub struct Results {
    reader: Reader,
    left: u32,
    place: u32,
    /// What has failed before the first of these.
    failed: Option<Failure>,
}

impl Results {
    /// Reads the front of the results.
    ///
    /// # Errors
    /// If it is malformed, or the call failed before its first operation.
    pub fn new(mut reader: Reader) -> Result<Self, Failure> {
        let status = reader.u32()?;
        let _ = reader.opaque(MOST_NAME)?;
        let left = reader.u32()?;
        if left == 0 && status != OK {
            return Err(Failure::Status { place: 0, status });
        }
        Ok(Results {
            reader,
            left,
            place: 0,
            failed: None,
        })
    }

    /// What was read last was no operation of the caller's: places are counted without it.
    pub(crate) fn uncounted(&mut self) {
        self.place = self.place.saturating_sub(1);
    }

    /// What was read last has failed, and was no operation of the caller's: nothing of the caller's was done.
    #[must_use]
    pub(crate) fn failed(mut self, status: u32) -> Self {
        self.failed = Some(Failure::Status { place: 0, status });
        self
    }

    /// Whether another operation was begun.
    #[must_use]
    pub(crate) fn has_more(&self) -> bool {
        self.left > 0
    }

    /// Goes to the next operation's result: its reader, if the operation has succeeded.
    ///
    /// # Errors
    /// If it has failed, or if it is another operation.
    pub(crate) fn next(&mut self, operation: u32) -> Result<&mut Reader, Failure> {
        if let Some(failure) = &self.failed {
            return Err(failure.clone());
        }
        match self.status(operation)? {
            OK => Ok(&mut self.reader),
            status => Err(Failure::Status {
                place: self.place.saturating_sub(1),
                status,
            }),
        }
    }

    /// Goes to the next operation's result: its status.
    pub(crate) fn status(&mut self, operation: u32) -> Result<u32, Malformed> {
        if self.left == 0 {
            return Err(Malformed::new(format!(
                "operation {operation} has no result"
            )));
        }
        self.left = self.left.saturating_sub(1);
        self.place = self.place.saturating_add(1);
        let found = self.reader.u32()?;
        if found != operation {
            return Err(Malformed::new(format!(
                "it answers operation {found} where the request was {operation}"
            )));
        }
        self.reader.u32()
    }

    /// Reads the result of PUTROOTFH.
    ///
    /// # Errors
    /// If the operation has failed; if the answer is malformed. So do all that follow.
    pub fn root(&mut self) -> Result<(), Failure> {
        self.next(PUTROOTFH).map(|_| ())
    }

    /// Reads the result of PUTFH.
    ///
    /// # Errors
    /// See `root`.
    pub fn handle(&mut self) -> Result<(), Failure> {
        self.next(PUTFH).map(|_| ())
    }

    /// Reads the results of `count` LOOKUPs.
    ///
    /// # Errors
    /// See `root`.
    pub fn lookup(&mut self, count: usize) -> Result<(), Failure> {
        (0..count).try_for_each(|_| self.next(LOOKUP).map(|_| ()))
    }

    /// Reads the result of GETFH: the file's handle.
    ///
    /// # Errors
    /// See `root`.
    pub fn got_handle(&mut self) -> Result<Bytes, Failure> {
        Ok(self.next(GETFH)?.opaque(MOST_HANDLE)?)
    }

    /// Reads the result of GETATTR.
    ///
    /// # Errors
    /// See `root`.
    pub fn attributes(&mut self) -> Result<Attributes, Failure> {
        Ok(Attributes::read(self.next(GETATTR)?)?)
    }

    /// Reads the result of READ, which has asked for `most` bytes: whether the file ends with them, and the bytes.
    ///
    /// # Errors
    /// See `root`; if there are more bytes.
    pub fn read(&mut self, most: u32) -> Result<(bool, Bytes), Failure> {
        let reader = self.next(READ)?;
        let is_end = reader.bool()?;
        let most = usize::try_from(most).unwrap_or(usize::MAX);
        Ok((is_end, reader.opaque(most)?))
    }

    /// Reads the result of READ, which has asked for `most` bytes: the bytes, or `None` if they lie in their room.
    ///
    /// # Errors
    /// See `read`.
    pub(crate) fn read_apart(&mut self, most: u32) -> Result<Option<Bytes>, Failure> {
        let reader = self.next(READ)?;
        reader.bool()?;
        let most = usize::try_from(most).unwrap_or(usize::MAX);
        Ok(reader.data(most)?)
    }

    /// Reads the result of READLINK: the link's target.
    ///
    /// # Errors
    /// See `root`.
    pub fn link(&mut self) -> Result<String, Failure> {
        Ok(self.next(READLINK)?.text(MOST_NAME)?)
    }

    /// Reads the result of READDIR.
    ///
    /// # Errors
    /// See `root`.
    pub fn list(&mut self) -> Result<Listing, Failure> {
        Ok(Listing::read(self.next(READDIR)?)?)
    }

    /// Reads the result of CLOSE.
    ///
    /// # Errors
    /// See `root`.
    pub fn close(&mut self) -> Result<(), Failure> {
        StateId::read(self.next(CLOSE)?)?;
        Ok(())
    }
}

/// Where a listing goes on.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Place {
    /// The last entry's.
    pub cookie: u64,
    /// The listing's.
    pub verifier: [u8; 8],
}

/// Entries of a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listing {
    /// Names and attributes.
    pub entries: Vec<(String, Attributes)>,
    /// Where it goes on.
    pub next: Place,
    /// Whether these are the last ones.
    pub is_end: bool,
}

impl Listing {
    fn read(reader: &mut Reader) -> Result<Self, Malformed> {
        let verifier = reader.array()?;
        let mut next = Place {
            cookie: 0,
            verifier,
        };
        let mut entries = Vec::new();
        while reader.bool()? {
            if entries.len() >= MOST_AT_ONCE {
                return Err(Malformed::new("it has too many entries"));
            }
            next.cookie = reader.u64()?;
            let name = reader.text(MOST_NAME)?;
            entries.push((name, Attributes::read(reader)?));
        }
        Ok(Listing {
            entries,
            next,
            is_end: reader.bool()?,
        })
    }
}
