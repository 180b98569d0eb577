//! The first and the last bytes of a distant file, asked for as soon as it is open: what a file says of itself lies there
//! in most formats. Knows ranges, not what lies in them.

use crate::limits::{END_BYTES, FIRST_BYTES, HEAD_BYTES, LAST_BYTES, TAIL_BYTES};
use crate::{Bytes, Part, Request, Source, SourceError, Ticket, is_off};
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Bytes that were read of distant files in this process to see what these say of themselves.
static USED: AtomicU64 = AtomicU64::new(0);

/// Bytes that opening distant files has used in this process so far: what their servers sent, and no cache.
#[must_use]
pub fn opening_bytes() -> u64 {
    USED.load(Ordering::Relaxed)
}

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

    /// The edges that are on their way or here.
    #[must_use]
    pub fn asked(&self) -> Vec<Ticket> {
        let state = self.state();
        state.asked.iter().map(|(_, edge)| edge.clone()).collect()
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
        let costs = source.costs();
        let is_warm = costs.bytes_per_second.is_some();
        let (head, end) = match is_warm {
            true => (HEAD_BYTES, END_BYTES),
            false => first_bytes(costs.window),
        };
        let head = 0..head.min(size);
        let end = size.saturating_sub(end).max(head.end)..size;
        let tail = match is_warm {
            true => size.saturating_sub(TAIL_BYTES).max(head.end)..end.start,
            false => end.start..end.start,
        };
        // A request each: the first bytes say where others lie, and are not to wait for the last ones.
        for range in [head, end, tail] {
            if !range.is_empty() {
                let tickets = source.submit(vec![range.clone()]);
                state
                    .asked
                    .extend(tickets.into_iter().map(|ticket| (range.clone(), ticket)));
            }
        }
    }

    /// Whether a range lies in the first or in the last bytes.
    fn is_edge(&self, range: &Range<u64>) -> bool {
        range.end <= HEAD_BYTES || range.start >= self.source.size().saturating_sub(TAIL_BYTES)
    }

    /// What of a range is on its way, and what is not, in order.
    fn pieces(&self, wanted: &Range<u64>) -> Vec<Piece> {
        let mut touched: Vec<_> = {
            let mut state = self.state();
            if state.is_new && self.is_edge(wanted) {
                self.ask(&mut state);
            }
            let touches = |range: &Range<u64>| range.start < wanted.end && wanted.start < range.end;
            let asked = state.asked.iter();
            asked.filter(|(range, _)| touches(range)).cloned().collect()
        };
        if wanted.end > self.source.size() {
            touched.clear(); // the source says what is wrong
        }
        touched.sort_by_key(|(range, _)| range.start);
        let (mut pieces, mut at) = (Vec::new(), wanted.start);
        for (range, ticket) in touched {
            if at < range.start {
                pieces.push(Piece::Missing(at..range.start));
            }
            let here = at.max(range.start)..wanted.end.min(range.end);
            at = here.end;
            pieces.push(Piece::Here(here, range, ticket));
        }
        if at < wanted.end || pieces.is_empty() {
            pieces.push(Piece::Missing(at..wanted.end));
        }
        pieces
    }

    /// The bytes of a part of a range that was asked for.
    fn part(
        &self,
        part: &Range<u64>,
        of: &Range<u64>,
        ticket: &Ticket,
    ) -> Result<Bytes, SourceError> {
        let bytes = ticket.wait()?;
        let place = |at: u64| usize::try_from(at.saturating_sub(of.start)).unwrap_or(usize::MAX);
        let (start, end) = (place(part.start), place(part.end));
        if start <= end && end <= bytes.len() {
            return Ok(bytes.slice(start..end));
        }
        Err(SourceError {
            range: Some(of.clone()),
            ..SourceError::new(self.name(), format!("only {} bytes came", bytes.len()))
        })
    }
}

/// How many bytes of the beginning and of the end new connections are asked for, whose next round trip brings
/// `room`. They bring few: what is not needed would delay what is.
fn first_bytes(window: u64) -> (u64, u64) {
    let room = (window / 4).saturating_mul(3).saturating_sub(FIRST_BYTES);
    (FIRST_BYTES, room.clamp(LAST_BYTES, END_BYTES))
}

/// A part of what is wanted.
enum Piece {
    /// It comes with this range.
    Here(Range<u64>, Range<u64>, Ticket),
    /// It was not asked for.
    Missing(Range<u64>),
}

impl Source for Edges {
    crate::described_by!(self => self.source);

    fn read(&self, requests: &mut [Request]) -> Result<(), SourceError> {
        let wanted: Vec<Vec<Piece>> = requests.iter().map(|r| self.pieces(&r.range)).collect();
        let mut missing = Vec::new();
        for (pieces, request) in wanted.iter().zip(requests.iter_mut()) {
            for piece in pieces {
                if let Piece::Missing(range) = piece {
                    let buffer = std::mem::take(&mut request.buffer);
                    let range = range.clone();
                    missing.push(Request { range, buffer });
                }
            }
        }
        // What is missing is asked for before anything is waited for.
        if !missing.is_empty() {
            self.source.read(&mut missing)?;
        }
        let mut read = missing.into_iter();
        if !self.source.costs().is_near() {
            let lengths = requests
                .iter()
                .map(|r| r.range.end.saturating_sub(r.range.start));
            USED.fetch_add(lengths.fold(0, u64::saturating_add), Ordering::Relaxed);
        }
        for (pieces, request) in wanted.iter().zip(requests) {
            if let [Piece::Missing(_)] = pieces.as_slice() {
                request.buffer = read.next().map(|r| r.buffer).unwrap_or_default();
                continue;
            }
            request.buffer.clear();
            for piece in pieces {
                match piece {
                    Piece::Missing(_) => {
                        let buffer = read.next().map(|r| r.buffer).unwrap_or_default();
                        request.buffer.extend_from_slice(&buffer);
                    }
                    Piece::Here(part, of, ticket) => {
                        let bytes = self.part(part, of, ticket)?;
                        request.buffer.extend_from_slice(&bytes);
                    }
                }
            }
        }
        Ok(())
    }

    fn submit(&self, ranges: Vec<Range<u64>>) -> Vec<Ticket> {
        *self.state() = State::default();
        self.source.submit(ranges)
    }

    /// What is missing is asked for as the edges are, and goes with them.
    fn will_read(&self, ranges: &[Range<u64>]) -> Vec<Ticket> {
        if self.source.costs().is_near() {
            return Vec::new();
        }
        let (mut coming, mut missing) = (Vec::new(), Vec::new());
        for piece in ranges.iter().flat_map(|range| self.pieces(range)) {
            match piece {
                Piece::Here(_, _, ticket) => coming.push(ticket),
                // The read says what is wrong with one beyond the end.
                Piece::Missing(range) if range.end > self.source.size() => {}
                Piece::Missing(range) => missing.push(range),
            }
        }
        if !missing.is_empty() {
            let tickets = self.source.submit(missing.clone());
            coming.extend(tickets.iter().cloned());
            self.state().asked.extend(missing.into_iter().zip(tickets));
        }
        coming
    }
}

#[cfg(test)]
#[allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects
)]
mod tests {
    use super::*;
    use crate::{Costs, Memory};
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
            speed in prop_oneof![Just(None), Just(Some(None)), Just(Some(Some(1e7)))],
            is_later: bool,
        ) {
            let far = |bytes_per_second| Costs { bytes_per_second, ..FAR };
            let costs = speed.map_or(Costs::NEAR, far);
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
        assert_eq!(edges.state().asked.len(), 2, "a new connection");
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
        assert_eq!(edges.state().asked.len(), 2);
    }

    #[test]
    fn a_connection_in_use_is_asked_for_more() {
        let bytes_per_second = Some(1e7);
        let warm = Costs {
            bytes_per_second,
            ..FAR
        };
        let edges = Edges::of(Arc::new(Memory::new("m", bytes(700_000), warm)));
        assert_eq!(edges.state().asked.len(), 3);
        assert_eq!(edges.pieces(&(600_000..700_000)).len(), 2);
    }

    #[test]
    fn several_new_connections_are_asked_for_what_comes_in_one_round_trip() {
        let ends = [14_600, 4 * 14_600, 8 * 14_600].map(first_bytes);
        assert_eq!(
            ends,
            [(8 << 10, 32 << 10), (8 << 10, 35_608), (8 << 10, 64 << 10)]
        );
    }

    #[test]
    fn only_what_is_missing_of_a_range_is_asked_for() {
        let edges = Edges::of(Arc::new(Memory::new("m", bytes(700_000), FAR)));
        let pieces = edges.pieces(&(500_000..699_000));
        let [Piece::Missing(missing), Piece::Here(here, ..)] = pieces.as_slice() else {
            panic!("{}", pieces.len());
        };
        assert_eq!(
            (missing.clone(), here.clone()),
            (500_000..667_232, 667_232..699_000)
        );
    }
}
