//! The stored bytes of some of a branch's baskets, which one read brings together.

use crate::plan::{self, Options};
use crate::window::Window;
use std::ops::Range;
use treemill_format::tree::BasketRef;
use treemill_source::{Source, SourceError};

/// Baskets brought by one vectored read.
#[derive(Debug, Default)]
pub(super) struct Baskets {
    window: Window,
    /// The baskets whose bytes are here.
    here: Range<usize>,
}

impl Baskets {
    /// Brings basket `index`. From a distant source, also brings the baskets after it that begin before entry
    /// `stop`, up to the budget. Returns how many bytes were read: 0 if the basket was already here.
    pub(super) fn bring(
        &mut self,
        source: &dyn Source,
        baskets: &[BasketRef],
        index: usize,
        stop: u64,
        options: &Options,
    ) -> Result<u64, SourceError> {
        if self.here.contains(&index) {
            return Ok(0);
        }
        let budget = match source.costs().is_near() {
            true => 0,
            false => options.window_bytes,
        };
        let wanted = plan::window(baskets, index, stop, budget);
        let stored = baskets.get(wanted.clone()).unwrap_or_default();
        let ranges = stored.iter().map(|basket| basket.bytes.clone()).collect();
        self.here = 0..0;
        let (gap, most) = (options.gap_bytes, options.window_bytes);
        let read = self.window.bring(source, ranges, gap, most)?;
        self.here = wanted;
        Ok(read)
    }

    /// The bytes of a range that was brought; empty if it was not.
    pub(super) fn bytes(&self, range: &Range<u64>) -> &[u8] {
        self.window.bytes(range).unwrap_or_default()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::arithmetic_side_effects)]
mod tests {
    use super::*;
    use treemill_source::{Costs, Memory};
    use treemill_testing::FAR;

    fn baskets() -> Vec<BasketRef> {
        // Every second hundred bytes belong to the branch.
        (0..10)
            .map(|i| BasketRef {
                entries: i * 10..(i + 1) * 10,
                bytes: i * 200..i * 200 + 100,
            })
            .collect()
    }

    fn bring(costs: Costs, gap_bytes: u64, window_bytes: u64) -> (Baskets, u64) {
        let bytes: Vec<u8> = (0..2000_u32).map(|i| (i / 100) as u8).collect();
        let source = Memory::new("m", bytes, costs);
        let mut window = Baskets::default();
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
        let (window, read) = bring(Costs::NEAR, 1000, 1000);
        assert_eq!((read, window.here.clone()), (100, 2..3));
        assert_eq!(window.bytes(&(400..500)), [4; 100]);
        assert!(window.bytes(&(600..700)).is_empty());
    }

    #[test]
    fn a_distant_source_is_read_by_windows() {
        let (window, read) = bring(FAR, 50, 1000);
        assert_eq!((read, window.here.clone()), (400, 2..6));
        assert_eq!(window.bytes(&(1000..1100)), [10; 100]);
        let (window, read) = bring(FAR, 100, 1000);
        assert_eq!(read, 700);
        assert_eq!(window.bytes(&(1000..1100)), [10; 100]);
        let (window, _) = bring(FAR, 100, 250);
        assert_eq!(window.here, 2..4);
    }

    #[test]
    fn what_is_here_is_not_read_again() {
        let (mut window, _) = bring(FAR, 50, 1000);
        let nothing = Memory::new("m", Vec::new(), FAR);
        let mut again = |index| window.bring(&nothing, &baskets(), index, 60, &Options::default());
        assert_eq!(again(5), Ok(0));
        assert!(again(6).is_err());
    }
}
