//! The compressed bytes of some of a branch's baskets, in buffers that are used again and again.

use std::ops::Range;
use treemill_format::tree::BasketRef;
use treemill_source::{Latency, Request, Source, SourceError};

use crate::plan::{self, Options};
use crate::shelf;

/// Bytes brought by one vectored read.
#[derive(Debug, Default)]
pub(crate) struct Window {
    /// The read's ranges in file order, and their bytes. Those beyond `used` are spare buffers.
    requests: Vec<Request>,
    used: usize,
    /// Baskets whose bytes are here.
    baskets: Range<usize>,
}

impl Window {
    /// Brings basket `index`, and, from a distant source, those after it that begin before entry
    /// `stop`, as far as the budget goes. Returns how many bytes were read: 0 where the basket
    /// was already here.
    pub(crate) fn bring(
        &mut self,
        source: &dyn Source,
        baskets: &[BasketRef],
        index: usize,
        stop: u64,
        options: &Options,
    ) -> Result<u64, SourceError> {
        if self.baskets.contains(&index) {
            return Ok(0);
        }
        let budget = match source.latency() {
            Latency::Local => 0,
            Latency::Remote => options.window_bytes,
        };
        let wanted = plan::window(baskets, index, stop, budget);
        let ranges = baskets
            .get(wanted.clone())
            .unwrap_or_default()
            .iter()
            .map(|basket| basket.bytes.clone())
            .collect();
        let ranges = plan::coalesce(ranges, options.gap_bytes, options.window_bytes);
        self.baskets = 0..0;
        self.used = ranges.len();
        if self.requests.len() < ranges.len() {
            self.requests.resize_with(ranges.len(), || Request {
                buffer: shelf::BYTES.take(),
                ..Request::default()
            });
        }
        for (request, range) in self.requests.iter_mut().zip(ranges) {
            request.range = range;
        }
        let requests = self.requests.get_mut(..self.used).unwrap_or_default();
        source.read(requests)?;
        self.baskets = wanted;
        Ok(requests.iter().map(|r| r.buffer.len() as u64).sum())
    }

    /// The bytes of a range that was brought; empty where it was not.
    pub(crate) fn bytes(&self, range: &Range<u64>) -> &[u8] {
        let requests = self.requests.get(..self.used).unwrap_or_default();
        let after = requests.partition_point(|r| r.range.start <= range.start);
        let Some(request) = after.checked_sub(1).and_then(|i| requests.get(i)) else {
            return &[];
        };
        let place = |at: u64| {
            at.checked_sub(request.range.start)
                .and_then(|n| usize::try_from(n).ok())
        };
        match (place(range.start), place(range.end)) {
            (Some(start), Some(end)) => request.buffer.get(start..end).unwrap_or_default(),
            _ => &[],
        }
    }
}

impl Drop for Window {
    fn drop(&mut self) {
        for request in self.requests.drain(..) {
            shelf::BYTES.give(request.buffer);
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::arithmetic_side_effects)]
mod tests {
    use super::*;
    use treemill_source::Memory;

    fn baskets() -> Vec<BasketRef> {
        // Every second hundred bytes belong to the branch.
        (0..10)
            .map(|i| BasketRef {
                entries: i * 10..(i + 1) * 10,
                bytes: i * 200..i * 200 + 100,
            })
            .collect()
    }

    fn bring(latency: Latency, gap_bytes: u64, window_bytes: u64) -> (Window, u64) {
        let bytes: Vec<u8> = (0..2000_u32).map(|i| (i / 100) as u8).collect();
        let source = Memory::new("m", bytes, latency);
        let mut window = Window::default();
        let options = Options {
            gap_bytes,
            window_bytes,
            ..Options::default()
        };
        let read = window.bring(&source, &baskets(), 2, 60, &options).unwrap();
        (window, read)
    }

    #[test]
    fn a_local_source_is_read_basket_by_basket() {
        let (window, read) = bring(Latency::Local, 1000, 1000);
        assert_eq!((read, window.baskets.clone()), (100, 2..3));
        assert_eq!(window.bytes(&(400..500)), [4; 100]);
        assert!(window.bytes(&(600..700)).is_empty());
    }

    #[test]
    fn a_distant_source_is_read_by_windows() {
        let (window, read) = bring(Latency::Remote, 50, 1000);
        assert_eq!((read, window.used, window.baskets.clone()), (400, 4, 2..6));
        assert_eq!(window.bytes(&(1000..1100)), [10; 100]);
        let (window, read) = bring(Latency::Remote, 100, 1000);
        assert_eq!((read, window.used), (700, 1));
        assert_eq!(window.bytes(&(1000..1100)), [10; 100]);
        let (window, _) = bring(Latency::Remote, 100, 250);
        assert_eq!(window.baskets, 2..4);
    }

    #[test]
    fn what_is_here_is_not_read_again() {
        let (mut window, _) = bring(Latency::Remote, 50, 1000);
        let nothing = Memory::new("m", Vec::new(), Latency::Remote);
        let mut again = |index| window.bring(&nothing, &baskets(), index, 60, &Options::default());
        assert_eq!(again(5), Ok(0));
        assert!(again(6).is_err());
    }
}
