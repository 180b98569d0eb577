//! A layout of a file: its parts with their mirrors, what was read by it and what has failed. Knows no connection.

use crate::limits::{MOST_FAULTS, MOST_PARTS, STATS_PAUSE};
use crate::stripes::{Piece, Place, Stripes};
use crate::wire::compound::StateId;
use crate::wire::layout::{Content, DeviceId, LayoutType, NOT_THROUGH_METADATA, Segment};
use crate::wire::report::{Counted, Fault, Report, Tally};
use bytes::Bytes;
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::RwLock;

/// A layout.
pub(crate) struct Laid {
    pub(crate) kind: LayoutType,
    state: Mutex<StateId>,
    parts: Mutex<Vec<Arc<Part>>>,
    /// Whether the server gives no layout of what is missing.
    is_all: AtomicBool,
    /// What data servers do not give is not asked for at the metadata server.
    pub(crate) is_exclusive: bool,
    /// The time between two reports.
    pause: Duration,
    /// Reads hold it shared; the task that gives the layout back waits for them.
    pub(crate) using: RwLock<()>,
    seen: Mutex<Seen>,
}

/// Whether a layout forbids reads from the metadata server.
pub(crate) fn is_exclusive(segments: &[Segment]) -> bool {
    segments.iter().any(|segment| match segment.content {
        Content::Flex { flags, .. } => flags & NOT_THROUGH_METADATA != 0,
        Content::Files { .. } => false,
    })
}

/// A part of a file: its mirrors, the best one first; none if the metadata server alone has it.
pub(crate) struct Part {
    pub(crate) range: Range<u64>,
    pub(crate) mirrors: Vec<Stripes>,
}

/// A range that lies in one part, and its pieces by the part's best mirror; or in none.
pub(crate) struct Cut {
    pub(crate) range: Range<u64>,
    pub(crate) found: Option<(Arc<Part>, Vec<Piece>)>,
}

/// A range by the parts in which it lies.
fn cuts(parts: &[Arc<Part>], range: &Range<u64>) -> Vec<Cut> {
    let (mut all, mut at) = (Vec::new(), range.start);
    while at < range.end {
        let part = parts.iter().find(|part| part.range.contains(&at));
        let starts = parts.iter().map(|part| part.range.start);
        let end = match part {
            Some(part) => part.range.end,
            None => starts
                .filter(|start| *start > at)
                .min()
                .unwrap_or(range.end),
        };
        let range = at..end.min(range.end);
        at = range.end;
        let found = part.and_then(|part| {
            let pieces = part.mirrors.first()?.pieces(range.clone())?;
            Some((Arc::clone(part), pieces))
        });
        all.push(Cut { range, found });
    }
    all
}

/// The first byte of a range that lies in no part.
fn missing(parts: &[Arc<Part>], range: &Range<u64>) -> Option<u64> {
    let mut at = range.start;
    while at < range.end {
        let part = parts.iter().find(|part| part.range.contains(&at));
        let Some(part) = part else {
            return Some(at);
        };
        at = part.range.end;
    }
    None
}

/// What was read since the last report.
struct Seen {
    since: Instant,
    counts: BTreeMap<DeviceId, (SocketAddr, Bytes, Tally)>,
    faults: Vec<Fault>,
}

impl Seen {
    fn new() -> Self {
        Seen {
            since: Instant::now(),
            counts: BTreeMap::new(),
            faults: Vec::new(),
        }
    }

    fn counts(&self) -> Vec<Counted> {
        let time = self.since.elapsed();
        let all = self.counts.iter();
        all.map(|(device, (address, handle, tally))| Counted {
            device: *device,
            address: *address,
            handle: handle.clone(),
            tally: *tally,
            time,
        })
        .collect()
    }
}

impl Laid {
    pub(crate) fn new(
        kind: LayoutType,
        state: StateId,
        segments: &[Segment],
        parts: Vec<Part>,
    ) -> Self {
        let pauses = segments.iter().map(|segment| match segment.content {
            Content::Flex { pause, .. } => pause,
            Content::Files { .. } => 0,
        });
        let pause = pauses.max().unwrap_or(0);
        Laid {
            kind,
            state: Mutex::new(state),
            parts: Mutex::new(parts.into_iter().map(Arc::new).collect()),
            is_all: AtomicBool::new(false),
            is_exclusive: is_exclusive(segments),
            pause: match pause {
                0 => STATS_PAUSE,
                seconds => Duration::from_secs(u64::from(seconds)),
            },
            using: RwLock::default(),
            seen: Mutex::new(Seen::new()),
        }
    }

    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn parts(&self) -> MutexGuard<'_, Vec<Arc<Part>>> {
        self.parts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Its state, as it was given last.
    pub(crate) fn state(&self) -> StateId {
        *self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The server has given it once more: whether it is the same layout.
    pub(crate) fn is_given_again(&self, state: StateId) -> bool {
        let mut known = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let is_same = known.other == state.other;
        if is_same && state.sequence > known.sequence {
            *known = state;
        }
        is_same
    }

    /// A range by the parts in which it lies.
    pub(crate) fn cuts(&self, range: &Range<u64>) -> Vec<Cut> {
        cuts(&self.parts(), range)
    }

    /// The first byte of a range of which the layout says nothing, if the server may be asked for more of it.
    pub(crate) fn missing(&self, range: &Range<u64>) -> Option<u64> {
        match self.is_all.load(Ordering::Relaxed) {
            true => None,
            false => missing(&self.parts(), range),
        }
    }

    /// The server has given more of it; `false`: no more.
    pub(crate) fn extend(&self, parts: Vec<Part>) -> bool {
        let mut all = self.parts();
        let is_more = !parts.is_empty() && all.len().saturating_add(parts.len()) <= MOST_PARTS;
        match is_more {
            true => all.extend(parts.into_iter().map(Arc::new)),
            false => self.is_all.store(true, Ordering::Relaxed),
        }
        is_more
    }

    /// All places of the best mirrors.
    pub(crate) fn best(&self) -> Vec<Place> {
        let parts = self.parts();
        let best = parts.iter().filter_map(|part| part.mirrors.first());
        best.flat_map(Stripes::places).cloned().collect()
    }

    /// A READ of this number of bytes was answered after a time, with bytes or without (`None`).
    pub(crate) fn count(
        &self,
        (place, address): (&Place, SocketAddr),
        handle: &Bytes,
        asked: u64,
        brought: Option<u64>,
        waited: Duration,
    ) {
        let mut seen = self.seen();
        let (.., tally) = seen
            .counts
            .entry(place.device)
            .or_insert_with(|| (address, handle.clone(), Tally::default()));
        tally.asked.0 = tally.asked.0.saturating_add(1);
        tally.asked.1 = tally.asked.1.saturating_add(asked);
        if let Some(bytes) = brought {
            tally.brought.0 = tally.brought.0.saturating_add(1);
            tally.brought.1 = tally.brought.1.saturating_add(bytes);
        }
        let missed = asked.saturating_sub(brought.unwrap_or(0));
        tally.missed = tally.missed.saturating_add(missed);
        tally.waited = tally.waited.saturating_add(waited);
    }

    /// A server has not given a range.
    pub(crate) fn failed(&self, fault: Fault) {
        let mut seen = self.seen();
        if seen.faults.len() < MOST_FAULTS {
            seen.faults.push(fault);
        }
    }

    /// What was read since the last report, if that was long ago.
    pub(crate) fn due(&self) -> Option<Vec<Counted>> {
        let mut seen = self.seen();
        if seen.since.elapsed() < self.pause || seen.counts.is_empty() {
            return None;
        }
        let counts = seen.counts();
        seen.counts.clear();
        seen.since = Instant::now();
        Some(counts)
    }

    /// The report that the server gets when the layout is given back.
    pub(crate) fn report(&self) -> Report {
        let seen = self.seen();
        Report {
            faults: seen.faults.clone(),
            counts: seen.counts(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn part(range: Range<u64>) -> Arc<Part> {
        let mirrors = Vec::new();
        Arc::new(Part { range, mirrors })
    }

    #[test]
    fn a_range_falls_into_the_parts_that_have_it_and_what_none_has() {
        let parts = [part(10..20), part(20..30), part(50..60)];
        let found = cuts(&parts, &(0..55)).into_iter().map(|cut| cut.range);
        assert!(found.eq([0..10, 10..20, 20..30, 30..50, 50..55]));
        let first = |range| missing(&parts, &range);
        assert_eq!(
            [first(10..30), first(10..31), first(0..5)],
            [None, Some(30), Some(0)]
        );
    }

    proptest! {
        #[test]
        fn cuts_are_the_range(
            ends in proptest::collection::vec((0_u64..100, 0_u64..100), 0..6), start in 0_u64..100, length in 0_u64..100,
        ) {
            let parts: Vec<_> = ends.into_iter().map(|(start, end)| part(start..end)).collect();
            let range = start..start.saturating_add(length);
            let mut at = range.start;
            for cut in cuts(&parts, &range) {
                prop_assert_eq!(cut.range.start, at);
                prop_assert!(cut.range.end > at);
                at = cut.range.end;
            }
            prop_assert_eq!(at, range.end);
            let _ = missing(&parts, &range);
        }
    }
}
