//! Requests that are late, and where they are asked for, too. Pure, as all of the state. Knows nothing of openings.

use super::{Ask, Decision, Part, PartId, State, length};
use crate::replicas::limits::UNSEEN;
use crate::replicas::members::{Number, Standing};
use crate::replicas::quality::patience;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

impl State {
    /// A source has lost its connection: all that it owes is late.
    pub(crate) fn lost(&mut self, member: Number, now: Duration) {
        for ask in self.asks.values_mut().filter(|ask| ask.member == member) {
            ask.due = ask.due.min(now);
        }
    }

    /// Looks for requests that are late.
    pub(crate) fn tick(&mut self, now: Duration) -> Vec<Decision> {
        let mut decisions = self.tend(now);
        let late = self.late(now);
        let is_alone = self.members.with(Standing::Active).len() < 2;
        if !late.is_empty() && is_alone {
            decisions.extend(self.needed(now));
        }
        for member in late.values().flatten().copied().collect::<BTreeSet<_>>() {
            if let Some(found) = self.members.get_mut(member)
                && !std::mem::replace(&mut found.is_late, true)
            {
                found.quality.wasted(now);
            }
            if self.members.with(Standing::Active).contains(&member) {
                self.members.step_back(member, now);
            }
        }
        let mut again: BTreeMap<Number, Vec<PartId>> = BTreeMap::new();
        for &part in late.keys() {
            if let Some(other) = self.other(part, now) {
                again.entry(other).or_default().push(part);
            }
        }
        for (member, parts) in again {
            decisions.extend(self.ask(member, &parts, now));
        }
        decisions.extend(self.serve(now));
        decisions
    }

    /// When [`State::tick`] may have something to do, if nothing happens before.
    pub(crate) fn due(&self) -> Option<Duration> {
        self.parts
            .values()
            .filter_map(|part| self.late_from(part))
            .min()
    }

    /// When all requests for a part are late; `None` if there is none.
    fn late_from(&self, part: &Part) -> Option<Duration> {
        let asks = part.live.iter().filter_map(|id| self.asks.get(id));
        asks.map(|ask| ask.due.min(self.silent_from(ask))).max()
    }

    /// When a source that owes this answer counts as silent.
    fn silent_from(&self, ask: &Ask) -> Duration {
        let silent = || {
            let quality = &self.members.get(ask.member)?.quality;
            let since = quality.since()?;
            let unseen = quality.owed_bytes().min(UNSEEN).max(ask.bytes);
            Some(since.saturating_add(patience(quality.expected(unseen, since))))
        };
        silent().unwrap_or(Duration::MAX)
    }

    /// Parts of which all requests are late, and the sources that owe them.
    fn late(&self, now: Duration) -> BTreeMap<PartId, BTreeSet<Number>> {
        let late = self.parts.iter().filter(|(_, part)| {
            let from = self.late_from(part);
            from.is_some_and(|from| from <= now)
        });
        late.map(|(&id, part)| (id, self.owing(part))).collect()
    }

    /// The sources that a part is asked of.
    fn owing(&self, part: &Part) -> BTreeSet<Number> {
        let asks = part.live.iter().filter_map(|id| self.asks.get(id));
        asks.map(|ask| ask.member).collect()
    }

    /// Another active source that has not failed the part, if it is not late itself.
    fn other(&self, part: PartId, now: Duration) -> Option<Number> {
        let part = self.parts.get(&part)?;
        let owing = self.owing(part);
        let is_fit = |other: &Number| {
            let is_late = self.members.get(*other).is_none_or(|found| found.is_late);
            !is_late && !owing.contains(other) && !part.tried.contains(other)
        };
        let takes = |n: &Number| {
            let found = self.members.get(*n);
            found.map_or(f64::MAX, |found| {
                found.quality.finish(length(&part.range), now)
            })
        };
        let active = self.members.with(Standing::Active).into_iter();
        active
            .filter(is_fit)
            .min_by(|a, b| takes(a).total_cmp(&takes(b)))
    }
}
