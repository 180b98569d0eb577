//! Several connections for one file: a far connection brings few bytes at first, and may have a limit of its own. The
//! first one serves at once; others are opened behind it if the file is
//! large, or when much is asked for. Knows no protocol.

use crate::limits::{LANE_BYTES, LANE_DISTANCE, LANE_FILE, LANE_WORTH, LANES};
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use treemill_source::{Costs, Identity, Request, Source, SourceError, Ticket, read_by_tickets};

/// Opens the file once more, on the connection of this number.
pub(crate) type Opening = Arc<dyn Fn(usize) -> Result<Arc<dyn Source>, SourceError> + Send + Sync>;

/// The same file, open on one connection, and the bytes that are on their way there.
#[derive(Clone)]
struct Lane {
    source: Arc<dyn Source>,
    busy: Arc<AtomicU64>,
}

impl Lane {
    fn new(source: Arc<dyn Source>) -> Self {
        let busy = Arc::default();
        Lane { source, busy }
    }
}

/// A file on several connections of its server.
pub(crate) struct Lanes {
    first: Lane,
    others: Arc<Mutex<Vec<Lane>>>,
    /// How the others are opened, until they are.
    opening: Mutex<Option<Opening>>,
}

impl Lanes {
    pub(crate) fn new(first: Arc<dyn Source>, opening: Opening) -> Self {
        let lanes = Lanes {
            first: Lane::new(first),
            others: Arc::default(),
            opening: Mutex::new(Some(opening)),
        };
        // All of a packet is asked for at once, as soon as the file's description is read: lanes must be open by then.
        if lanes.size() >= LANE_FILE {
            lanes.widen();
        }
        lanes
    }

    /// Opens the other lanes, each on a thread that ends then. One that cannot be opened, or that has another file, is
    /// left out: the first one serves.
    fn widen(&self) {
        if self.first.source.costs().round_trip < LANE_DISTANCE {
            return;
        }
        let mut place = self.opening.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(opening) = place.take() else { return };
        for number in 1..LANES {
            let (opening, others) = (Arc::clone(&opening), Arc::clone(&self.others));
            let (size, identity) = (self.size(), self.identity());
            let open = move || {
                if let Ok(source) = opening(number)
                    && source.size() == size
                    && source.identity() == identity
                {
                    held(&others).push(Lane::new(source));
                }
            };
            // Without a thread there is no lane.
            let _ = std::thread::Builder::new()
                .name("lane".to_owned())
                .spawn(open);
        }
    }

    fn lanes(&self) -> Vec<Lane> {
        let mut lanes = vec![self.first.clone()];
        lanes.extend(held(&self.others).iter().cloned());
        lanes
    }
}

fn held(lanes: &Mutex<Vec<Lane>>) -> MutexGuard<'_, Vec<Lane>> {
    lanes.lock().unwrap_or_else(PoisonError::into_inner)
}

fn length(range: &Range<u64>) -> u64 {
    range.end.saturating_sub(range.start)
}

/// The lane of each range, for lanes that are so busy: the least busy one, in turn. Pure.
fn dealt(ranges: &[Range<u64>], mut busy: Vec<u64>) -> Vec<usize> {
    let one = |range: &Range<u64>| {
        let least = busy.iter().enumerate().min_by_key(|(_, busy)| **busy);
        let lane = least.map_or(0, |(lane, _)| lane);
        if let Some(busy) = busy.get_mut(lane) {
            *busy = busy.saturating_add(length(range));
        }
        lane
    };
    ranges.iter().map(one).collect()
}

impl Source for Lanes {
    fn name(&self) -> &str {
        self.first.source.name()
    }

    fn size(&self) -> u64 {
        self.first.source.size()
    }

    fn costs(&self) -> Costs {
        let mut costs = self.first.source.costs();
        let others = held(&self.others);
        for lane in others.iter() {
            let more = lane.source.costs();
            costs.bytes_per_second = match (costs.bytes_per_second, more.bytes_per_second) {
                (Some(one), Some(other)) => Some(one + other),
                (one, other) => one.or(other),
            };
        }
        if !others.is_empty() {
            costs.most_bytes = costs.most_bytes.min(LANE_BYTES);
        }
        costs
    }

    fn identity(&self) -> Option<Identity> {
        self.first.source.identity()
    }

    fn read(&self, requests: &mut [Request]) -> Result<(), SourceError> {
        read_by_tickets(self, requests)
    }

    fn submit(&self, ranges: Vec<Range<u64>>) -> Vec<Ticket> {
        let all = ranges.iter().map(length).fold(0, u64::saturating_add);
        if all >= LANE_WORTH {
            self.widen();
        }
        let lanes = self.lanes();
        let busy = lanes.iter().map(|lane| lane.busy.load(Ordering::Relaxed));
        let places = dealt(&ranges, busy.collect());
        let mut tickets: Vec<Option<Ticket>> = vec![None; ranges.len()];
        for (number, lane) in lanes.iter().enumerate() {
            let own: Vec<usize> = (0..ranges.len())
                .filter(|&at| places.get(at) == Some(&number))
                .collect();
            let asked: Vec<_> = own
                .iter()
                .filter_map(|&at| ranges.get(at).cloned())
                .collect();
            if asked.is_empty() {
                continue;
            }
            let bytes: Vec<u64> = asked.iter().map(length).collect();
            let answers = lane.source.submit(asked);
            for ((at, bytes), ticket) in own.into_iter().zip(bytes).zip(answers) {
                lane.busy.fetch_add(bytes, Ordering::Relaxed);
                let busy = Arc::clone(&lane.busy);
                ticket.on_ready(move |_| {
                    busy.fetch_sub(bytes, Ordering::Relaxed);
                });
                if let Some(place) = tickets.get_mut(at) {
                    *place = Some(ticket);
                }
            }
        }
        let lost = || Ticket::ready(Err(SourceError::new(self.name(), "the range was not sent")));
        tickets
            .into_iter()
            .map(|ticket| ticket.unwrap_or_else(lost))
            .collect()
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
    use std::sync::mpsc::channel;
    use std::time::Duration;
    use treemill_source::Memory;

    const FAR: Costs = Costs::far(Duration::from_millis(137));

    fn memory(bytes: usize) -> Arc<dyn Source> {
        let bytes = (0..bytes).map(|at| (at % 251) as u8).collect();
        Arc::new(Memory::new("m", bytes, FAR))
    }

    fn megabytes(count: u64) -> Vec<Range<u64>> {
        (0..count).map(|i| i << 20..(i + 1) << 20).collect()
    }

    /// Lanes of a file, and the numbers of those that were opened.
    fn lanes(sizes: &'static [usize]) -> (Lanes, std::sync::mpsc::Receiver<usize>) {
        let (sender, opened) = channel();
        let opening: Opening = Arc::new(move |number| {
            let made = sizes.get(number - 1).map(|&size| memory(size));
            sender.send(number).unwrap();
            made.ok_or_else(|| SourceError::new("m", "no more connections"))
        });
        (Lanes::new(memory(16 << 20), opening), opened)
    }

    #[test]
    fn much_is_shared_out_and_comes_as_asked() {
        let (lanes, opened) = lanes(&[16 << 20, 16 << 20, 16 << 20]);
        for ticket in lanes.submit(megabytes(2)) {
            ticket.wait().unwrap();
        }
        let mut numbers: Vec<usize> = opened.iter().take(LANES - 1).collect();
        numbers.sort_unstable();
        assert_eq!(numbers, (1..LANES).collect::<Vec<_>>());
        let tickets = lanes.submit(megabytes(16));
        for (range, ticket) in megabytes(16).into_iter().zip(tickets) {
            let bytes = ticket.wait().unwrap();
            assert_eq!(u64::from(bytes[0]), range.start % 251);
            assert_eq!(bytes.len(), 1 << 20);
        }
        assert!(
            lanes
                .lanes()
                .iter()
                .all(|lane| lane.busy.load(Ordering::Relaxed) == 0)
        );
    }

    #[test]
    fn other_files_and_refusals_are_left_out() {
        let (lanes, opened) = lanes(&[5]);
        lanes.submit(megabytes(2));
        assert_eq!(opened.iter().take(LANES - 1).count(), LANES - 1);
        drop(opened);
        let mut request = [Request::new(0..100)];
        lanes.read(&mut request).unwrap();
        assert_eq!(request[0].buffer.len(), 100);
        assert!(lanes.costs().round_trip > Duration::ZERO);
    }

    #[test]
    fn little_is_asked_for_by_one_connection() {
        let (lanes, opened) = lanes(&[]);
        lanes.submit(std::iter::once(0..1000).collect());
        assert!(opened.try_recv().is_err());
    }

    #[test]
    fn the_least_busy_lane_is_next() {
        let ranges = [0..100, 100..150, 150..160, 160..400];
        assert_eq!(dealt(&ranges, vec![0, 60, 0]), [0, 2, 2, 1]);
        assert_eq!(dealt(&ranges, vec![7]), [0; 4]);
    }
}
