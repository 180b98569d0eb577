//! A layout of a file: its parts with their mirrors, what was read by it and what has failed. Knows no connection.

use crate::limits::{MOST_FAULTS, STATS_PAUSE};
use crate::stripes::{Piece, Place, Stripes};
use crate::wire::compound::StateId;
use crate::wire::layout::{Content, DeviceId, LayoutType, NOT_THROUGH_METADATA, Segment};
use crate::wire::report::{Counted, Fault, Report, Tally};
use bytes::Bytes;
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::RwLock;

/// A layout.
pub(crate) struct Laid {
    pub(crate) kind: LayoutType,
    pub(crate) state: StateId,
    parts: Vec<Part>,
    /// What data servers do not give is not asked for at the metadata server.
    pub(crate) is_exclusive: bool,
    /// The time between two reports.
    pause: Duration,
    /// Reads hold it shared; who gives the layout back waits for them.
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

/// A part of a file: its mirrors, the best one first.
pub(crate) struct Part(pub(crate) Vec<Stripes>);

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
            state,
            parts,
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

    /// The part that has a range, and the range's pieces by its best mirror.
    pub(crate) fn part(&self, range: &Range<u64>) -> Option<(&Part, Vec<Piece>)> {
        let mut parts = self.parts.iter();
        parts.find_map(|part| Some((part, part.0.first()?.pieces(range.clone())?)))
    }

    /// All places of the best mirrors.
    pub(crate) fn best(&self) -> impl Iterator<Item = &Place> {
        let best = self.parts.iter().filter_map(|part| part.0.first());
        best.flat_map(Stripes::places)
    }

    /// A READ of so many bytes was answered after a time, with bytes or without (`None`).
    pub(crate) fn count(
        &self,
        place: &Place,
        handle: &Bytes,
        asked: u64,
        brought: Option<u64>,
        waited: Duration,
    ) {
        let Some(address) = place.addresses.first() else {
            return;
        };
        let mut seen = self.seen();
        let (.., tally) = seen
            .counts
            .entry(place.device)
            .or_insert_with(|| (*address, handle.clone(), Tally::default()));
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

    /// What is told when the layout is given back.
    pub(crate) fn report(&self) -> Report {
        let seen = self.seen();
        Report {
            faults: seen.faults.clone(),
            counts: seen.counts(),
        }
    }
}
