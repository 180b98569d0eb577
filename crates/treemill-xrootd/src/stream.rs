//! The state of one connection: which requests are in flight, and what arriving bytes mean for them. Knows no
//! sockets, no threads and no clock: bytes and the time (since the connection began) are given, outcomes come out.
//!
//! Deadlines look at progress. A connection is silent if it brings no byte while an answer is due; a request is
//! neglected if neither it nor one sent before it gets a byte for much longer. What a server asks a request to wait is not silence;
//! a server that has promised an answer is asked for signs of life until it comes.

use crate::limits;
use crate::wire::{Header, Paged, Reply, Request, WireError, codes};
use bytes::BytesMut;
use std::collections::HashMap;
use std::time::Duration;

mod deadlines;
mod event;
mod flight;
mod pages;
#[cfg(test)]
mod tests;

pub use event::{Deadlines, Event, Outcome};
use flight::{Flight, Phase};
use pages::Pages;

/// What the next byte belongs to.
#[derive(Debug)]
enum Place {
    /// A header, of which these bytes are here.
    Header(Vec<u8>),
    /// A body of data for a request, and the number of its bytes that are due.
    Data { header: Header, left: usize },
    /// Pages for a request, and the number of their bytes that are due, checksums included.
    Pages {
        stream: u16,
        is_last: bool,
        left: usize,
    },
    /// Another body, of which these bytes are here.
    Control { header: Header, body: Vec<u8> },
}

/// The state of one connection.
#[derive(Debug)]
pub struct Stream {
    deadlines: Deadlines,
    flights: HashMap<u16, Flight>,
    next: u16,
    sent: u64,
    place: Place,
    heard: Duration,
    /// When a request was sent last.
    asked: Duration,
    /// When bytes of a file came last.
    brought: Option<Duration>,
    /// The request for a sign of life that is in flight.
    sign: Option<u16>,
}

impl Stream {
    /// A connection on which nothing was sent. The first bytes to send are the handshake's, by [`Stream::greet`].
    #[must_use]
    pub fn new(deadlines: Deadlines) -> Self {
        let (place, heard, asked) = (Place::Header(Vec::new()), Duration::ZERO, Duration::ZERO);
        Stream {
            deadlines,
            flights: HashMap::new(),
            next: 1,
            sent: 0,
            place,
            heard,
            asked,
            brought: None,
            sign: None,
        }
    }

    /// When bytes of a file came last, of any request.
    #[must_use]
    pub fn brought(&self) -> Option<Duration> {
        self.brought
    }

    /// Whether no request is in flight, and no part of a message has come.
    #[must_use]
    pub fn is_at_rest(&self) -> bool {
        self.flights.is_empty() && matches!(&self.place, Place::Header(here) if here.is_empty())
    }

    /// The handshake's bytes ("Handshake"); its answer comes on stream 0.
    pub fn greet(&mut self, now: Duration) -> Vec<u8> {
        self.heard = now;
        self.flights
            .insert(0, Flight::new(0, Vec::new(), limits::MOST_CONTROL, now));
        [0_u32, 0, 0, 4, 2012]
            .iter()
            .flat_map(|number| number.to_be_bytes())
            .collect()
    }

    /// Takes a request in: its stream, and the bytes to send. The answer may have `most` bytes of data.
    ///
    /// # Errors
    /// If the request is too long, or if all streams are in use.
    pub fn send(
        &mut self,
        request: &Request,
        most: usize,
        now: Duration,
    ) -> Result<(u16, Vec<u8>), WireError> {
        let full = || WireError::new("65535 requests are in flight");
        let stream = self.free().ok_or_else(full)?;
        let bytes = request.encode(stream)?;
        self.sent = self.sent.saturating_add(1);
        self.asked = now;
        let mut flight = Flight::new(self.sent, bytes.clone(), most, now);
        flight.is_read = request.file_bytes() > 0;
        flight.is_short = !flight.is_read && !matches!(request, Request::List { .. });
        if let Request::Pages { offset, length, .. } = request {
            flight.pages = Some(Pages::new(*offset, *length));
        }
        self.flights.insert(stream, flight);
        Ok((stream, bytes))
    }

    /// The data of the answer to a request, which was just sent, are to be written to this memory, if there is as much.
    pub fn place(&mut self, stream: u16, room: BytesMut) {
        if let Some(flight) = self.flights.get_mut(&stream) {
            flight.data = room;
        }
    }

    /// A stream that stands for no request. Stream 0 is the handshake's.
    fn free(&mut self) -> Option<u16> {
        for _ in 0..u16::MAX {
            let stream = self.next;
            self.next = stream.checked_add(1).unwrap_or(1);
            if !self.flights.contains_key(&stream) {
                return Some(stream);
            }
        }
        None
    }

    /// The number of requests that have no outcome yet.
    #[must_use]
    pub fn in_flight(&self) -> usize {
        self.flights
            .values()
            .filter(|flight| flight.phase != Phase::Abandoned)
            .count()
    }

    /// Takes bytes that have arrived, and adds what they bring about to `out`.
    ///
    /// # Errors
    /// If they break the protocol: the connection is of no more use then, every request on it has failed but those that
    /// are in `out`.
    pub fn take(
        &mut self,
        mut bytes: &[u8],
        now: Duration,
        out: &mut Vec<Event>,
    ) -> Result<(), WireError> {
        if !bytes.is_empty() {
            self.heard = now;
        }
        while !bytes.is_empty() {
            let wanted = self.wanted();
            let (taken, rest) = bytes.split_at(wanted.min(bytes.len()));
            bytes = rest;
            self.step(taken, now, out)?;
        }
        Ok(())
    }

    /// Bytes that the present place still wants: never 0, since places that are complete are left at once.
    fn wanted(&self) -> usize {
        match &self.place {
            Place::Header(here) => Header::SIZE.saturating_sub(here.len()),
            Place::Data { left, .. } | Place::Pages { left, .. } => *left,
            Place::Control { header, body } => header.size().saturating_sub(body.len()),
        }
    }

    fn step(&mut self, taken: &[u8], now: Duration, out: &mut Vec<Event>) -> Result<(), WireError> {
        match &mut self.place {
            Place::Header(here) => {
                here.extend_from_slice(taken);
                if here.len() < Header::SIZE {
                    return Ok(());
                }
                let header = Header::decode(here)?;
                self.enter(header)?;
            }
            Place::Data { header, left } => {
                *left = left.saturating_sub(taken.len());
                let stream = header.stream;
                self.flight(stream)?.append(taken, now)?;
                self.note_data(stream, now);
            }
            Place::Pages { stream, left, .. } => {
                *left = left.saturating_sub(taken.len());
                let stream = *stream;
                self.flight(stream)?.append_pages(taken, now)?;
                self.note_data(stream, now);
            }
            Place::Control { header, body } => {
                body.extend_from_slice(taken);
                let stream = header.stream;
                if let Some(flight) = self.flights.get_mut(&stream) {
                    flight.touch(now);
                }
            }
        }
        if self.wanted() == 0 {
            match std::mem::replace(&mut self.place, Place::Header(Vec::new())) {
                Place::Header(_) => {}
                Place::Data { header, .. } => self.complete(header, out)?,
                Place::Pages {
                    stream, is_last, ..
                } => self.complete_pages(stream, is_last, out)?,
                Place::Control { header, body } => self.reply(header, &body, now, out)?,
            }
        }
        Ok(())
    }

    /// A body begins. Memory is taken for one with data, which has no more of it than its request asked for; others grow as
    /// their bytes come.
    fn enter(&mut self, header: Header) -> Result<(), WireError> {
        self.place = if header.has_data() {
            let left = header.size();
            let flight = self.flight(header.stream)?;
            flight.allow(left)?;
            if flight.pages.is_some() {
                return Err(WireError::new(
                    "it sends data without the checksums that treemill asked for",
                ));
            }
            flight.expect(left, header.state == codes::OK);
            Place::Data { header, left }
        } else {
            // A promised response brings data in a message, so its bound is the largest of those in flight.
            let data = self
                .flights
                .values()
                .map(|flight| flight.most)
                .max()
                .unwrap_or_default();
            let most = limits::MOST_CONTROL.max(data.saturating_add(64));
            if header.size() > most {
                return Err(WireError::new(format!(
                    "a response has {} bytes where at most {most} are possible",
                    header.length
                )));
            }
            Place::Control {
                header,
                body: Vec::new(),
            }
        };
        Ok(())
    }

    /// Bytes have come for a request. Those of a file count as data: a server that opens it may bring none.
    fn note_data(&mut self, stream: u16, now: Duration) {
        if self
            .flights
            .get(&stream)
            .is_some_and(|flight| flight.is_read)
        {
            self.brought = Some(now);
        }
    }

    fn flight(&mut self, stream: u16) -> Result<&mut Flight, WireError> {
        let flight = self.flights.get_mut(&stream);
        flight.ok_or_else(|| {
            WireError::new(format!(
                "it answers the request {stream}, which waits for no answer"
            ))
        })
    }

    /// A response with data is here: the last one of its request, or not.
    fn complete(&mut self, header: Header, out: &mut Vec<Event>) -> Result<(), WireError> {
        let flight = self.flight(header.stream)?;
        if header.state == codes::OK {
            let data = std::mem::take(&mut flight.data);
            self.end(header.stream, Outcome::Data(data), out);
        }
        Ok(())
    }

    /// Pages follow.
    fn enter_pages(
        &mut self,
        header: Header,
        body: &[u8],
        out: &mut Vec<Event>,
    ) -> Result<(), WireError> {
        let paged = Paged::decode(body)?;
        let (stream, is_last) = (header.stream, paged.is_last);
        if paged.stream != stream {
            return Err(WireError::new("it sends one response for two requests"));
        }
        self.flight(stream)?.begin(&paged)?;
        let left = usize::try_from(paged.length).unwrap_or(usize::MAX);
        if left == 0 {
            return self.complete_pages(stream, is_last, out);
        }
        self.place = Place::Pages {
            stream,
            is_last,
            left,
        };
        Ok(())
    }

    /// A response with pages is here: the last one of its request, or not.
    fn complete_pages(
        &mut self,
        stream: u16,
        is_last: bool,
        out: &mut Vec<Event>,
    ) -> Result<(), WireError> {
        let flight = self.flight(stream)?;
        if flight.phase != Phase::Abandoned
            && let Some(pages) = &flight.pages
        {
            pages.end()?;
        }
        if is_last {
            let data = std::mem::take(&mut flight.data);
            let damaged = flight.pages.take().map(Pages::into_damaged);
            let damaged = damaged.unwrap_or_default();
            self.end(stream, Outcome::Pages { data, damaged }, out);
        }
        Ok(())
    }

    fn reply(
        &mut self,
        header: Header,
        body: &[u8],
        now: Duration,
        out: &mut Vec<Event>,
    ) -> Result<(), WireError> {
        let stream = header.stream;
        if header.state == codes::STATUS {
            return self.enter_pages(header, body, out);
        }
        let reply = Reply::decode(header.state, body)?;
        match reply {
            // Messages of the server's own carry no stream of a request.
            Reply::Notice { .. } => return Ok(()),
            Reply::Promised { header, body } => return self.promised(header, &body, now, out),
            _ => {}
        }
        let patience = self.deadlines.patience;
        let flight = self.flight(stream)?;
        let outcome = match reply {
            Reply::Error { code, message } => Outcome::Refused { code, message },
            Reply::Redirect {
                host,
                port,
                opaque,
                token,
            } => Outcome::Redirect {
                host,
                port,
                opaque,
                token,
            },
            Reply::MoreAuth(challenge) => Outcome::MoreAuth(challenge),
            Reply::Wait { seconds } if flight.wait(seconds, patience, now) => return Ok(()),
            Reply::Promise { seconds } => {
                flight.promise(seconds, patience, now);
                return Ok(());
            }
            _ => Outcome::Busy,
        };
        self.end(stream, outcome, out);
        Ok(())
    }

    /// A response that came inside of a message ("kXR_asynresp").
    fn promised(
        &mut self,
        header: Header,
        body: &[u8],
        now: Duration,
        out: &mut Vec<Event>,
    ) -> Result<(), WireError> {
        if header.state == codes::ATTENTION || header.state == codes::STATUS {
            return Err(WireError::new(
                "it sends a postponed response that belongs to no request",
            ));
        }
        if !header.has_data() {
            return self.reply(header, body, now, out);
        }
        let flight = self.flight(header.stream)?;
        flight.allow(body.len())?;
        flight.append(body, now)?;
        if !body.is_empty() {
            self.note_data(header.stream, now);
        }
        self.complete(header, out)
    }

    fn end(&mut self, stream: u16, outcome: Outcome, out: &mut Vec<Event>) {
        let Some(gone) = self.flights.remove(&stream) else {
            return;
        };
        // The turn of those after it begins now.
        for flight in self.flights.values_mut().filter(|f| f.number > gone.number) {
            flight.touched = flight.touched.max(gone.touched);
        }
        if self.sign == Some(stream) {
            self.sign = None;
        } else if gone.phase != Phase::Abandoned {
            out.push(Event::Done { stream, outcome });
        }
    }

    /// Ends a request whose answer may still come: its stream stays taken until then.
    fn abandon(&mut self, stream: u16, outcome: Outcome, out: &mut Vec<Event>) {
        if let Some(flight) = self.flights.get_mut(&stream)
            && flight.phase != Phase::Abandoned
        {
            flight.phase = Phase::Abandoned;
            flight.data = BytesMut::new();
            out.push(Event::Done { stream, outcome });
        }
    }
}
