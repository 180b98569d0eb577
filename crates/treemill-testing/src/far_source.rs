//! A source far away without a clock: what was asked for comes when a thread begins to wait, a round trip's bytes at a time.
//! It counts the round trips that a thread has waited for. Knows no format.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use treemill_source::{
    Bytes, Costs, Info, Promise, Request, Source, SourceError, Ticket, read_by_tickets, tickets,
};

/// What was asked for and is not here.
struct Coming {
    range: Range<u64>,
    /// Bytes that have not come yet.
    left: u64,
    promise: Promise,
}

#[derive(Default)]
struct Link {
    coming: VecDeque<Coming>,
    /// Bytes of the next round trip; each later one brings twice as many.
    window: u64,
    round_trips: u64,
}

/// A file in memory, a round trip away.
pub struct FarSource {
    info: Info,
    bytes: Bytes,
    costs: Costs,
    link: Arc<Mutex<Link>>,
}

fn locked(link: &Mutex<Link>) -> MutexGuard<'_, Link> {
    link.lock().unwrap_or_else(PoisonError::into_inner)
}

impl FarSource {
    /// A file whose connections bring what `costs` say: `window` bytes in the first round trip.
    #[must_use]
    pub fn new(bytes: Vec<u8>, costs: Costs) -> Self {
        let link = Link {
            window: costs.window,
            ..Link::default()
        };
        FarSource {
            info: Info::new("root://far//file.root", bytes.len() as u64),
            bytes: Bytes::from(bytes),
            costs,
            link: Arc::new(Mutex::new(link)),
        }
    }

    /// The round trips that were waited for. What is asked for in one costs none more.
    #[must_use]
    pub fn round_trips(&self) -> u64 {
        locked(&self.link).round_trips
    }
}

/// One round trip: its bytes come in the order in which they were asked for. Says whether anything was asked for.
fn one_trip(link: &Mutex<Link>, bytes: &Bytes) -> bool {
    let mut state = locked(link);
    if state.coming.is_empty() {
        return false;
    }
    state.round_trips = state.round_trips.saturating_add(1);
    let mut room = state.window;
    state.window = room.saturating_mul(2);
    let mut here = Vec::new();
    while let Some(first) = state.coming.front_mut() {
        let some = first.left.min(room);
        (first.left, room) = (first.left.saturating_sub(some), room.saturating_sub(some));
        if first.left > 0 {
            break;
        }
        here.extend(state.coming.pop_front());
    }
    drop(state);
    for coming in here {
        let place = |at: u64| usize::try_from(at).unwrap_or(usize::MAX);
        let range = place(coming.range.start)..place(coming.range.end);
        coming.promise.keep(Ok(bytes.slice(range)));
    }
    true
}

impl Source for FarSource {
    fn info(&self) -> &Info {
        &self.info
    }

    fn costs(&self) -> Costs {
        self.costs
    }

    fn read(&self, requests: &mut [Request]) -> Result<(), SourceError> {
        read_by_tickets(self, requests)
    }

    fn submit(&self, ranges: Vec<Range<u64>>) -> Vec<Ticket> {
        tickets(&self.info, ranges, |range, ticket, promise| {
            let watch = ticket.watch();
            let (link, bytes) = (Arc::clone(&self.link), self.bytes.clone());
            ticket.on_need(move || while !watch.is_over() && one_trip(&link, &bytes) {});
            let left = range.end.saturating_sub(range.start);
            locked(&self.link).coming.push_back(Coming {
                range,
                left,
                promise,
            });
        })
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::single_range_in_vec_init)]
mod tests {
    use super::*;

    fn far(window: u64) -> FarSource {
        let costs = Costs {
            window,
            ..crate::FAR
        };
        FarSource::new(vec![7; 1000], costs)
    }

    #[test]
    fn what_is_asked_for_together_comes_together() {
        let source = far(u64::MAX);
        let tickets = source.submit(vec![0..10, 500..1000]);
        let later = source.submit(vec![20..30]);
        assert_eq!(source.round_trips(), 0, "no thread waits");
        assert_eq!(tickets[0].wait().unwrap().len(), 10);
        assert!(tickets[1].is_ready() && later[0].is_ready());
        assert_eq!(source.round_trips(), 1);
        source.submit(vec![0..1])[0].wait().unwrap();
        assert_eq!(source.round_trips(), 2);
    }

    #[test]
    fn a_new_connection_brings_twice_as_much_each_time() {
        let source = far(100);
        assert_eq!(source.submit(vec![0..700])[0].wait().unwrap().len(), 700);
        assert_eq!(source.round_trips(), 3);
    }
}
