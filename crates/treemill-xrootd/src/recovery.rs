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
    /// When the first failure since the last progress was.
    since: Option<Duration>,
}

impl Recovery {
    pub(crate) fn new() -> Self {
        Recovery {
            phase: Phase::Open,
            generation: 0,
            waiting: Vec::new(),
            avoid: Vec::new(),
            attempts: 0,
            since: None,
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
    pub(crate) fn wanted(&mut self, pieces: Vec<Piece>, now: Duration) -> Vec<Step> {
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
        (self.attempts, self.since) = (0, Some(now));
        self.open(Duration::ZERO)
    }

    /// Bytes came of what was asked for: the server is well.
    pub(crate) fn progressed(&mut self) {
        (self.attempts, self.since) = (0, None);
        self.avoid.clear();
    }

    /// Pieces that were asked for will not come.
    pub(crate) fn lost(&mut self, pieces: Vec<Piece>, loss: &Loss, now: Duration) -> Vec<Step> {
        let tried = pieces.into_iter().map(|piece| Piece {
            tries: piece.tries.saturating_add(u32::from(loss.is_refusal)),
            ..piece
        });
        // Openings that succeed and bring nothing end, too.
        let waited = self.since.map(|since| now.saturating_sub(since));
        let is_late = waited.is_some_and(|waited| waited >= limits::FUTILE);
        let (again, hopeless): (Vec<_>, Vec<_>) =
            tried.partition(|piece| piece.tries < limits::MOST_TRIES && !is_late);
        let mut steps = Vec::new();
        if !hopeless.is_empty() {
            steps.push(Step::GiveUp(hopeless));
        }
        if again.is_empty() {
            return steps;
        }
        if self.phase != Phase::Open || loss.generation != self.generation {
            steps.extend(self.wanted(again, now));
            return steps;
        }
        self.waiting.extend(again);
        self.since.get_or_insert(now);
        if !self.avoid.contains(&loss.host) {
            self.avoid.push(loss.host.clone());
        }
        steps.extend(self.open(self.delay()));
        steps
    }

    /// The file is open again.
    pub(crate) fn reopened(&mut self) -> Vec<Step> {
        self.phase = Phase::Open;
        self.generation = self.generation.wrapping_add(1);
        vec![Step::Send(std::mem::take(&mut self.waiting))]
    }

    /// The file could not be opened again. `may_help`: another attempt may do better.
    pub(crate) fn refused(&mut self, may_help: bool, now: Duration) -> Vec<Step> {
        let waited = now.saturating_sub(*self.since.get_or_insert(now));
        let was_choosy = !self.avoid.is_empty();
        // With every server to be avoided there may be none left, though one of them may be back.
        self.avoid.clear();
        if (may_help || was_choosy) && waited < limits::RECOVERY {
            return self.open(self.delay());
        }
        self.phase = Phase::Closed;
        vec![Step::GiveUp(std::mem::take(&mut self.waiting))]
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
