//! The state that the cursors of a reader share while they read. Knows neither trees nor RNTuples.

use crate::Counters;
use crate::counts::Counts;
use crate::inbox::Lease;
use treemill_format::compress::Decompressor;

/// What a cursor needs of its reader. `F` is what it reads from.
pub(crate) struct Context<'a, F = ()> {
    pub(crate) file: &'a F,
    pub(crate) decompressor: &'a mut Decompressor,
    pub(crate) counters: &'a Counters,
    /// List ends that the table's branches share.
    pub(crate) counts: &'a mut Counts,
    /// What was asked of a distant source.
    pub(crate) lease: Option<&'a Lease>,
    /// Whether the arrays' memory is wanted again, for the batch after this.
    pub(crate) again: bool,
    /// Whether booleans are wanted as bytes, as far as that can be.
    pub(crate) bytes: bool,
}

impl Context<'_> {
    /// The same context for a cursor that reads from `file`.
    pub(crate) fn of<'a, F>(&'a mut self, file: &'a F) -> Context<'a, F> {
        Context {
            file,
            decompressor: self.decompressor,
            counters: self.counters,
            counts: self.counts,
            lease: self.lease,
            again: self.again,
            bytes: self.bytes,
        }
    }
}
