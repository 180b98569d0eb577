//! Stored bytes of one vectored read, in reused buffers. Knows ranges of the file, not what lies in them.

use crate::memory::shelf;
use crate::plan;
use std::ops::Range;
use tracing::trace_span;
use treemill_source::{Request, Source, SourceError};

/// Bytes of some ranges of the file.
#[derive(Debug, Default)]
pub(crate) struct Window {
    /// In file order. Requests beyond `used` are spare buffers.
    requests: Vec<Request>,
    used: usize,
}

impl Window {
    /// Replaces the contents by these ranges; ranges less than `gap` apart are read as one of at most `most`
    /// bytes. Returns how many bytes were read.
    pub(crate) fn bring(
        &mut self,
        source: &dyn Source,
        ranges: Vec<Range<u64>>,
        gap: u64,
        most: u64,
    ) -> Result<u64, SourceError> {
        let ranges = plan::coalesce(ranges, gap, most);
        self.used = 0;
        if self.requests.len() < ranges.len() {
            self.requests.resize_with(ranges.len(), || Request {
                buffer: shelf::BYTES.take(),
                ..Request::default()
            });
        }
        let used = ranges.len();
        for (request, range) in self.requests.iter_mut().zip(ranges) {
            request.range = range;
        }
        let requests = self.requests.get_mut(..used).unwrap_or_default();
        trace_span!("read", ranges = used).in_scope(|| source.read(requests))?;
        self.used = used;
        Ok(requests.iter().map(|r| r.buffer.len() as u64).sum())
    }

    /// The bytes of a range that was brought.
    pub(crate) fn bytes(&self, range: &Range<u64>) -> Option<&[u8]> {
        let requests = self.requests.get(..self.used)?;
        let after = requests.partition_point(|r| r.range.start <= range.start);
        let request = requests.get(after.checked_sub(1)?)?;
        let place = |at: u64| usize::try_from(at.checked_sub(request.range.start)?).ok();
        request.buffer.get(place(range.start)?..place(range.end)?)
    }
}

impl Drop for Window {
    fn drop(&mut self) {
        for request in self.requests.drain(..) {
            shelf::BYTES.give(request.buffer);
        }
    }
}
