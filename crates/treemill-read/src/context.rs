//! The state that the cursors of a reader share while they read. Knows neither trees nor RNTuples.

use crate::Counters;
use crate::clock::Clock;
use crate::counters::Stage;
use crate::counts::Counts;
use crate::inbox::Lease;
use std::time::Instant;
use treemill_format::compress::Decompressor;

/// What a cursor needs of its reader. `F` is what it reads from.
pub(crate) struct Context<'a, F = ()> {
    pub(crate) file: &'a F,
    pub(crate) decompressor: &'a mut Decompressor,
    pub(crate) counters: &'a Counters,
    pub(crate) clock: &'a mut Clock,
    /// List ends that the table's branches share.
    pub(crate) counts: &'a mut Counts,
    /// What was asked of a distant source.
    pub(crate) lease: Option<&'a Lease>,
    /// Whether the arrays' memory is wanted again, for the batch after this.
    pub(crate) again: bool,
    /// Whether booleans are wanted as bytes, as far as that can be.
    pub(crate) bytes: bool,
}

impl<F> Context<'_, F> {
    /// A stage has come to its end, and so has its step of some bytes or rows ([`Clock::end_step`]).
    pub(crate) fn end(&mut self, stage: Stage, amount: u64, began: Option<Instant>) {
        self.clock.end_step(stage, amount, began, self.counters);
    }
}

impl Context<'_> {
    /// The same context for a cursor that reads from `file`.
    pub(crate) fn of<'a, F>(&'a mut self, file: &'a F) -> Context<'a, F> {
        Context {
            file,
            decompressor: self.decompressor,
            counters: self.counters,
            clock: self.clock,
            counts: self.counts,
            lease: self.lease,
            again: self.again,
            bytes: self.bytes,
        }
    }
}
