//! Gives the parts that wait to the active sources, as fast as these bring them. Pure, as all of the state. Knows nothing of
//! openings and of late answers.

use super::{Decision, PartId, State};
use crate::replicas::limits::{ALIKE, TYPICAL};
use crate::replicas::members::{Member, Number};
use crate::replicas::queue::End;
use crate::replicas::share::{Share, share};
use std::time::Duration;

impl State {
    /// Asks for what waits, as far as the active sources have room. To be called after everything that happens.
    pub(super) fn serve(&mut self, now: Duration) -> Vec<Decision> {
        let mut decisions = Vec::new();
        if self.queue.is_empty() {
            return decisions;
        }
        let active = self.members.punctual();
        if active.is_empty() {
            let homeless = self.dequeue(End::Front, u64::MAX);
            return self.place(homeless, now);
        }
        for (member, end, bytes) in self.shares(&active, now) {
            let room = self.members.get(member).map_or(0, |m| m.room(now));
            // A file that is nowhere else is asked for at once.
            let room = match self.members.are_many() {
                true => room,
                false => u64::MAX,
            };
            let taken = self.dequeue(end, bytes.min(room));
            decisions.extend(self.ask(member, &taken, now));
        }
        decisions
    }

    /// A part waits until a source has room for it.
    pub(super) fn enqueue(&mut self, id: PartId) {
        if let Some(part) = self.parts.get_mut(&id) {
            part.waits = true;
            self.queue.push(id, super::length(&part.range));
        }
    }

    fn dequeue(&mut self, end: End, bytes: u64) -> Vec<PartId> {
        let taken = self.queue.take(end, bytes);
        for id in &taken {
            if let Some(part) = self.parts.get_mut(id) {
                part.waits = false;
            }
        }
        taken
    }

    /// Divides what waits among the sources: shares with which both would finish at the same time, or all for one of them.
    /// How fast they are is guessed if need be: it counts for the last parts only, since both have room for little.
    fn shares(&mut self, active: &[Number], now: Duration) -> Vec<(Number, End, u64)> {
        let &[one, other] = active else {
            let all = |number: &Number| (*number, End::Front, u64::MAX);
            return active.iter().map(all).collect();
        };
        let bytes = self.queue.bytes();
        let takes = |number: Number, of: fn(&Member, u64, Duration) -> f64, bytes: u64| {
            let found = self.members.get(number);
            found.map_or(f64::MAX, |found| of(found, bytes, now))
        };
        // The better one takes the front, which is needed first, and keeps it while it is not clearly worse.
        let expected = |number| {
            takes(
                number,
                |m, bytes, now| m.quality.expected(bytes, now),
                TYPICAL,
            )
        };
        let front = match (expected(one), expected(other)) {
            (of_one, of_other) if of_one > ALIKE * of_other => other,
            (of_one, of_other) if of_other > ALIKE * of_one => one,
            _ => self
                .front
                .filter(|number| active.contains(number))
                .unwrap_or(one),
        };
        let finish = |number| takes(number, |m, bytes, now| m.quality.finish(bytes, now), bytes);
        let [first, second] = match finish(other) < finish(one) {
            true => [other, one],
            false => [one, other],
        };
        let (Some(fast), Some(slow)) = (self.members.get(first), self.members.get(second)) else {
            return Vec::new();
        };
        let shared = match share(bytes, &fast.quality, &slow.quality, now) {
            Share::Both(boundary) => [boundary, bytes.saturating_sub(boundary)],
            Share::Either if slow.given < fast.given => [0, bytes],
            Share::Either | Share::First => [bytes, 0],
        };
        self.front = Some(front);
        let end = |number| match number == front {
            true => End::Front,
            false => End::Back,
        };
        let both = [first, second].into_iter().zip(shared);
        both.map(|(number, bytes)| (number, end(number), bytes))
            .collect()
    }
}
