//! What the time alone brings about on one connection. Knows no bytes that arrive.

use super::{Event, Outcome, Stream};
use crate::limits::{MOST_CONTROL, SIGN};
use crate::wire::Request;
use std::time::Duration;

impl Stream {
    /// What the time alone brings about: requests that have waited are sent again, and deadlines end.
    pub fn tick(&mut self, now: Duration) -> Vec<Event> {
        let mut out = Vec::new();
        let silent = now.saturating_sub(self.heard) >= self.deadlines.silence;
        if silent
            && self
                .flights
                .values()
                .any(|f| f.overdue(now, self.deadlines.silence))
        {
            return vec![Event::Silent];
        }
        if self.unused_for(now) >= self.deadlines.idle {
            return vec![Event::Idle];
        }
        for flight in self.flights.values_mut() {
            out.extend(flight.resume(now).map(Event::Send));
        }
        out.extend(self.ask_for_sign(now).map(Event::Send));
        for stream in self.impatient(now) {
            self.abandon(stream, Outcome::Busy, &mut out);
        }
        for stream in self.neglected(now) {
            self.abandon(stream, Outcome::Neglected, &mut out);
        }
        out
    }

    /// How long nothing has used the connection.
    pub(crate) fn unused_for(&self, now: Duration) -> Duration {
        match self.in_flight() {
            0 => now.saturating_sub(self.heard.max(self.asked)),
            _ => Duration::ZERO,
        }
    }

    /// Asks a server that has promised an answer, and is silent since, whether it is there: it answers at once, or it is gone.
    fn ask_for_sign(&mut self, now: Duration) -> Option<Vec<u8>> {
        let pause = self.deadlines.silence.checked_div(SIGN)?;
        let is_quiet = now.saturating_sub(self.heard.max(self.asked)) >= pause;
        let is_promised = self.flights.values().any(|flight| flight.is_promised(now));
        if self.sign.is_some() || !is_quiet || !is_promised {
            return None;
        }
        let (stream, bytes) = self.send(&Request::Ping, MOST_CONTROL, now).ok()?;
        self.sign = Some(stream);
        Some(bytes)
    }

    /// Requests whose promised answers have not come while there was patience.
    fn impatient(&self, now: Duration) -> Vec<u16> {
        let flights = self.flights.iter();
        let found = flights.filter(|(_, flight)| flight.is_impatient(now));
        found.map(|(&stream, _)| stream).collect()
    }

    /// Requests that are overdue though nothing moves before them: one that queues after others which make progress
    /// is not neglected.
    fn neglected(&self, now: Duration) -> Vec<u16> {
        let limit = self.deadlines.neglect;
        if !self
            .flights
            .values()
            .any(|flight| flight.overdue(now, limit))
        {
            return Vec::new();
        }
        let mut queue: Vec<_> = self.flights.iter().collect();
        queue.sort_by_key(|(_, flight)| flight.number);
        let (mut moved, mut found) = (Duration::ZERO, Vec::new());
        for (&stream, flight) in queue {
            moved = moved.max(flight.touched);
            if flight.overdue(now, limit) && now.saturating_sub(moved) >= limit {
                found.push(stream);
            }
        }
        found
    }
}
