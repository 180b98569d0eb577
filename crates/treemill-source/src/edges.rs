//! The first and the last bytes of a distant file, asked for as soon as it is open: what a file says of itself lies there
//! in most formats. Knows ranges, not what lies in them.

use crate::limits::{END_BYTES, HEAD_BYTES, TAIL_BYTES};
use crate::{Costs, Identity, Part, Request, Source, SourceError, Ticket, is_off};
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A source whose edges are on their way. [`Source::read`] waits for those that it needs. The first [`Source::submit`]
/// drops them: by then the file's description has been read.
///
/// ```
/// use std::sync::Arc;
/// use std::time::Duration;
/// use treemill_source::{Costs, Edges, Memory, Request, Source};
///
/// let far = Costs::far(Duration::from_millis(137));
/// let source = Edges::of(Arc::new(Memory::new("m", vec![7; 1000], far)));
/// let mut request = [Request::new(900..1000)];
/// source.read(&mut request)?; // comes from what was asked for at first
/// assert_eq!(request[0].buffer, [7; 100]);
/// # Ok::<(), treemill_source::SourceError>(())
/// ```
pub struct Edges {
    source: Arc<dyn Source>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// Whether nothing was asked for yet, neither the edges nor data.
    is_new: bool,
    asked: Vec<(Range<u64>, Ticket)>,
}

impl Edges {
    /// Asks for the edges of a distant file, without waiting; of a near one for nothing.
    #[must_use]
    pub fn of(source: Arc<dyn Source>) -> Self {
        let edges = Edges::later(source);
        edges.ask(&mut edges.state());
        edges
    }

    /// Asks for the edges when a part of them is read: for a file that may be known already.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use treemill_source::{Costs, Edges, Memory, Request, Source};
    ///
    /// let source = Edges::later(Arc::new(Memory::new("m", vec![7; 1000], Costs::NEAR)));
    /// let mut request = [Request::new(900..1000)];
    /// source.read(&mut request)?;
    /// assert_eq!(request[0].buffer, [7; 100]);
    /// # Ok::<(), treemill_source::SourceError>(())
    /// ```
    #[must_use]
    pub fn later(source: Arc<dyn Source>) -> Self {
        let is_new = !source.costs().is_near() && !is_off(Part::Startup);
        let asked = Vec::new();
        Edges {
            source,
            state: Mutex::new(State { is_new, asked }),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Asks for the edges, unless something was asked for before.
    fn ask(&self, state: &mut State) {
        if !std::mem::take(&mut state.is_new) {
            return;
        }
        let (source, size) = (&self.source, self.source.size());
        let head = 0..HEAD_BYTES.min(size);
        let end = size.saturating_sub(END_BYTES).max(head.end)..size;
        let tail = size.saturating_sub(TAIL_BYTES).max(head.end)..end.start;
        // Two requests: the second one's bytes may take round trips more while a connection is new.
        for ranges in [vec![head, end], vec![tail]] {
            let ranges: Vec<_> = ranges.into_iter().filter(|r| !r.is_empty()).collect();
            if !ranges.is_empty() {
                let tickets = source.submit(ranges.clone());
                state.asked.extend(ranges.into_iter().zip(tickets));
            }
        }
    }

    /// Whether a range lies in the first or in the last bytes.
    fn is_edge(&self, range: &Range<u64>) -> bool {
        range.end <= HEAD_BYTES || range.start >= self.source.size().saturating_sub(TAIL_BYTES)
    }

    /// Fills a request from the edges, if they have all of it.
    fn fill(&self, request: &mut Request) -> Result<bool, SourceError> {
        let wanted = request.range.clone();
        let touched: Vec<_> = {
            let mut state = self.state();
            if state.is_new && self.is_edge(&wanted) {
                self.ask(&mut state);
            }
            let asked = &state.asked;
            let touching = asked
                .iter()
                .filter(|(range, _)| range.start < wanted.end && wanted.start < range.end);
            touching.cloned().collect()
        };
        let mut parts = touched;
        parts.sort_by_key(|(range, _)| range.start);
        let mut at = wanted.start;
        for (range, _) in &parts {
            if range.start > at {
                return Ok(false);
            }
            at = range.end;
        }
        if at < wanted.end || wanted.is_empty() {
            return Ok(false);
        }
        request.buffer.clear();
        for (range, ticket) in parts {
            let bytes = ticket.wait()?;
            let place = |at: u64| usize::try_from(at.saturating_sub(range.start)).unwrap_or(0);
            let (start, end) = (wanted.start.max(range.start), wanted.end.min(range.end));
            let part = bytes
                .get(place(start)..place(end))
                .ok_or_else(|| SourceError {
                    range: Some(range.clone()),
                    ..SourceError::new(self.name(), format!("only {} bytes came", bytes.len()))
                })?;
            request.buffer.extend_from_slice(part);
        }
        Ok(true)
    }
}

impl Source for Edges {
    fn name(&self) -> &str {
        self.source.name()
    }

    fn size(&self) -> u64 {
        self.source.size()
    }

    fn costs(&self) -> Costs {
        self.source.costs()
    }

    fn identity(&self) -> Option<Identity> {
        self.source.identity()
    }

    fn read(&self, requests: &mut [Request]) -> Result<(), SourceError> {
        let mut missing = Vec::new();
        for request in requests.iter_mut() {
            if !self.fill(request)? {
                missing.push(request);
            }
        }
        if missing.is_empty() {
            return Ok(());
        }
        let mut rest: Vec<Request> = missing.iter_mut().map(|r| std::mem::take(*r)).collect();
        let read = self.source.read(&mut rest);
        for (place, request) in missing.into_iter().zip(rest) {
            *place = request;
        }
        read
    }

    fn submit(&self, ranges: Vec<Range<u64>>) -> Vec<Ticket> {
        *self.state() = State::default();
        self.source.submit(ranges)
    }
}

#[cfg(test)]
#[allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects
)]
mod tests {
    use super::*;
    use crate::Memory;
    use proptest::prelude::*;
    use std::time::Duration;

    const FAR: Costs = Costs::far(Duration::from_millis(100));

    fn bytes(size: u64) -> Vec<u8> {
        (0..size).map(|at| (at % 251) as u8).collect()
    }

    proptest! {
        #[test]
        fn any_ranges_are_as_the_source_has_them(
            size in prop_oneof![1_u64..200, 90_000_u64..110_000, 600_000_u64..700_000],
            places in prop::collection::vec((0.0..1.0, 0_u64..100_000), 1..6),
            is_far: bool,
            is_later: bool,
        ) {
            let costs = if is_far { FAR } else { Costs::NEAR };
            let all = bytes(size);
            let make = if is_later { Edges::later } else { Edges::of };
            let edges = make(Arc::new(Memory::new("m", all.clone(), costs)));
            let start = |at: f64| (at * size as f64) as u64;
            let mut requests: Vec<_> = places
                .iter()
                .map(|(at, length)| Request::new(start(*at)..(start(*at) + length).min(size)))
                .collect();
            edges.read(&mut requests).unwrap();
            for request in &requests {
                let (start, end) = (request.range.start as usize, request.range.end as usize);
                prop_assert_eq!(&request.buffer, &all[start..end]);
            }
            edges.read(&mut [Request::new(0..size + 1)]).unwrap_err();
        }
    }

    #[test]
    fn the_edges_go_when_data_is_asked_for() {
        let edges = Edges::of(Arc::new(Memory::new("m", bytes(700_000), FAR)));
        assert_eq!(edges.state().asked.len(), 3);
        edges.submit(std::iter::once(0..10).collect());
        assert!(edges.state().asked.is_empty());
        edges.read(&mut [Request::new(0..10)]).unwrap();
    }

    #[test]
    fn the_edges_of_a_known_file_are_asked_for_if_a_part_of_them_is_missing() {
        let edges = Edges::later(Arc::new(Memory::new("m", bytes(2_000_000), FAR)));
        edges.read(&mut [Request::new(800_000..800_100)]).unwrap();
        assert!(edges.state().asked.is_empty(), "this is no edge");
        edges.read(&mut [Request::new(0..10)]).unwrap();
        assert_eq!(edges.state().asked.len(), 3);
    }
}
