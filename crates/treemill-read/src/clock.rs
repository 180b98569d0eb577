//! The clock of one reader: at which stage its time is, with one look at the machine's clock where a stage ends. The end of
//! one stage is the beginning of the next, so that no time is counted twice. Knows stages, not what they work on.

use crate::Counters;
use crate::counters::Stage;
use crate::record::{Kind, Step};
use std::time::{Duration, Instant};

impl Stage {
    fn step(self) -> Kind {
        match self {
            Stage::Read => Kind::Read,
            Stage::Decompress => Kind::Decompress,
            Stage::Decode => Kind::Decode,
        }
    }
}

/// What has passed since the counters were last told of it.
#[derive(Debug)]
pub(crate) struct Clock {
    /// When the last stage ended.
    since: Instant,
    spent: [Duration; 3],
}

impl Clock {
    /// A clock that shows nothing.
    pub(crate) fn new() -> Self {
        Clock {
            since: Instant::now(),
            spent: [Duration::ZERO; 3],
        }
    }

    /// What has passed until now belongs to no stage: the reader was elsewhere, or it has waited.
    pub(crate) fn skip(&mut self) {
        self.since = Instant::now();
    }

    /// When the last stage ended, which is when this one began.
    pub(crate) fn since(&self) -> Instant {
        self.since
    }

    /// A stage has come to its end: what has passed since the last one is its time.
    pub(crate) fn end(&mut self, stage: Stage) {
        let now = Instant::now();
        if let Some(spent) = self.spent.get_mut(stage as usize) {
            *spent = spent.saturating_add(now.saturating_duration_since(self.since));
        }
        self.since = now;
    }

    /// Ends a stage as [`Clock::end`] does, and a step of some bytes or rows with it, which began at `began` if other
    /// stages were inside.
    pub(crate) fn end_step(
        &mut self,
        stage: Stage,
        amount: u64,
        began: Option<Instant>,
        counters: &Counters,
    ) {
        let began = began.unwrap_or(self.since);
        self.end(stage);
        if let Some(record) = counters.record() {
            let took = self.since.saturating_duration_since(began);
            record.add(Step::done(stage.step(), began, took, amount));
        }
    }

    /// Adds to the counters what they were not told of so far.
    pub(crate) fn tell(&mut self, counters: &Counters) {
        for (stage, spent) in Stage::ALL.into_iter().zip(&mut self.spent) {
            let spent = std::mem::take(spent);
            if !spent.is_zero() {
                counters.add_time(stage, spent);
            }
        }
    }
}

#[cfg(test)]
#[allow(clippy::indexing_slicing)]
mod tests {
    use super::{Clock, Stage};
    use crate::Counters;
    use crate::record::Kind;
    use std::time::Duration;

    /// A clock whose last stage ended so long ago.
    fn clock(ago: Duration) -> Clock {
        let mut clock = Clock::new();
        let then = clock.since.checked_sub(ago);
        clock.since = then.unwrap_or(clock.since); // a machine that was started just now
        clock
    }

    const LONG: Duration = Duration::from_secs(60);

    #[test]
    fn the_end_of_a_stage_is_the_beginning_of_the_next() {
        let counters = Counters::default();
        let mut clock = clock(LONG);
        clock.end(Stage::Read);
        clock.end(Stage::Decompress);
        clock.tell(&counters);
        assert!(counters.time(Stage::Read) >= LONG);
        assert!(counters.time(Stage::Decompress) < LONG);
        let told = counters.time(Stage::Read);
        clock.tell(&counters);
        assert_eq!(counters.time(Stage::Read), told, "each time is told once");
    }

    #[test]
    fn no_stage_has_the_time_that_is_skipped() {
        let counters = Counters::default();
        let mut clock = clock(LONG);
        clock.skip();
        clock.end(Stage::Decode);
        clock.tell(&counters);
        assert!(counters.time(Stage::Decode) < LONG);
    }

    #[test]
    fn a_step_has_the_stages_inside_of_it_and_its_stage_has_not() {
        let counters = Counters::default();
        counters.keep_steps();
        let mut clock = clock(LONG);
        let began = clock.since();
        clock.end_step(Stage::Decompress, 100, None, &counters);
        clock.end_step(Stage::Decode, 7, Some(began), &counters);
        clock.tell(&counters);
        assert!(counters.time(Stage::Decode) < LONG);
        let (_, steps) = counters.take_steps(|_| ());
        let told: Vec<_> = steps.iter().map(|step| (step.kind, step.amount)).collect();
        assert_eq!(told, [(Kind::Decompress, 100), (Kind::Decode, 7)]);
        assert!(steps[1].took >= steps[0].took);
    }

    #[test]
    fn no_step_is_kept_unless_it_is_asked_for() {
        let counters = Counters::default();
        clock(LONG).end_step(Stage::Decode, 7, None, &counters);
        assert!(counters.take_steps(|_| ()).1.is_empty());
    }
}
