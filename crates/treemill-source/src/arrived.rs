//! A distant source that is read without a wait: what has not arrived is an error, which a second try after it has arrived is
//! not. So a task waits for the bytes that a parser wants, and the parser stays plain code that reads. Knows no parser.

use crate::{Request, Source, SourceError, Ticket};
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A source of which [`Source::read`] waits for nothing at first. Fails a read, it has been asked for what is
/// [`lacking`](Arrived::lacking).
///
/// ```
/// use std::sync::Arc;
/// use treemill_source::{Arrived, Costs, Edges, Memory, Request, Source};
///
/// # let far = Costs::far(std::time::Duration::from_millis(137));
/// # let distant = Memory::new("m", vec![7; 1000], far);
/// let source = Arrived::of(Arc::new(Edges::of(Arc::new(distant))));
/// let mut request = [Request::new(900..1000)];
/// while let Err(error) = source.read(&mut request) {
///     let lacking = source.lacking();
///     if lacking.is_empty() {
///         return Err(error);
///     }
///     for ticket in lacking {
///         ticket.wait()?; // a task goes on when it comes
///     }
/// }
/// assert_eq!(request[0].buffer, [7; 100]);
/// # Ok::<(), treemill_source::SourceError>(())
/// ```
pub struct Arrived {
    source: Arc<dyn Source>,
    state: Mutex<State>,
}

enum State {
    /// Reads fail that would have to wait for these.
    Fails(Vec<Ticket>),
    /// Reads wait.
    Waits,
}

impl Arrived {
    /// A source that is read without a wait, until it [`waits`](Arrived::waits).
    #[must_use]
    pub fn of(source: Arc<dyn Source>) -> Self {
        let state = Mutex::new(State::Fails(Vec::new()));
        Arrived { source, state }
    }

    /// What reads that have failed are waiting for since this was asked for last; none if they have failed otherwise.
    #[must_use]
    pub fn lacking(&self) -> Vec<Ticket> {
        match &mut *self.state() {
            State::Fails(lacking) => std::mem::take(lacking),
            State::Waits => Vec::new(),
        }
    }

    /// From now on reads wait, as those of any source.
    pub fn waits(&self) {
        *self.state() = State::Waits;
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Source for Arrived {
    crate::described_by!(self => self.source);

    fn read(&self, requests: &mut [Request]) -> Result<(), SourceError> {
        let fails = matches!(*self.state(), State::Fails(_));
        if fails {
            let ranges: Vec<Range<u64>> = requests.iter().map(|r| r.range.clone()).collect();
            let mut wanted = self.source.will_read(&ranges);
            wanted.retain(|ticket| !ticket.is_ready());
            if !wanted.is_empty() {
                if let State::Fails(lacking) = &mut *self.state() {
                    lacking.extend(wanted);
                }
                return Err(SourceError::new(self.name(), "not all of it has arrived"));
            }
        }
        self.source.read(requests)
    }

    fn submit(&self, ranges: Vec<Range<u64>>) -> Vec<Ticket> {
        self.source.submit(ranges)
    }

    fn will_read(&self, ranges: &[Range<u64>]) -> Vec<Ticket> {
        self.source.will_read(ranges)
    }
}

#[cfg(test)]
#[allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::single_range_in_vec_init
)]
mod tests {
    use super::*;
    use crate::{Bytes, Costs, Edges, Info, Promise};
    use std::time::Duration;

    /// A distant source whose bytes come when they are sent.
    struct Slow {
        info: Info,
        promised: Mutex<Vec<(Range<u64>, Promise)>>,
    }

    impl Slow {
        fn new() -> Self {
            Slow {
                info: Info::new("slow", 1_000_000),
                promised: Mutex::default(),
            }
        }

        fn send(&self) -> Vec<Range<u64>> {
            let promised = std::mem::take(&mut *self.promised.lock().unwrap());
            let sent = promised.into_iter().map(|(range, promise)| {
                let length = usize::try_from(range.end - range.start).unwrap();
                promise.keep(Ok(Bytes::from(vec![7; length])));
                range
            });
            sent.collect()
        }
    }

    impl Source for Slow {
        fn info(&self) -> &Info {
            &self.info
        }

        fn costs(&self) -> Costs {
            Costs::far(Duration::from_millis(100))
        }

        fn read(&self, requests: &mut [Request]) -> Result<(), SourceError> {
            crate::read_by_tickets(self, requests)
        }

        fn submit(&self, ranges: Vec<Range<u64>>) -> Vec<Ticket> {
            let promise = |range: Range<u64>| {
                let (ticket, promise) = Ticket::new("slow", range.clone());
                self.promised.lock().unwrap().push((range, promise));
                ticket
            };
            ranges.into_iter().map(promise).collect()
        }
    }

    #[test]
    fn a_read_asks_and_fails_until_all_of_it_is_here() {
        let slow = Arc::new(Slow::new());
        let source = Arrived::of(Arc::new(Edges::of(Arc::clone(&slow) as Arc<dyn Source>)));
        let edges = slow.send();
        assert_eq!(edges[0].start, 0);
        let mut read = [Request::new(0..10), Request::new(500_000..500_010)];
        source.read(&mut read).unwrap_err();
        assert_eq!(slow.send(), [500_000..500_010], "only what is missing");
        assert!(source.lacking().iter().all(Ticket::is_ready));
        source.read(&mut read).unwrap();
        assert!(read.iter().all(|request| request.buffer == [7; 10]));
        assert!(slow.send().is_empty(), "it is asked for once");
        assert!(source.lacking().is_empty());
    }

    #[test]
    fn what_is_wrong_lacks_nothing() {
        let source = Arrived::of(Arc::new(Edges::of(Arc::new(Slow::new()))));
        source.read(&mut [Request::new(9..1_000_001)]).unwrap_err();
        assert!(source.lacking().is_empty());
    }
}
