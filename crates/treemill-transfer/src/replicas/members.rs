//! Which sources are read from: at most two are active, the others wait, are left alone for a while because they failed,
//! or are left out because they have another file. Pure: times are given. Knows no requests.

use crate::replicas::limits::{
    ACTIVE, COMPARE, DISABLED, DISCOVERY, LONGEST, ROOM, TYPICAL, WORSE,
};
use crate::replicas::pace::Pace;
use crate::replicas::quality::Quality;
use std::collections::BTreeSet;
use std::time::Duration;

/// The number of a source, in the order in which they were given.
pub(crate) type Number = usize;

/// What a source is to the reader.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Standing {
    /// It is not open.
    Closed,
    /// It is being opened.
    Opening,
    /// It is read from.
    Active,
    /// It is open, and read from when an active one does worse.
    Inactive,
    /// It failed, and is closed after this time.
    Disabled { until: Duration },
    /// It has another file.
    LeftOut,
}

#[derive(Debug, Clone)]
pub(crate) struct Member {
    pub(crate) standing: Standing,
    pub(crate) quality: Quality,
    pub(crate) pace: Pace,
    /// Failures since the last success.
    failures: u32,
    /// Seconds of work that it was given, for the choice between sources that are alike.
    pub(crate) given: f64,
    /// Whether it has been late since its last answer.
    pub(crate) is_late: bool,
}

impl Member {
    /// Bytes came. `is_asked`: whether there is always something to ask for.
    pub(crate) fn answered(&mut self, bytes: u64, is_asked: bool, now: Duration) {
        self.quality.answered(bytes, now);
        match is_asked {
            true => self.pace.flowed(bytes, self.quality.latency(now), now),
            false => self.pace.paused(),
        }
    }

    /// Bytes that it may be asked for, if they are worth a request.
    pub(crate) fn room(&self, now: Duration) -> u64 {
        let limit = self.pace.limit(self.quality.latency(now));
        let owed = self.quality.owed_bytes();
        let room = limit.saturating_sub(owed);
        match owed > 0 && room < limit / ROOM {
            true => 0,
            false => room,
        }
    }

    fn closed() -> Self {
        Member {
            standing: Standing::Closed,
            quality: Quality::new(Duration::ZERO),
            pace: Pace::default(),
            failures: 0,
            given: 0.0,
            is_late: false,
        }
    }
}

/// Where a part can be asked for that some sources have failed.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// The part is asked of this source, at once.
    Ask(Number),
    /// The part is asked of this source when it is open: it must be opened.
    Open(Number),
    /// The part waits for a source that is being opened.
    Wait,
    /// All sources have failed.
    Nowhere,
}

#[derive(Debug, Clone)]
pub(crate) struct Members {
    all: Vec<Member>,
    /// When a closed source is looked at next, and the time until the look after that.
    discovery: (Duration, Duration),
    compared: Duration,
}

impl Members {
    pub(crate) fn new(count: usize) -> Self {
        Members {
            all: vec![Member::closed(); count],
            discovery: (DISCOVERY, DISCOVERY),
            compared: Duration::ZERO,
        }
    }

    /// One more source, which is not open.
    pub(crate) fn add(&mut self) {
        self.all.push(Member::closed());
    }

    /// Whether there is more than one, or was.
    pub(crate) fn are_many(&self) -> bool {
        self.all.len() > 1
    }

    pub(crate) fn get(&self, number: Number) -> Option<&Member> {
        self.all.get(number)
    }

    pub(crate) fn get_mut(&mut self, number: Number) -> Option<&mut Member> {
        self.all.get_mut(number)
    }

    /// The active ones that are not late; all active ones if all are.
    pub(crate) fn punctual(&self) -> Vec<Number> {
        let active = self.with(Standing::Active);
        let is_late = |number: &Number| self.get(*number).is_some_and(|found| found.is_late);
        if active.iter().all(is_late) {
            return active;
        }
        active.into_iter().filter(|n| !is_late(n)).collect()
    }

    /// The members that are in the state, in order.
    pub(crate) fn with(&self, standing: Standing) -> Vec<Number> {
        self.some(|member| member.standing == standing)
    }

    fn some(&self, is_wanted: impl Fn(&Member) -> bool) -> Vec<Number> {
        let numbered = self.all.iter().enumerate();
        numbered
            .filter(|(_, member)| is_wanted(member))
            .map(|(number, _)| number)
            .collect()
    }

    fn stand(&mut self, number: Number, standing: Standing) {
        let given = self.with(Standing::Active);
        let given = given
            .iter()
            .filter_map(|&other| Some(self.get(other)?.given));
        let most = given.fold(0.0, f64::max);
        if let Some(member) = self.get_mut(number) {
            // A newcomer does not have to make up for the work of the others.
            if standing == Standing::Active {
                member.given = member.given.max(most);
            }
            member.standing = standing;
        }
    }

    /// A source is open. `round_trip`: what its opening tells.
    pub(crate) fn opened(&mut self, number: Number, round_trip: Duration) {
        let has_place = self.with(Standing::Active).len() < ACTIVE;
        let place = if has_place {
            Standing::Active
        } else {
            Standing::Inactive
        };
        self.stand(number, place);
        if let Some(member) = self.get_mut(number) {
            member.quality = Quality::new(round_trip);
            member.pace = Pace::default();
            member.is_late = false;
        }
    }

    /// A source has another file than the others.
    pub(crate) fn left_out(&mut self, number: Number) {
        self.stand(number, Standing::LeftOut);
    }

    /// A source could not be opened, or a read failed. The last one that is open stays.
    pub(crate) fn failed(&mut self, number: Number, now: Duration) {
        let Some(member) = self.get_mut(number) else {
            return;
        };
        if matches!(
            member.standing,
            Standing::Disabled { .. } | Standing::LeftOut
        ) {
            return;
        }
        member.failures = member.failures.saturating_add(1);
        let doubled = DISABLED.saturating_mul(1 << member.failures.saturating_sub(1).min(10));
        let until = now.saturating_add(doubled.min(LONGEST));
        let was_open = member.standing != Standing::Opening;
        let others = self.some(|member| {
            !matches!(
                member.standing,
                Standing::Disabled { .. } | Standing::LeftOut
            )
        });
        if !was_open || others.len() > 1 {
            self.stand(number, Standing::Disabled { until });
        }
    }

    /// A read succeeded.
    pub(crate) fn succeeded(&mut self, number: Number) {
        if let Some(member) = self.get_mut(number) {
            (member.failures, member.is_late) = (0, false);
        }
    }

    /// An active source that is late leaves its place to the best inactive one, if there is one that is not.
    pub(crate) fn step_back(&mut self, number: Number, now: Duration) {
        let best = self.best(Standing::Inactive, now);
        if let Some(other) = best.filter(|&n| self.get(n).is_some_and(|found| !found.is_late)) {
            self.stand(number, Standing::Inactive);
            self.stand(other, Standing::Active);
        }
    }

    /// What time brings: sources come back, free places are taken, worse sources leave theirs. The sources to open.
    pub(crate) fn tend(&mut self, now: Duration) -> Vec<Number> {
        for member in &mut self.all {
            if matches!(member.standing, Standing::Disabled { until } if until <= now) {
                member.standing = Standing::Closed;
            }
        }
        while self.with(Standing::Active).len() < ACTIVE {
            let Some(best) = self.best(Standing::Inactive, now) else {
                break;
            };
            self.stand(best, Standing::Active);
        }
        if now.saturating_sub(self.compared) >= COMPARE {
            self.compared = now;
            self.compare(now);
        }
        let is_short = self.with(Standing::Active).len() < ACTIVE;
        let is_opening = !self.with(Standing::Opening).is_empty();
        let (due, step) = self.discovery;
        if is_opening || !(is_short || due <= now) {
            return Vec::new();
        }
        if due <= now {
            let step = step.saturating_mul(2).min(LONGEST);
            self.discovery = (now.saturating_add(step), step);
        }
        let first = self.with(Standing::Closed).into_iter().next();
        first.into_iter().inspect(|&n| self.open(n)).collect()
    }

    fn open(&mut self, number: Number) {
        self.stand(number, Standing::Opening);
    }

    /// Swaps the worst active source and the best inactive one, if that one is better and both were measured.
    fn compare(&mut self, now: Duration) {
        let measured = |number: &Number| {
            let quality = &self.get(*number)?.quality;
            quality.per_byte(now)?;
            Some((quality.expected(TYPICAL, now), *number))
        };
        let active = self.with(Standing::Active);
        let inactive = self.with(Standing::Inactive);
        let worst = active
            .iter()
            .filter_map(measured)
            .max_by(|a, b| a.0.total_cmp(&b.0));
        let best = inactive
            .iter()
            .filter_map(measured)
            .min_by(|a, b| a.0.total_cmp(&b.0));
        if let (Some((worst, out)), Some((best, into))) = (worst, best)
            && worst > WORSE * best
        {
            self.stand(out, Standing::Inactive);
            self.stand(into, Standing::Active);
        }
    }

    fn best(&self, standing: Standing, now: Duration) -> Option<Number> {
        self.least(self.with(standing), |quality| {
            quality.expected(TYPICAL, now)
        })
    }

    /// The one that takes least, in the caller's measure.
    fn least(&self, among: Vec<Number>, takes: impl Fn(&Quality) -> f64) -> Option<Number> {
        let timed = among
            .into_iter()
            .filter_map(|number| Some((takes(&self.get(number)?.quality), number)));
        timed
            .min_by(|a, b| a.0.total_cmp(&b.0))
            .map(|(_, number)| number)
    }

    /// Where to ask for `bytes` that the sources of `tried` have failed: the other active one, an inactive one, a new
    /// one, one that was left alone.
    pub(crate) fn next(&mut self, tried: &BTreeSet<Number>, bytes: u64, now: Duration) -> Next {
        let untried = |numbers: Vec<Number>| -> Vec<Number> {
            numbers.into_iter().filter(|n| !tried.contains(n)).collect()
        };
        let takes = |quality: &Quality| quality.finish(bytes, now);
        for standing in [Standing::Active, Standing::Inactive] {
            if let Some(found) = self.least(untried(self.with(standing)), takes) {
                return Next::Ask(found);
            }
        }
        if !untried(self.with(Standing::Opening)).is_empty() {
            return Next::Wait;
        }
        let closed = untried(self.with(Standing::Closed));
        let alone =
            untried(self.some(|member| matches!(member.standing, Standing::Disabled { .. })));
        match closed.into_iter().chain(alone).next() {
            Some(number) => {
                self.open(number);
                Next::Open(number)
            }
            None => Next::Nowhere,
        }
    }
}

#[cfg(test)]
mod tests;
