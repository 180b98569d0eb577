//! Reads a range of a source in blocks and keeps nothing of it: what a storage gives, without anything that is made of its
//! bytes. Knows no format.

use crate::limits::DRAIN_LOOK;
use crate::{Source, SourceError, Ticket};
use std::collections::VecDeque;
use std::ops::Range;
use std::time::{Duration, Instant};

/// How a range is read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Blocks {
    /// The bytes to read.
    pub range: Range<u64>,
    /// Bytes of one request; at least 1.
    pub block: u64,
    /// Bytes that may be on their way; with less than two blocks one block is, after the other. Near sources give one block at
    /// a time in any case.
    pub window: u64,
}

/// Reads the blocks in order, as long as `goes_on` says so, and calls `took` with the size of each and the time from its
/// request until it was here. Gives the number of bytes that were read.
///
/// ```
/// use std::time::Duration;
/// use treemill_source::{Blocks, Costs, Memory, drain};
///
/// let far = Memory::new("root://host//file", vec![7; 1000], Costs::far(Duration::from_millis(1)));
/// let blocks = Blocks { range: 0..1000, block: 300, window: 600 };
/// let mut sizes = Vec::new();
/// let read = drain(&far, &blocks, || true, |size, _| sizes.push(size))?;
/// assert_eq!((read, sizes), (1000, vec![300, 300, 300, 100]));
/// # Ok::<(), treemill_source::SourceError>(())
/// ```
///
/// # Errors
/// The first block's that could not be read.
pub fn drain(
    source: &dyn Source,
    blocks: &Blocks,
    mut goes_on: impl FnMut() -> bool,
    mut took: impl FnMut(u64, Duration),
) -> Result<u64, SourceError> {
    let block = blocks.block.max(1);
    let at_once = match source.costs().is_near() {
        true => 1,
        false => blocks.window.checked_div(block).unwrap_or(1).max(1),
    };
    let at_once = usize::try_from(at_once).unwrap_or(usize::MAX);
    let mut at = blocks.range.start;
    let mut flying: VecDeque<(u64, Instant, Ticket)> = VecDeque::new();
    let mut read = 0_u64;
    loop {
        while at < blocks.range.end && flying.len() < at_once {
            let end = at.saturating_add(block).min(blocks.range.end);
            let (size, asked) = (end.saturating_sub(at), Instant::now());
            let tickets = source.submit(std::iter::once(at..end).collect());
            flying.extend(tickets.into_iter().map(|ticket| (size, asked, ticket)));
            at = end;
        }
        let Some((size, asked, ticket)) = flying.pop_front() else {
            return Ok(read);
        };
        let Some(answer) = ticket.wait_while(DRAIN_LOOK, &mut goes_on) else {
            return Ok(read);
        };
        answer?;
        took(size, asked.elapsed());
        read = read.saturating_add(size);
        if !goes_on() {
            return Ok(read);
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::arithmetic_side_effects)]
mod tests {
    use super::*;
    use crate::{Costs, Memory};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn each_byte_is_read_once_whatever_the_blocks(
            start in 0_u64..3000, length in 0_u64..3000, block in 0_u64..700, window in 0_u64..5000, near in any::<bool>(),
        ) {
            let costs = if near { Costs::NEAR } else { Costs::far(Duration::from_millis(1)) };
            let source = Memory::new("root://host//f", vec![1; 6000], costs);
            let blocks = Blocks { range: start..start + length, block, window };
            let mut sizes = Vec::new();
            let read = drain(&source, &blocks, || true, |size, _| sizes.push(size)).unwrap();
            prop_assert_eq!(read, length);
            prop_assert_eq!(sizes.iter().sum::<u64>(), length);
            prop_assert!(sizes.iter().all(|&size| size <= block.max(1)));
        }
    }

    #[test]
    fn it_ends_when_it_is_told_to_and_says_what_fails() {
        let source = Memory::new("f", vec![1; 100], Costs::NEAR);
        let blocks = |end| Blocks {
            range: 0..end,
            block: 10,
            window: 0,
        };
        let mut left = 3;
        let goes_on = || {
            left -= 1;
            left > 0
        };
        assert_eq!(
            drain(&source, &blocks(100), goes_on, |_, _| ()).unwrap(),
            30
        );
        let error = drain(&source, &blocks(105), || true, |_, _| ()).unwrap_err();
        assert_eq!(error.range, Some(100..105));
    }
}
