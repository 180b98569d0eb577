//! Stored bytes that a cursor works on: one basket or page, in a buffer that is used again, or shared with others if it
//! came through the inbox. Knows a range of the file, not what lies in it.

use crate::counters::{Counters, Stage};
use crate::inbox::Lease;
use crate::memory::shelf;
use std::ops::Range;
use std::time::Instant;
use tracing::trace_span;
use treemill_source::{Bytes, Request, Source, SourceError};

/// Bytes of one range of the file.
#[derive(Debug, Default)]
pub(crate) struct Window {
    /// The range, and its buffer if the source is near.
    request: Request,
    /// Its bytes if the source is far.
    shared: Option<Bytes>,
}

impl Window {
    /// Replaces the contents by this range, unless it is here already.
    pub(crate) fn bring(
        &mut self,
        source: &dyn Source,
        lease: Option<&Lease>,
        range: &Range<u64>,
        counters: &Counters,
    ) -> Result<(), SourceError> {
        if self.request.range == *range {
            return Ok(());
        }
        self.request.range = 0..0; // until the bytes are here
        match lease {
            Some(lease) => self.shared = Some(lease.take(range)?),
            None => {
                if self.request.buffer.capacity() == 0 {
                    self.request.buffer = shelf::BYTES.take();
                }
                let mut request = std::mem::take(&mut self.request);
                request.range = range.clone();
                let requests = std::slice::from_mut(&mut request);
                let began = counters.record().map(|_| Instant::now());
                let read = counters.timed(Stage::Read, 1, || {
                    trace_span!("read", ranges = 1).in_scope(|| source.read(requests))
                });
                self.request.buffer = request.buffer;
                read?;
                counters.add_read(source, range, began);
            }
        }
        self.request.range = range.clone();
        Ok(())
    }

    /// The bytes of the range that was brought, or of a part of it.
    pub(crate) fn bytes(&self, range: &Range<u64>) -> Option<&[u8]> {
        let held = &self.request.range;
        let place = |at: u64| usize::try_from(at.checked_sub(held.start)?).ok();
        let bytes = self.shared.as_deref().unwrap_or(&self.request.buffer);
        if range.end > held.end {
            return None;
        }
        bytes.get(place(range.start)?..place(range.end)?)
    }
}

impl Drop for Window {
    fn drop(&mut self) {
        shelf::BYTES.give(std::mem::take(&mut self.request.buffer));
    }
}
