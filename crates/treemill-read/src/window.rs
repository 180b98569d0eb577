//! Stored bytes that a cursor works on: one basket or page, in a buffer that is used again, or shared with others if it
//! came through the inbox. Knows a range of the file, not what lies in it.

use crate::clock::Clock;
use crate::counters::{Counters, Stage};
use crate::inbox::Lease;
use crate::memory::buffer_pool;
use std::ops::Range;
use tracing::trace_span;
use treemill_source::{Bytes, Request, Source, SourceError};

/// Bytes of one range of the file.
#[derive(Debug, Default)]
pub(crate) struct Window {
    /// The range that was asked for last, and the buffer of those that a near source has read.
    request: Request,
    held: Held,
}

/// Where the bytes of the range are.
#[derive(Debug, Default)]
enum Held {
    /// They are not here: none were asked for, or they could not be had.
    #[default]
    Nothing,
    /// They are in the request's buffer.
    Read,
    /// They came through the inbox.
    Shared(Bytes),
}

impl Window {
    /// Replaces the contents by this range, unless it is here already.
    pub(crate) fn bring(
        &mut self,
        source: &dyn Source,
        lease: Option<&Lease>,
        range: &Range<u64>,
        counters: &Counters,
        clock: &mut Clock,
    ) -> Result<(), SourceError> {
        if self.range() == *range {
            return Ok(());
        }
        self.held = Held::Nothing;
        self.request.range = range.clone();
        self.held = match lease {
            Some(lease) => {
                let bytes = lease.take(range)?;
                clock.skip(); // the counters know how long it has waited
                Held::Shared(bytes)
            }
            None => {
                if self.request.buffer.capacity() == 0 {
                    self.request.buffer = buffer_pool::BYTES.take();
                }
                let requests = std::slice::from_mut(&mut self.request);
                let began = clock.since();
                trace_span!("read", ranges = 1).in_scope(|| source.read(requests))?;
                clock.end(Stage::Read);
                counters.add_read(source, range, began);
                Held::Read
            }
        };
        Ok(())
    }

    /// The range whose bytes are here.
    fn range(&self) -> Range<u64> {
        match self.held {
            Held::Nothing => 0..0,
            Held::Read | Held::Shared(_) => self.request.range.clone(),
        }
    }

    /// The bytes of the range that was brought, or of a part of it.
    pub(crate) fn bytes(&self, range: &Range<u64>) -> Option<&[u8]> {
        let held = self.range();
        let place = |at: u64| usize::try_from(at.checked_sub(held.start)?).ok();
        let bytes = match &self.held {
            Held::Nothing => &[],
            Held::Read => self.request.buffer.as_slice(),
            Held::Shared(bytes) => bytes,
        };
        if range.end > held.end {
            return None;
        }
        bytes.get(place(range.start)?..place(range.end)?)
    }
}

impl Drop for Window {
    fn drop(&mut self) {
        buffer_pool::BYTES.give(std::mem::take(&mut self.request.buffer));
    }
}
