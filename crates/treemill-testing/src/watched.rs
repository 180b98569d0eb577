//! A source that records the ranges it is asked for, and has the costs and identity that a test wants. Knows
//! no format.

use std::ops::Range;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use treemill_source::{Costs, Identity, Info, Request, Source, SourceError, Ticket};

/// The costs of a source far away, of which nothing else is known.
pub const FAR: Costs = Costs::far(Duration::from_millis(100));

/// Another source, watched.
#[derive(Debug)]
pub struct Watched<S> {
    source: S,
    info: Info,
    costs: Costs,
    reads: Mutex<Vec<Vec<Range<u64>>>>,
}

impl<S: Source> Watched<S> {
    /// Says of itself what `source` says.
    #[must_use]
    pub fn new(source: S) -> Self {
        Watched {
            info: source.info().clone(),
            costs: source.costs(),
            source,
            reads: Mutex::default(),
        }
    }

    /// Says that a round trip costs this.
    #[must_use]
    pub fn with_costs(self, costs: Costs) -> Self {
        Watched { costs, ..self }
    }

    /// Says that it is this file, or that it cannot say.
    #[must_use]
    pub fn with_identity(mut self, identity: Option<Identity>) -> Self {
        self.info.identity = identity;
        self
    }

    fn note(&self, ranges: Vec<Range<u64>>) {
        let mut reads = self.reads.lock().unwrap_or_else(PoisonError::into_inner);
        reads.push(ranges);
    }

    /// The ranges of each read since this was asked last.
    pub fn reads(&self) -> Vec<Vec<Range<u64>>> {
        std::mem::take(&mut *self.reads.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl<S: Source> Source for Watched<S> {
    fn info(&self) -> &Info {
        &self.info
    }

    fn costs(&self) -> Costs {
        self.costs
    }

    fn read(&self, requests: &mut [Request]) -> Result<(), SourceError> {
        let ranges = requests.iter().map(|request| request.range.clone());
        self.note(ranges.collect());
        self.source.read(requests)
    }

    fn submit(&self, ranges: Vec<Range<u64>>) -> Vec<Ticket> {
        self.note(ranges.clone());
        self.source.submit(ranges)
    }
}
