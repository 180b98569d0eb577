//! The first and the last bytes of a distant file, brought by one request when it is opened: the header, the key lists,
//! the streamer information and the records of trees lie there in most files. Knows ranges, not what lies in them.

use crate::limits::{HEAD_BYTES, TAIL_BYTES};
use std::ops::Range;
use std::sync::Arc;
use treemill_source::{Bytes, Costs, Identity, Request, Source, SourceError, Ticket};

/// A source, of which some bytes are here already.
pub(crate) struct Edges {
    source: Arc<dyn Source>,
    here: Vec<(Range<u64>, Bytes)>,
}

impl Edges {
    /// Brings the edges of a distant file; nothing of a near one.
    ///
    /// # Errors
    /// If they could not be had.
    pub(crate) fn of(source: Arc<dyn Source>) -> Result<Self, SourceError> {
        let size = source.size();
        let mut here = Vec::new();
        if !source.costs().is_near() {
            let head = 0..HEAD_BYTES.min(size);
            let tail = size.saturating_sub(TAIL_BYTES).max(head.end)..size;
            let ranges: Vec<_> = [head, tail].into_iter().filter(|r| !r.is_empty()).collect();
            let tickets = source.submit(ranges.clone());
            for (range, ticket) in ranges.into_iter().zip(tickets) {
                here.push((range, ticket.wait()?));
            }
        }
        Ok(Edges { source, here })
    }

    /// Without the edges: they will be read if they are needed.
    #[cfg(test)]
    pub(crate) fn bare(source: Arc<dyn Source>) -> Self {
        let here = Vec::new();
        Edges { source, here }
    }

    /// The bytes of a range that is here.
    fn held(&self, range: &Range<u64>) -> Option<&[u8]> {
        let (held, bytes) = self.here.iter().find(|(held, _)| {
            held.start <= range.start && range.end <= held.end && range.start <= range.end
        })?;
        let place = |at: u64| usize::try_from(at.saturating_sub(held.start)).ok();
        bytes.get(place(range.start)?..place(range.end)?)
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
            match self.held(&request.range) {
                Some(bytes) => {
                    request.buffer.clear();
                    request.buffer.extend_from_slice(bytes);
                }
                None => missing.push(request),
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
        self.source.submit(ranges)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing)]
mod tests {
    use super::*;
    use treemill_source::Memory;
    use treemill_testing::{FAR, Watched};

    #[test]
    fn what_lies_at_the_edges_is_read_once() {
        let size = HEAD_BYTES + TAIL_BYTES + 1000;
        let bytes: Vec<u8> = (0..size).map(|at| (at % 251) as u8).collect();
        for costs in [FAR, Costs::NEAR] {
            let source = Arc::new(Watched::new(Memory::new("m", bytes.clone(), costs)));
            let edges = Edges::of(Arc::clone(&source) as Arc<dyn Source>).unwrap();
            let opening = source.reads();
            let middle = HEAD_BYTES + 10..HEAD_BYTES + 20;
            let ranges = [0..100, size - 100..size, middle.clone()];
            let mut requests = ranges.clone().map(Request::new);
            edges.read(&mut requests).unwrap();
            for (range, request) in ranges.iter().zip(&requests) {
                let place = usize::try_from(range.start).unwrap();
                assert_eq!(request.buffer, bytes[place..place + request.buffer.len()]);
                assert_eq!(request.range, *range);
            }
            match costs.is_near() {
                true => assert!(opening.is_empty() && source.reads()[0].len() == 3),
                false => {
                    assert_eq!(opening, [vec![0..HEAD_BYTES, size - TAIL_BYTES..size]]);
                    assert_eq!(source.reads().concat(), std::slice::from_ref(&middle));
                }
            }
            edges.read(&mut [Request::new(5..size + 1)]).unwrap_err();
        }
    }

    #[test]
    fn small_files_are_read_as_a_whole() {
        let source = Arc::new(Watched::new(Memory::new("m", vec![7; 100], FAR)));
        let edges = Edges::of(Arc::clone(&source) as Arc<dyn Source>).unwrap();
        assert_eq!(source.reads().concat(), std::slice::from_ref(&(0..100)));
        edges.read(&mut [Request::new(20..100)]).unwrap();
        assert!(source.reads().is_empty());
    }
}
