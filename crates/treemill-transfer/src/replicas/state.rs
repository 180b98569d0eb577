//! What is asked of which source, and what to do when it comes, fails or is late. Pure: events with their times come in,
//! decisions go out. Knows no thread, no clock and no bytes.

use crate::parts::parts;
use crate::replicas::limits::{PART, PROBE, PROBE_BYTES};
use crate::replicas::members::{Members, Next, Number, Standing};
use crate::replicas::quality::patience;
pub(crate) use crate::replicas::queue::PartId;
use crate::replicas::queue::Queue;
use crate::replicas::random::Random;
use crate::replicas::search::Search;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::time::Duration;
use treemill_source::is_within;

/// The number of a request for a part.
pub(crate) type AskId = u64;

/// What is to be done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Decision {
    /// Ask a source for these; then say [`State::answered`] or [`State::failed`] for each.
    Ask(Number, Vec<(AskId, Range<u64>)>),
    /// Open a source; then say [`State::opened`], [`State::refused`] or [`State::left_out`].
    Open(Number),
    /// Look for more replicas; then say [`State::found`].
    Search,
    /// The part cannot be had: all sources have failed.
    GiveUp(PartId),
}

#[derive(Debug)]
struct Part {
    range: Range<u64>,
    /// The sources that failed it.
    tried: BTreeSet<Number>,
    /// Its requests that are in flight.
    live: Vec<AskId>,
    /// Whether it is in the queue.
    waits: bool,
}

impl Part {
    fn new(range: Range<u64>) -> Self {
        let (tried, live, waits) = (BTreeSet::new(), Vec::new(), false);
        Part {
            range,
            tried,
            live,
            waits,
        }
    }

    /// Whether it was asked for, and is not any more.
    fn is_homeless(&self) -> bool {
        self.live.is_empty() && !self.waits
    }
}

#[derive(Debug)]
struct Ask {
    member: Number,
    part: PartId,
    bytes: u64,
    /// When it is late.
    due: Duration,
}

/// The parts of a range, in order: their numbers, and the ranges of each.
pub(crate) type CutRange = Vec<(PartId, Range<u64>)>;

/// The state of one file's sources.
#[derive(Debug)]
pub(crate) struct State {
    pub(crate) members: Members,
    parts: BTreeMap<PartId, Part>,
    asks: BTreeMap<AskId, Ask>,
    /// Parts that no source was asked for.
    queue: Queue,
    /// The source that takes them from the front.
    front: Option<Number>,
    next: u64,
    random: Random,
    /// Bytes since the last draw of a probe.
    unprobed: u64,
    /// Whether the next request goes to an inactive source.
    probes: bool,
    /// When more replicas are looked for; `None` if that is no use.
    search: Option<Search>,
}

mod late;
mod serve;

fn length(range: &Range<u64>) -> u64 {
    range.end.saturating_sub(range.start)
}

impl State {
    /// The state of this number of closed sources; `seed` is for the draws of probes.
    pub(crate) fn new(sources: usize, seed: u64) -> Self {
        State {
            members: Members::new(sources),
            parts: BTreeMap::new(),
            asks: BTreeMap::new(),
            queue: Queue::default(),
            front: None,
            next: 0,
            random: Random::new(seed),
            unprobed: 0,
            probes: false,
            search: None,
        }
    }

    /// More replicas may be found, of a file whose server is so far away.
    pub(crate) fn may_search(&mut self, round_trip: Duration) {
        self.search = Some(Search::new(round_trip));
    }

    /// The part that a request is for.
    pub(crate) fn part(&self, ask: AskId) -> Option<PartId> {
        Some(self.asks.get(&ask)?.part)
    }

    /// A search has ended, and brought a number of sources that were not known: they get the next numbers.
    pub(crate) fn found(&mut self, count: usize, now: Duration) -> Vec<Decision> {
        if let Some(search) = &mut self.search {
            search.ended(now);
        }
        (0..count).for_each(|_| self.members.add());
        self.place_waiting(now)
    }

    /// Another source is needed.
    fn needed(&mut self, now: Duration) -> Option<Decision> {
        let search = self.search.as_mut()?;
        search.needed(now).then_some(Decision::Search)
    }

    /// Whether nothing is wanted.
    pub(crate) fn is_idle(&self) -> bool {
        self.parts.is_empty()
    }

    /// Ranges are wanted, none of them empty: the parts of each, and what is to be done.
    pub(crate) fn wanted(
        &mut self,
        ranges: &[Range<u64>],
        now: Duration,
    ) -> (Vec<CutRange>, Vec<Decision>) {
        let mut decisions = self.tend(now);
        let bytes = ranges.iter().map(length).fold(0, u64::saturating_add);
        if let Some(search) = &mut self.search
            && search.wanted(bytes, now)
        {
            decisions.push(Decision::Search);
        }
        let mut wanted = Vec::new();
        let parts = ranges.iter().map(|range| {
            let parts = parts(range.clone(), PART).into_iter().map(|range| {
                let id = self.number();
                self.parts.insert(id, Part::new(range.clone()));
                (id, range)
            });
            let parts: CutRange = parts.collect();
            wanted.extend(parts.iter().map(|(id, _)| *id));
            parts
        });
        let parts = parts.collect();
        decisions.extend(self.probe(&mut wanted, now));
        wanted.into_iter().for_each(|id| self.enqueue(id));
        decisions.extend(self.serve(now));
        (parts, decisions)
    }

    /// An answer has come: the part that it is the first answer of, and what is to be done.
    pub(crate) fn answered(
        &mut self,
        ask: AskId,
        now: Duration,
    ) -> (Option<PartId>, Vec<Decision>) {
        let Some(ask) = self.asks.remove(&ask) else {
            return (None, Vec::new());
        };
        if let Some(member) = self.members.get_mut(ask.member) {
            member.answered(ask.bytes, !self.queue.is_empty(), now);
        }
        self.members.succeeded(ask.member);
        let part = self.parts.remove(&ask.part).map(|_| ask.part);
        let mut decisions = self.tend(now);
        decisions.extend(self.serve(now));
        (part, decisions)
    }

    /// A request failed.
    pub(crate) fn failed(&mut self, id: AskId, now: Duration) -> Vec<Decision> {
        let Some(ask) = self.asks.remove(&id) else {
            return Vec::new();
        };
        if let Some(member) = self.members.get_mut(ask.member) {
            member.quality.failed(ask.bytes, now);
        }
        self.members.failed(ask.member, now);
        let mut decisions = self.tend(now);
        if let Some(part) = self.parts.get_mut(&ask.part) {
            part.live.retain(|live| *live != id);
            part.tried.insert(ask.member);
            if part.live.is_empty() {
                decisions.extend(self.place(vec![ask.part], now));
            }
        }
        decisions.extend(self.serve(now));
        decisions
    }

    /// Nothing within these ranges is wanted any more: the parts that lie there. What comes of them counts for nothing, as
    /// do the late answers to others.
    pub(crate) fn abandoned(&mut self, ranges: &[Range<u64>], now: Duration) -> Vec<PartId> {
        let parts = self.parts.iter();
        let parts = parts.filter(|(_, part)| is_within(&part.range, ranges));
        let gone: Vec<PartId> = parts.map(|(&id, _)| id).collect();
        for id in &gone {
            self.parts.remove(id);
        }
        let asks = self.asks.iter();
        let idle = asks.filter(|(_, ask)| !self.parts.contains_key(&ask.part));
        let idle: Vec<AskId> = idle.map(|(&id, _)| id).collect();
        for ask in idle.iter().filter_map(|id| self.asks.remove(id)) {
            if let Some(member) = self.members.get_mut(ask.member) {
                member.quality.release(ask.bytes, now);
            }
        }
        gone
    }

    /// A source is open. `round_trip`: what its opening tells.
    pub(crate) fn opened(
        &mut self,
        member: Number,
        round_trip: Duration,
        now: Duration,
    ) -> Vec<Decision> {
        self.members.opened(member, round_trip);
        self.place_waiting(now)
    }

    /// A source could not be opened.
    pub(crate) fn refused(&mut self, member: Number, now: Duration) -> Vec<Decision> {
        self.members.failed(member, now);
        for part in self.parts.values_mut().filter(|p| p.is_homeless()) {
            part.tried.insert(member);
        }
        self.place_waiting(now)
    }

    /// A source has another file: it is never asked.
    pub(crate) fn left_out(&mut self, member: Number, now: Duration) -> Vec<Decision> {
        self.members.left_out(member);
        self.place_waiting(now)
    }

    fn number(&mut self) -> u64 {
        self.next = self.next.wrapping_add(1);
        self.next
    }

    fn tend(&mut self, now: Duration) -> Vec<Decision> {
        let open = self.members.tend(now);
        open.into_iter().map(Decision::Open).collect()
    }

    /// Now and then the last of the parts goes to an inactive source, to see how good it is.
    fn probe(&mut self, parts: &mut Vec<PartId>, now: Duration) -> Option<Decision> {
        let bytes = parts
            .iter()
            .filter_map(|id| Some(length(&self.parts.get(id)?.range)));
        self.unprobed = bytes.fold(self.unprobed, u64::saturating_add);
        while self.unprobed >= PROBE_BYTES {
            self.unprobed = self.unprobed.saturating_sub(PROBE_BYTES);
            self.probes |= self.random.draw() < PROBE;
        }
        let inactive = self.members.with(Standing::Inactive);
        if !self.probes || inactive.is_empty() || parts.is_empty() {
            return None;
        }
        self.probes = false;
        let member = *inactive.get(self.random.below(inactive.len()))?;
        let last = parts.pop()?;
        self.ask(member, &[last], now)
    }

    /// Asks a source for parts.
    fn ask(&mut self, member: Number, parts: &[PartId], now: Duration) -> Option<Decision> {
        let mut asked = Vec::with_capacity(parts.len());
        for &part in parts {
            let id = self.number();
            let Some(found) = self.parts.get_mut(&part) else {
                continue;
            };
            let bytes = length(&found.range);
            let Some(source) = self.members.get_mut(member) else {
                continue;
            };
            let expected = source.quality.finish(bytes, now);
            source.given += source.quality.expected(bytes, now);
            source.quality.asked(bytes, now);
            found.live.push(id);
            asked.push((id, found.range.clone()));
            let due = now.saturating_add(patience(expected));
            self.asks.insert(
                id,
                Ask {
                    member,
                    part,
                    bytes,
                    due,
                },
            );
        }
        (!asked.is_empty()).then_some(Decision::Ask(member, asked))
    }

    fn place_waiting(&mut self, now: Duration) -> Vec<Decision> {
        let mut decisions = self.tend(now);
        let homeless = self.parts.iter().filter(|(_, part)| part.is_homeless());
        let homeless = homeless.map(|(&id, _)| id).collect();
        decisions.extend(self.place(homeless, now));
        decisions.extend(self.serve(now));
        decisions
    }

    /// Asks for parts that no request is in flight for, where that can be done.
    fn place(&mut self, parts: Vec<PartId>, now: Duration) -> Vec<Decision> {
        let (mut asks, mut decisions) = (BTreeMap::<Number, Vec<PartId>>::new(), Vec::new());
        let has_active = !self.members.with(Standing::Active).is_empty();
        for id in parts {
            let Some(part) = self.parts.get(&id) else {
                continue;
            };
            if has_active && part.tried.is_empty() {
                self.enqueue(id);
                continue;
            }
            match self.members.next(&part.tried, length(&part.range), now) {
                Next::Ask(member) => asks.entry(member).or_default().push(id),
                Next::Open(member) => decisions.push(Decision::Open(member)),
                Next::Wait => {}
                Next::Nowhere => {
                    decisions.extend(self.needed(now));
                    if !self.search.as_ref().is_some_and(Search::is_running) {
                        self.parts.remove(&id);
                        decisions.push(Decision::GiveUp(id));
                    }
                }
            }
        }
        for (member, parts) in asks {
            decisions.extend(self.ask(member, &parts, now));
        }
        decisions
    }
}

#[cfg(test)]
mod tests;
