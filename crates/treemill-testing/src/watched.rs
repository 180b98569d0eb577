//! A source that records the ranges it is asked for, and has the latency and identity that a test wants. Knows
//! no format.

use std::ops::Range;
use std::sync::{Mutex, PoisonError};
use treemill_source::{Identity, Latency, Request, Source, SourceError};

/// Another source, watched.
#[derive(Debug)]
pub struct Watched<S> {
    source: S,
    latency: Latency,
    identity: Option<Identity>,
    reads: Mutex<Vec<Vec<Range<u64>>>>,
}

impl<S: Source> Watched<S> {
    /// Says of itself what `source` says.
    #[must_use]
    pub fn new(source: S) -> Self {
        Watched {
            latency: source.latency(),
            identity: source.identity(),
            source,
            reads: Mutex::default(),
        }
    }

    /// Says that a round trip costs this.
    #[must_use]
    pub fn with_latency(self, latency: Latency) -> Self {
        Watched { latency, ..self }
    }

    /// Says that it is this file, or that it cannot say.
    #[must_use]
    pub fn with_identity(self, identity: Option<Identity>) -> Self {
        Watched { identity, ..self }
    }

    /// The ranges of each read since this was asked last.
    pub fn reads(&self) -> Vec<Vec<Range<u64>>> {
        std::mem::take(&mut *self.reads.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl<S: Source> Source for Watched<S> {
    fn name(&self) -> &str {
        self.source.name()
    }

    fn size(&self) -> u64 {
        self.source.size()
    }

    fn latency(&self) -> Latency {
        self.latency
    }

    fn identity(&self) -> Option<Identity> {
        self.identity
    }

    fn read(&self, requests: &mut [Request]) -> Result<(), SourceError> {
        let ranges = requests.iter().map(|request| request.range.clone());
        let mut reads = self.reads.lock().unwrap_or_else(PoisonError::into_inner);
        reads.push(ranges.collect());
        drop(reads);
        self.source.read(requests)
    }
}
