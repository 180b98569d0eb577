//! What to do when requests of an open file fail: ask again, open the file again, or give up. Pure: times and what
//! happened are given, steps come out. Whether there is hope, and how long to wait, `Retry` says. Knows no connection.
//!
//! Each opening of the file is a generation. The first failure of the present one leads to an opening elsewhere; what
//! fails later of an older one is asked again at once. While an opening is under way everything waits for it.

use crate::limits;
use crate::pieces::Piece;
use std::time::Duration;
use treemill_transfer::{Health, Kind, Retry};

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
    /// What was wrong.
    pub(crate) kind: Kind,
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
    /// What was sent while the file is doubted: it is not waited for as long as a connection may be silent.
    doubtful: Vec<Piece>,
    avoid: Vec<String>,
    /// Openings since the last progress.
    openings: u32,
    /// The attempts since then.
    retry: Retry,
}

impl Recovery {
    pub(crate) fn new() -> Self {
        Recovery {
            phase: Phase::Open,
            generation: 0,
            waiting: Vec::new(),
            doubtful: Vec::new(),
            avoid: Vec::new(),
            openings: 0,
            retry: Retry::of_file(limits::RETRY, Duration::ZERO),
        }
    }

    /// The number of the present opening.
    pub(crate) fn generation(&self) -> u64 {
        self.generation
    }

    /// How often the file was opened again since the last progress.
    pub(crate) fn openings(&self) -> u32 {
        self.openings
    }

    /// Whether what is sent is waited for by [`Recovery::tick`], and not for as long as a connection may be silent.
    pub(crate) fn is_doubtful(&self) -> bool {
        self.retry.is_doubtful()
    }

    /// Whether nothing can be sent: the connection is lost.
    pub(crate) fn is_lost(&self) -> bool {
        self.phase != Phase::Open
    }

    /// Nothing is waited for, and something is wanted now: how it is to be tried for. `health`: of the file, over all of its
    /// connections.
    pub(crate) fn begin(&mut self, health: &Health, now: Duration) {
        self.retry = health.tries(Retry::of_file(limits::RETRY, now), now);
        self.openings = 0;
        self.doubtful.clear();
    }

    /// Pieces are wanted.
    pub(crate) fn wanted(&mut self, pieces: Vec<Piece>) -> Vec<Step> {
        if pieces.is_empty() {
            return Vec::new();
        }
        if self.phase == Phase::Open {
            return vec![self.send(pieces)];
        }
        self.waiting.extend(pieces);
        match self.phase {
            Phase::Closed => self.open(Duration::ZERO),
            _ => Vec::new(),
        }
    }

    fn send(&mut self, pieces: Vec<Piece>) -> Step {
        if self.retry.is_doubtful() {
            self.doubtful.extend(pieces.iter().cloned());
        }
        Step::Send(pieces)
    }

    /// Bytes came of what was asked for: the server is well.
    pub(crate) fn progressed(&mut self, health: &mut Health, now: Duration) {
        health.heard(now);
        self.retry.progressed(now);
        self.openings = 0;
        self.avoid.clear();
        self.doubtful.clear();
    }

    /// How long a piece has waited without progress, of the file or of its own.
    fn waited(&self, piece: &Piece, now: Duration) -> Duration {
        now.saturating_sub(piece.asked).min(self.retry.waited(now))
    }

    /// Pieces that were asked for will not come.
    pub(crate) fn lost(
        &mut self,
        pieces: Vec<Piece>,
        loss: &Loss,
        health: &mut Health,
        now: Duration,
    ) -> Vec<Step> {
        let is_lost = |one: &Piece| pieces.iter().any(|it| it.is_part_of(one));
        self.doubtful.retain(|piece| !is_lost(piece));
        let tried = pieces.into_iter().map(|piece| Piece {
            tries: piece.tries.saturating_add(u32::from(loss.is_refusal)),
            ..piece
        });
        if !loss.is_refusal {
            self.retry.resumed(loss.heard);
        }
        // Openings that succeed and bring nothing end, too.
        let is_late = |piece: &Piece| !self.retry.may_begin(loss.kind, self.waited(piece, now));
        let (again, hopeless): (Vec<_>, Vec<_>) =
            tried.partition(|piece| piece.tries < limits::MOST_TRIES && !is_late(piece));
        let is_present = self.phase == Phase::Open && loss.generation == self.generation;
        let late = hopeless.iter().filter(|piece| is_late(piece));
        let late = late.map(|piece| self.waited(piece, now)).max();
        let mut steps = Vec::new();
        if !hopeless.is_empty() {
            steps.push(Step::GiveUp(hopeless));
        }
        if let Some(waited) = late {
            self.given_up(waited, health, now);
        }
        if again.is_empty() {
            // The next request does not meet the same: it opens the file again.
            if is_present && late.is_some() {
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
        steps.extend(self.open_or_give_up(loss.kind, health, now));
        steps
    }

    /// What waits was not had: the file is opened again, if there is hope.
    fn open_or_give_up(&mut self, kind: Kind, health: &mut Health, now: Duration) -> Vec<Step> {
        if let Some(since) = self.waiting.iter().map(|piece| piece.asked).min() {
            self.retry.resumed(since);
            if let Some(wait) = self.retry.again(kind, Duration::ZERO, now) {
                return self.open(wait);
            }
            self.given_up(self.retry.waited(now), health, now);
        }
        self.close();
        vec![Step::GiveUp(std::mem::take(&mut self.waiting))]
    }

    /// Something was given up that has waited for this time. Who asks for it again does not wait for as long once more.
    fn given_up(&mut self, waited: Duration, health: &mut Health, now: Duration) {
        health.doubted(waited, now);
        self.retry = health.tries(Retry::of_file(limits::RETRY, now), now);
    }

    /// The file is open again. What has waited too long for that is given up: its answer could come too late.
    pub(crate) fn reopened(&mut self, health: &mut Health, now: Duration) -> Vec<Step> {
        self.phase = Phase::Open;
        self.generation = self.generation.wrapping_add(1);
        let waiting = std::mem::take(&mut self.waiting).into_iter();
        let may_go_on = |piece: &Piece| self.retry.may_go_on(self.waited(piece, now));
        let (rest, late): (Vec<_>, Vec<_>) = waiting.partition(may_go_on);
        let mut steps = self.give_up_late(late, health, now);
        if !rest.is_empty() {
            steps.push(self.send(rest));
        }
        steps
    }

    /// The file could not be opened again. `may_help`: another attempt may do better.
    pub(crate) fn refused(
        &mut self,
        kind: Kind,
        may_help: bool,
        health: &mut Health,
        now: Duration,
    ) -> Vec<Step> {
        let was_choosy = !self.avoid.is_empty();
        // With every server to be avoided there may be none left, though one of them may be back.
        self.avoid.clear();
        if may_help || was_choosy {
            return self.open_or_give_up(kind, health, now);
        }
        self.close();
        vec![Step::GiveUp(std::mem::take(&mut self.waiting))]
    }

    /// What the time alone brings: nothing waits for an opening for longer than users are promised, and for nothing of a file
    /// that is doubted.
    pub(crate) fn tick(&mut self, health: &mut Health, now: Duration) -> Vec<Step> {
        let is_late =
            |piece: &Piece| self.retry.time_left(self.waited(piece, now)) == Duration::ZERO;
        let split =
            |pieces: &[Piece]| -> (Vec<_>, Vec<_>) { pieces.iter().cloned().partition(is_late) };
        let (mut late, waiting) = split(&self.waiting);
        let (unanswered, doubtful) = split(&self.doubtful);
        (self.waiting, self.doubtful) = (waiting, doubtful);
        // The next request opens the file anew.
        if !unanswered.is_empty() && self.phase == Phase::Open {
            self.close();
        }
        late.extend(unanswered);
        self.give_up_late(late, health, now)
    }

    fn give_up_late(&mut self, late: Vec<Piece>, health: &mut Health, now: Duration) -> Vec<Step> {
        match late.iter().map(|piece| self.waited(piece, now)).max() {
            None => Vec::new(),
            Some(waited) => {
                self.given_up(waited, health, now);
                vec![Step::GiveUp(late)]
            }
        }
    }

    /// When there is something to do for the time alone, if nothing else happens.
    pub(crate) fn due(&self, now: Duration) -> Option<Duration> {
        let all = self.waiting.iter().chain(&self.doubtful);
        let left = all.map(|piece| self.retry.time_left(self.waited(piece, now)));
        left.min()
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
        self.openings = self.openings.saturating_add(1);
        let avoid = self.avoid.clone();
        vec![Step::Open { after, avoid }]
    }
}

#[cfg(test)]
mod tests;
