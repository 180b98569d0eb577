//! An open file: plain and vectored reads, many in flight. Knows no redirects: the server that opened it serves it.

use crate::connection::Sending;
use crate::error::trouble;
use crate::pieces::{Asked, Manner};
use crate::refusal::{self, broken};
use crate::session::Session;
use crate::ticket::{Sink, Ticket};
use crate::url::Server;
use crate::wire::bodies::{Opened, Status};
use crate::wire::{Handle, Request};
use crate::{limits, vector};
use bytes::BytesMut;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use treemill_transfer::{Kind, Trouble};

/// A file that is open on one server. Threads may share it. Dropping it closes it without waiting for the answer.
pub struct File {
    session: Arc<Session>,
    handle: Handle,
    status: Option<Status>,
    path: String,
    /// Held while a request leaves: none leaves after the one that closes the file, whose handle the server may give to another one.
    is_closed: Mutex<bool>,
}

/// A read in flight.
#[must_use = "the bytes come by `wait`"]
pub struct Reading<'a> {
    file: &'a File,
    ticket: Ticket,
}

impl File {
    pub(crate) fn new(session: Arc<Session>, opened: Opened, path: &str) -> Self {
        let (handle, status) = (opened.handle, opened.status);
        File {
            session,
            handle,
            status,
            path: path.to_owned(),
            is_closed: Mutex::new(false),
        }
    }

    /// The file's status when it was opened, if the server sent it.
    #[must_use]
    pub fn status(&self) -> Option<Status> {
        self.status
    }

    /// The status of a file that can be read.
    pub(crate) fn checked(&self) -> Result<Status, Trouble> {
        let wrong = |kind, what| trouble(kind, what).at(self.server());
        let none = "the server does not say how large the file is";
        let status = self.status.ok_or_else(|| wrong(Kind::Malformed, none))?;
        match status.is_folder() {
            true => Err(wrong(Kind::Invalid, "it is a folder, not a file")),
            false => Ok(status),
        }
    }

    /// The server that serves the file, as `host:port`.
    #[must_use]
    pub fn server(&self) -> String {
        self.session.server().to_string()
    }

    pub(crate) fn is_at(&self, server: &Server) -> bool {
        self.session.server() == server
    }

    pub(crate) fn session(&self) -> &Session {
        &self.session
    }

    /// Sends reads without waiting, in one piece, each with memory for its data, or none. Each sink is called once, mostly on
    /// the connection's reading task.
    pub(crate) fn send(&self, all: Vec<(Asked, BytesMut, Sink)>) {
        let sending = |(asked, room, sink): (Asked, BytesMut, Sink)| {
            let (request, most) = self.request(&asked);
            Sending {
                request,
                most,
                room,
                sink,
            }
        };
        let is_closed = self.is_closed();
        if !*is_closed {
            return self.session.send(all.into_iter().map(sending).collect());
        }
        drop(is_closed);
        for (_, _, sink) in all {
            sink(Err(changed()));
        }
    }

    /// Sends one request of the file.
    fn ask(&self, request: Request, most: usize) -> Ticket {
        let is_closed = self.is_closed();
        if !*is_closed {
            return self.session.submit(request, most);
        }
        let (ticket, sink) = Ticket::pair();
        sink(Err(changed()));
        ticket
    }

    fn is_closed(&self) -> MutexGuard<'_, bool> {
        self.is_closed
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Closes the file for all that share it: what they ask for from now on is an error. The server's word comes by the
    /// ticket. `None` if it is closed already.
    pub(crate) fn shut(&self) -> Option<Ticket> {
        let mut is_closed = self.is_closed();
        let handle = self.handle;
        let closes = !std::mem::replace(&mut *is_closed, true);
        closes.then(|| {
            self.session
                .submit(Request::Close { handle }, limits::MOST_CONTROL)
        })
    }

    /// Whether this is another file than the one that `server` has at its path now. Servers that have the same file have
    /// times of their own.
    pub(crate) fn is_other(&self, now: &Status, server: &Server) -> bool {
        self.status.is_some_and(|then| {
            then.size != now.size || (self.is_at(server) && then.changed != now.changed)
        })
    }

    /// The request of a read, and the bytes of data that its answer may have.
    fn request(&self, asked: &Asked) -> (Request, usize) {
        let handle = self.handle;
        match asked {
            Asked::Plain(piece) => {
                let (offset, length) = (piece.offset, piece.length);
                let request = Request::Read {
                    handle,
                    offset,
                    length,
                };
                (request, usize::try_from(length).unwrap_or(usize::MAX))
            }
            Asked::Pages(piece) => {
                let (offset, length) = (piece.offset, piece.length);
                let request = Request::Pages {
                    handle,
                    offset,
                    length,
                    again: piece.manner == Manner::Again,
                };
                (request, usize::try_from(length).unwrap_or(usize::MAX))
            }
            Asked::Vector(pieces) => {
                let ranges: Vec<_> = pieces
                    .iter()
                    .map(|piece| (handle, piece.length, piece.offset))
                    .collect();
                let most = vector::answer_size(&ranges);
                (Request::Vector { ranges }, most)
            }
        }
    }

    /// Reads `length` bytes from `offset`; fewer if the file ends before.
    ///
    /// # Errors
    /// Any kind but `NotFound`; `Invalid` as for [`File::submit`].
    pub fn read(&self, offset: u64, length: u32) -> Result<Vec<u8>, Trouble> {
        self.submit(offset, length)?.wait()
    }

    /// Asks for `length` bytes from `offset` without waiting for them.
    ///
    /// # Errors
    /// `Invalid` if the length is above 64 MiB or if the range ends beyond 2^63.
    pub fn submit(&self, offset: u64, length: u32) -> Result<Reading<'_>, Trouble> {
        self.check(offset, length)?;
        if length > limits::MOST_READ {
            return Err(self.wrong(format!("a read of {length} bytes is too long: split it")));
        }
        let request = Request::Read {
            handle: self.handle,
            offset,
            length,
        };
        let most = usize::try_from(length).unwrap_or(usize::MAX);
        let ticket = self.ask(request, most);
        Ok(Reading { file: self, ticket })
    }

    /// Reads many ranges, each given by offset and length: exactly their bytes, in their order. The requests that
    /// they take are all in flight together.
    ///
    /// # Errors
    /// As [`File::read`]; the server's own error if a range ends beyond the file's end.
    pub fn readv(&self, ranges: &[(u64, u32)]) -> Result<Vec<Vec<u8>>, Trouble> {
        ranges
            .iter()
            .try_for_each(|&(offset, length)| self.check(offset, length))?;
        let most = self.session.most();
        let requests = vector::plan(self.handle, ranges, most);
        let mut readings = Vec::with_capacity(requests.len());
        for ranges in &requests {
            let size = vector::answer_size(ranges);
            let request = Request::Vector {
                ranges: ranges.clone(),
            };
            let ticket = self.ask(request, size);
            readings.push(Reading { file: self, ticket });
        }
        let answers = readings
            .into_iter()
            .map(Reading::wait)
            .collect::<Result<Vec<_>, _>>()?;
        vector::join(ranges, &requests, &answers).map_err(|e| self.named(broken(e)))
    }

    /// Closes the file and waits for the server's word.
    ///
    /// # Errors
    /// Any kind; the file counts as closed even so.
    pub fn close(self) -> Result<(), Trouble> {
        let answer = self.shut().map_or(Ok(BytesMut::new()), |ticket| {
            ticket.wait().and_then(refusal::data)
        });
        answer.map(drop).map_err(|e| self.named(e))
    }

    /// Offsets are signed on the wire.
    fn check(&self, offset: u64, length: u32) -> Result<(), Trouble> {
        let end = offset.checked_add(u64::from(length));
        if end.is_some_and(|end| i64::try_from(end).is_ok()) {
            return Ok(());
        }
        Err(self.wrong(format!(
            "a read of {length} bytes at {offset} ends beyond the end of any file"
        )))
    }

    fn wrong(&self, what: String) -> Trouble {
        self.named(trouble(Kind::Invalid, what))
    }

    fn named(&self, error: Trouble) -> Trouble {
        error.at(self.session.server()).of(&self.path)
    }
}

/// The error of a file that was closed because there is another one in its place.
pub(crate) fn changed() -> Trouble {
    trouble(
        Kind::Changed,
        "the file has changed since treemill opened it",
    )
}

impl Drop for File {
    fn drop(&mut self) {
        drop(self.shut());
    }
}

impl Reading<'_> {
    /// The bytes.
    ///
    /// # Errors
    /// Any kind but `NotFound`.
    pub fn wait(self) -> Result<Vec<u8>, Trouble> {
        self.ticket
            .wait()
            .and_then(refusal::data)
            .map(Vec::from)
            .map_err(|error| self.file.named(error))
    }
}
