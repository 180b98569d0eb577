//! What to do when requests of an open file fail: ask again, open the file again, or give up. Pure: times and what
//! happened are given, steps come out. Knows no connection.
//!
//! Each opening of the file is a generation. The first failure of the present one leads to an opening elsewhere; what
//! fails later of an older one is asked again at once. While an opening is under way everything waits for it.

use crate::limits;
use crate::pieces::Piece;
use std::time::Duration;

/// What is to be done.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// Ask for these on the present connection.
    Send(Vec<Piece>),
    /// Open the file again after a while, best not on these hosts; then say [`Recovery::reopened`] or
    /// [`Recovery::refused`].
    Open { after: Duration, avoid: Vec<String> },
    /// These cannot be had.
    GiveUp(Vec<Piece>),
}

/// How pieces were lost.
#[derive(Debug, Clone)]
pub(crate) struct Loss {
    /// The opening of the file in which they were asked for.
    pub(crate) generation: u64,
    /// The host that they were asked of.
    pub(crate) host: String,
    /// Whether the server refused these pieces; else the connection was lost with all that was in flight.
    pub(crate) is_refusal: bool,
    /// When the connection brought data last, of any request; zero if it brought none.
    pub(crate) heard: Duration,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// Requests may be sent.
    Open,
    /// The file is being opened again.
    Opening,
    /// It could not be: the next request tries again.
    Closed,
}

/// The state of an open file.
#[derive(Debug)]
pub(crate) struct Recovery {
    phase: Phase,
    generation: u64,
    waiting: Vec<Piece>,
    avoid: Vec<String>,
    /// Openings since the last progress.
    attempts: u32,
    /// When bytes came last.
    progress: Duration,
    /// What was tried in vain since then.
    ill: Option<Ill>,
}

/// A file that could not be opened again.
#[derive(Debug, Clone, Copy)]
struct Ill {
    /// Since when it was waited for.
    since: Duration,
    /// When it was given up last.
    until: Duration,
}

impl Recovery {
    pub(crate) fn new() -> Self {
        Recovery {
            phase: Phase::Open,
            generation: 0,
            waiting: Vec::new(),
            avoid: Vec::new(),
            attempts: 0,
            progress: Duration::ZERO,
            ill: None,
        }
    }

    /// The number of the present opening.
    pub(crate) fn generation(&self) -> u64 {
        self.generation
    }

    /// How often the file was opened again since the last progress.
    pub(crate) fn attempts(&self) -> u32 {
        self.attempts
    }

    /// Whether nothing can be sent: the connection is lost.
    pub(crate) fn is_lost(&self) -> bool {
        self.phase != Phase::Open
    }

    /// Pieces are wanted.
    pub(crate) fn wanted(&mut self, pieces: Vec<Piece>) -> Vec<Step> {
        if pieces.is_empty() {
            return Vec::new();
        }
        if self.phase == Phase::Open {
            return vec![Step::Send(pieces)];
        }
        self.waiting.extend(pieces);
        if self.phase == Phase::Opening {
            return Vec::new();
        }
        self.attempts = 0;
        self.open(Duration::ZERO)
    }

    /// Bytes came of what was asked for: the server is well.
    pub(crate) fn progressed(&mut self, now: Duration) {
        (self.attempts, self.progress) = (0, now);
        self.ill = None;
        self.avoid.clear();
    }

    /// How long a piece has waited without progress, of the file or of its own.
    fn waited(&self, piece: &Piece, now: Duration) -> Duration {
        now.saturating_sub(piece.asked.max(self.progress))
    }

    /// Pieces that were asked for will not come.
    pub(crate) fn lost(&mut self, pieces: Vec<Piece>, loss: &Loss, now: Duration) -> Vec<Step> {
        let tried = pieces.into_iter().map(|piece| Piece {
            tries: piece.tries.saturating_add(u32::from(loss.is_refusal)),
            ..piece
        });
        if !loss.is_refusal {
            self.progress = self.progress.max(loss.heard);
        }
        // Openings that succeed and bring nothing end, too.
        let is_late = |piece: &Piece| self.waited(piece, now) >= limits::FUTILE;
        let (again, hopeless): (Vec<_>, Vec<_>) =
            tried.partition(|piece| piece.tries < limits::MOST_TRIES && !is_late(piece));
        let is_present = self.phase == Phase::Open && loss.generation == self.generation;
        let is_futile = is_present && again.is_empty() && hopeless.iter().any(is_late);
        let mut steps = Vec::new();
        if !hopeless.is_empty() {
            steps.push(Step::GiveUp(hopeless));
        }
        if again.is_empty() {
            // The next request does not meet the same: it opens the file again.
            if is_futile {
                self.close();
            }
            return steps;
        }
        if !is_present {
            steps.extend(self.wanted(again));
            return steps;
        }
        self.waiting.extend(again);
        if !self.avoid.contains(&loss.host) {
            self.avoid.push(loss.host.clone());
        }
        steps.extend(self.open(self.delay()));
        steps
    }

    /// The file is open again. What has waited too long for that is given up: its answer could come too late.
    pub(crate) fn reopened(&mut self, now: Duration) -> Vec<Step> {
        self.phase = Phase::Open;
        self.generation = self.generation.wrapping_add(1);
        let mut steps = self.give_up_after(limits::LAST_SENDING, now);
        if !self.waiting.is_empty() {
            steps.push(Step::Send(std::mem::take(&mut self.waiting)));
        }
        steps
    }

    /// The file could not be opened again. `may_help`: another attempt may do better.
    pub(crate) fn refused(&mut self, may_help: bool, now: Duration) -> Vec<Step> {
        let waiting = self.waiting.iter();
        let waited = waiting.map(|piece| self.waited(piece, now)).max();
        let was_choosy = !self.avoid.is_empty();
        // With every server to be avoided there may be none left, though one of them may be back.
        self.avoid.clear();
        let began = now.saturating_sub(waited.unwrap_or_default());
        // Who asks again for what was given up a moment ago does not wait as long once more.
        let ill = self
            .ill
            .filter(|ill| began < ill.until.saturating_add(limits::DOUBT));
        let (since, limit) = match ill {
            Some(ill) => (ill.since, limits::LAST_SENDING),
            None => (began, limits::RECOVERY),
        };
        let is_soon = waited.is_some() && now.saturating_sub(since) < limit;
        if (may_help || was_choosy) && is_soon {
            return self.open(self.delay());
        }
        self.ill = Some(Ill { since, until: now });
        self.close();
        vec![Step::GiveUp(std::mem::take(&mut self.waiting))]
    }

    /// What the time alone brings: nothing waits for an opening for longer than users are promised.
    pub(crate) fn tick(&mut self, now: Duration) -> Vec<Step> {
        self.give_up_after(limits::PROMISED, now)
    }

    /// When there is something to do for the time alone, if nothing else happens.
    pub(crate) fn due(&self, now: Duration) -> Option<Duration> {
        let waiting = self.waiting.iter();
        let left = waiting.map(|piece| limits::PROMISED.saturating_sub(self.waited(piece, now)));
        left.min()
    }

    fn give_up_after(&mut self, limit: Duration, now: Duration) -> Vec<Step> {
        let waiting = std::mem::take(&mut self.waiting).into_iter();
        let (late, rest): (Vec<_>, Vec<_>) =
            waiting.partition(|piece| self.waited(piece, now) >= limit);
        self.waiting = rest;
        match late.is_empty() {
            true => Vec::new(),
            false => vec![Step::GiveUp(late)],
        }
    }

    /// The connection was closed because nothing used it, which is no fault of its server.
    pub(crate) fn rested(&mut self) {
        if self.phase == Phase::Open {
            self.close();
        }
    }

    /// The next request opens the file, at any server.
    fn close(&mut self) {
        self.phase = Phase::Closed;
        self.avoid.clear();
    }

    fn open(&mut self, after: Duration) -> Vec<Step> {
        self.phase = Phase::Opening;
        self.attempts = self.attempts.saturating_add(1);
        let avoid = self.avoid.clone();
        vec![Step::Open { after, avoid }]
    }

    /// The wait before the next attempt: no time before the first, then twice as long each time up to a bound.
    fn delay(&self) -> Duration {
        let doublings = self.attempts.min(8);
        match doublings.checked_sub(1) {
            None => Duration::ZERO,
            Some(power) => limits::BACKOFF
                .saturating_mul(1 << power)
                .min(limits::MOST_BACKOFF),
        }
    }
}

#[cfg(test)]
mod tests;
