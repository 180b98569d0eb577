//! What was asked of a distant source: ranges that wait to be sent, that are in flight, and whose bytes wait for their
//! use. A pure state machine: no source, no thread, no clock. `T` is the ticket of a range that was sent.
//!
//! A reader asks under a lease. A range stays until every lease that has asked for it has taken it, as often as it has said,
//! or has ended. A lease may ask on behalf of others: what another one takes, it has taken, too.

use crate::plan;
use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::ops::Range;
use treemill_source::Costs;

/// A range of the file, as the maps have it.
type Place = (u64, u64);

/// What the source's costs say about what is sent.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Policy {
    /// They say which ranges are sent as one.
    pub(crate) costs: Costs,
    /// Bytes that may be in flight.
    pub(crate) ahead: u64,
    /// Bytes that may be in flight or wait for their use.
    pub(crate) held: u64,
}

impl Policy {
    /// Ranges that are sent together, near ones as one.
    fn joined(&self, ranges: Vec<Range<u64>>) -> Vec<Range<u64>> {
        let bytes = ranges.iter().map(length).fold(0, u64::saturating_add);
        let (gap, over) = (self.costs.gap(bytes), self.costs.over_read(bytes));
        plan::coalesce(ranges, gap, self.costs.most_bytes, over)
    }
}

/// One range that was asked for.
#[derive(Debug, Default)]
struct Want {
    /// The flight that brings it; none before it is sent.
    flight: Option<u64>,
    /// Whether a reader has taken it.
    is_used: bool,
    /// The leases that have asked for it and have not taken it.
    leases: BTreeSet<u64>,
}

/// A range that was sent, for one or more wants.
#[derive(Debug)]
struct Flight<T> {
    range: Range<u64>,
    ticket: T,
    wants: usize,
    /// Bytes that readers have taken, each once.
    used: u64,
    /// Whether it is not known to be here.
    is_coming: bool,
}

/// Where the bytes of a range are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Found<T> {
    /// They come with this flight: its number, its range and its ticket.
    Sent(u64, Range<u64>, T),
    /// They were asked for, and wait for others.
    Waits,
    /// They were not asked for.
    Unknown,
}

/// The state. See the module.
#[derive(Debug)]
pub(crate) struct State<T> {
    wants: BTreeMap<Place, Want>,
    /// What each lease has asked for, and how often it will still take it.
    leases: HashMap<u64, BTreeMap<Place, u32>>,
    /// The leases that ask on behalf of others.
    proxies: BTreeSet<u64>,
    /// Wants that are not sent, in the order in which they were asked for. May name some that are gone.
    queue: VecDeque<Place>,
    flights: BTreeMap<u64, Flight<T>>,
    sent: u64,
    /// Bytes of all flights.
    held: u64,
    /// Bytes of those that are not known to be here.
    coming: u64,
    /// Their numbers, and some that are gone, in the order in which they were sent.
    line: VecDeque<u64>,
}

impl<T> Default for State<T> {
    fn default() -> Self {
        State {
            wants: BTreeMap::new(),
            leases: HashMap::new(),
            proxies: BTreeSet::new(),
            queue: VecDeque::new(),
            flights: BTreeMap::new(),
            sent: 0,
            held: 0,
            coming: 0,
            line: VecDeque::new(),
        }
    }
}

impl<T: Clone> State<T> {
    /// A lease asks for ranges, those that it needs first coming first, each with the number of times that it will be taken.
    /// Empty ranges are left out. Of a range that it has asked for before, the larger number counts.
    pub(crate) fn ask(&mut self, lease: u64, ranges: impl IntoIterator<Item = (Range<u64>, u32)>) {
        let asked = self.leases.entry(lease).or_default();
        for (range, uses) in ranges {
            let place = (range.start, range.end);
            if range.is_empty() {
                continue;
            }
            let known = asked.entry(place).or_insert(0);
            let is_new = *known == 0;
            *known = uses.max(*known).max(1);
            if !is_new {
                continue;
            }
            let want = self.wants.entry(place).or_insert_with(|| {
                self.queue.push_back(place);
                Want::default()
            });
            want.leases.insert(lease);
        }
    }

    /// What is to be sent now: as much of what waits as there is room for, but something if nothing is in flight; near
    /// ranges as one. To be followed by [`State::sent`] for each. What is here and waits for its use leaves room for more to
    /// be in flight: the link would else stand still until it is used.
    pub(crate) fn due(&mut self, policy: Policy, is_here: impl Fn(&T) -> bool) -> Vec<Range<u64>> {
        if self.queue.is_empty() {
            return Vec::new();
        }
        self.look(is_here);
        let in_flight = policy.ahead.saturating_sub(self.coming);
        let mut room = in_flight.min(policy.held.saturating_sub(self.held));
        let mut chosen = Vec::new();
        while let Some(&(start, end)) = self.queue.front() {
            let bytes = end.saturating_sub(start);
            let is_first = self.flights.is_empty() && chosen.is_empty();
            if self.waits((start, end)) {
                if bytes > room && !is_first {
                    break;
                }
                chosen.push(start..end);
                room = room.saturating_sub(bytes);
            }
            self.queue.pop_front();
        }
        policy.joined(chosen)
    }

    /// What is to be sent because a reader waits for `range`, room or not: with it, what else its lease waits for, half of
    /// what may be ahead. If later packets have all the room, a reader would else wait for each of its ranges by itself.
    pub(crate) fn urgent(&self, lease: u64, range: &Range<u64>, policy: Policy) -> Vec<Range<u64>> {
        let place = (range.start, range.end);
        if !self.waits(place) {
            return Vec::new();
        }
        let mut chosen = vec![range.clone()];
        let mut room = (policy.ahead / 2).saturating_sub(length(range));
        let is_own = |want: &Want| want.flight.is_none() && want.leases.contains(&lease);
        let mut seen = BTreeSet::from([place]);
        for &other in &self.queue {
            let bytes = other.1.saturating_sub(other.0);
            // A range that was sent and has failed may be in the queue twice.
            if !self.wants.get(&other).is_some_and(is_own) || !seen.insert(other) {
                continue;
            }
            if bytes > room {
                break;
            }
            room = room.saturating_sub(bytes);
            chosen.push(other.0..other.1);
        }
        policy.joined(chosen)
    }

    /// Notes which flights are here. They come about in the order in which they were sent: one that comes before its turn
    /// counts as in flight for so long.
    fn look(&mut self, is_here: impl Fn(&T) -> bool) {
        while let Some(number) = self.line.front() {
            if let Some(flight) = self.flights.get_mut(number) {
                if !is_here(&flight.ticket) {
                    return;
                }
                flight.is_coming = false;
                self.coming = self.coming.saturating_sub(length(&flight.range));
            }
            self.line.pop_front();
        }
    }

    fn waits(&self, place: Place) -> bool {
        self.wants
            .get(&place)
            .is_some_and(|want| want.flight.is_none())
    }

    /// `range` was sent: every want within it that was not sent comes with it.
    pub(crate) fn sent(&mut self, range: Range<u64>, ticket: T) {
        let number = self.sent;
        self.sent = self.sent.saturating_add(1);
        let mut wants: usize = 0;
        for (place, want) in self.wants.range_mut((range.start, 0)..(range.end, 0)) {
            if want.flight.is_none() && place.1 <= range.end {
                want.flight = Some(number);
                wants = wants.saturating_add(1);
            }
        }
        if wants > 0 {
            self.held = self.held.saturating_add(length(&range));
            self.coming = self.coming.saturating_add(length(&range));
            self.line.push_back(number);
            let flight = Flight {
                range,
                ticket,
                wants,
                used: 0,
                is_coming: true,
            };
            self.flights.insert(number, flight);
        }
    }

    /// Where the bytes of a range are.
    pub(crate) fn find(&self, range: &Range<u64>) -> Found<T> {
        let Some(want) = self.wants.get(&(range.start, range.end)) else {
            return Found::Unknown;
        };
        let flight = want
            .flight
            .and_then(|number| Some((number, self.flights.get(&number)?)));
        match flight {
            Some((number, f)) => Found::Sent(number, f.range.clone(), f.ticket.clone()),
            None => Found::Waits,
        }
    }

    /// What this lease asks for is for others.
    pub(crate) fn on_behalf(&mut self, lease: u64) {
        self.proxies.insert(lease);
    }

    /// A lease has taken a range. Gives how many bytes nothing had used before.
    pub(crate) fn taken(&mut self, lease: u64, range: &Range<u64>) -> u64 {
        let place = (range.start, range.end);
        let used = self.used(place);
        let asked_by = self.wants.get(&place).map(|want| &want.leases);
        let proxies = asked_by.map(|all| all.intersection(&self.proxies).copied());
        let proxies: Vec<u64> = proxies.into_iter().flatten().collect();
        for lease in proxies.into_iter().chain([lease]) {
            let Some(asked) = self.leases.get_mut(&lease) else {
                continue;
            };
            let Some(uses) = asked.get_mut(&place) else {
                continue;
            };
            *uses = uses.saturating_sub(1);
            if *uses == 0 {
                asked.remove(&place);
                self.leave(lease, place);
            }
        }
        used
    }

    /// A range is used: how many of its bytes for the first time since they were sent.
    fn used(&mut self, place: Place) -> u64 {
        let Some(want) = self.wants.get_mut(&place).filter(|want| !want.is_used) else {
            return 0;
        };
        want.is_used = true;
        let flight = want.flight.and_then(|number| self.flights.get_mut(&number));
        let Some(flight) = flight else {
            return 0;
        };
        let rest = length(&flight.range).saturating_sub(flight.used);
        let used = place.1.saturating_sub(place.0).min(rest);
        flight.used = flight.used.saturating_add(used);
        used
    }

    /// A lease has ended: what it has asked for and not taken is not wanted any more. Gives the flights that no other lease
    /// wants.
    pub(crate) fn ended(&mut self, lease: u64) -> Vec<(Range<u64>, T)> {
        self.proxies.remove(&lease);
        let places = self.leases.remove(&lease).unwrap_or_default().into_keys();
        places
            .filter_map(|place| self.leave(lease, place))
            .collect()
    }

    /// A lease does not want a range any more. Gives its flight, if none wants anything of it.
    fn leave(&mut self, lease: u64, place: Place) -> Option<(Range<u64>, T)> {
        let want = self.wants.get_mut(&place)?;
        want.leases.remove(&lease);
        if !want.leases.is_empty() {
            return None;
        }
        let number = self.wants.remove(&place)?.flight?;
        let flight = self.flights.get_mut(&number)?;
        flight.wants = flight.wants.saturating_sub(1);
        match flight.wants {
            0 => self.drop_flight(number),
            _ => None,
        }
    }

    /// A flight has failed: its wants wait again, so that the next reader that needs one of them asks the source again.
    pub(crate) fn failed(&mut self, number: u64) {
        let Some(range) = self.flights.get(&number).map(|flight| flight.range.clone()) else {
            return;
        };
        for (place, want) in self.wants.range_mut((range.start, 0)..(range.end, 0)) {
            if want.flight == Some(number) {
                want.flight = None;
                want.is_used = false;
                self.queue.push_back(*place);
            }
        }
        self.drop_flight(number);
    }

    fn drop_flight(&mut self, number: u64) -> Option<(Range<u64>, T)> {
        let flight = self.flights.remove(&number)?;
        self.held = self.held.saturating_sub(length(&flight.range));
        if flight.is_coming {
            self.coming = self.coming.saturating_sub(length(&flight.range));
        }
        if self.flights.is_empty() {
            self.line.clear();
        }
        Some((flight.range, flight.ticket))
    }

    /// Tickets of what a lease has asked for: `None` if some of it is not sent yet.
    pub(crate) fn tickets(&self, lease: u64) -> Option<Vec<T>> {
        let asked = self.leases.get(&lease)?;
        let ticket = |place: &Place| {
            let flight = self.wants.get(place)?.flight?;
            Some(self.flights.get(&flight)?.ticket.clone())
        };
        asked.keys().map(ticket).collect()
    }

    /// Bytes in flight or waiting for their use.
    #[cfg(test)]
    pub(crate) fn held(&self) -> u64 {
        self.held
    }

    /// Bytes in flight, as far as it is known.
    #[cfg(test)]
    pub(crate) fn coming(&self) -> u64 {
        self.coming
    }

    #[cfg(test)]
    pub(crate) fn is_empty(&self) -> bool {
        self.wants.is_empty() && self.flights.is_empty() && (self.held, self.coming) == (0, 0)
    }
}

fn length(range: &Range<u64>) -> u64 {
    range.end.saturating_sub(range.start)
}
