//! Bytes of a distant file, asked for before they are needed. Submits what the state machine says ([`state`]) and waits
//! for tickets; readers share it, each under leases of its own. Knows ranges of the file, not what lies in them.

mod state;
#[cfg(test)]
mod tests;

use crate::limits::STOP_LOOK;
use crate::{Counters, cache};
use state::{Found, Policy, State};
use std::ops::Range;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tracing::trace_span;
use treemill_source::cache::CachedRanges;
use treemill_source::{Bytes, Part, Source, SourceError, Ticket, is_off};

/// The bytes that readers of one file have asked for.
pub struct Inbox {
    source: Arc<dyn Source>,
    /// What is kept of the file on disk.
    cached: Option<Arc<CachedRanges>>,
    state: Mutex<State<Ticket>>,
    leases: AtomicU64,
}

/// What a reader has asked for and not taken yet. Dropped, it is not wanted any more: if the run was stopped, the source is told.
pub struct Lease {
    inbox: Arc<Inbox>,
    number: u64,
    counters: Arc<Counters>,
}

/// Ranges that are on their way.
#[derive(Debug)]
pub struct Coming(Vec<Ticket>);

impl Coming {
    /// Calls `then` when the last of them is here, well or not: on the thread that it comes by, which must not wait.
    pub fn then(self, then: impl FnOnce() + Send + 'static) {
        let left = Arc::new(AtomicUsize::new(self.0.len()));
        let then = Arc::new(Mutex::new(Some(then)));
        for ticket in self.0 {
            let (left, then) = (Arc::clone(&left), Arc::clone(&then));
            ticket.on_ready(move |_| {
                if left.fetch_sub(1, Ordering::AcqRel) == 1 {
                    let then = then.lock().unwrap_or_else(PoisonError::into_inner).take();
                    then.into_iter().for_each(|then| then());
                }
            });
        }
    }
}

impl Inbox {
    /// An inbox for a file; `None` for a near one, whose bytes are read when they are needed.
    #[must_use]
    pub fn new(source: &Arc<dyn Source>) -> Option<Arc<Self>> {
        let is_far = !source.costs().is_near();
        is_far.then(|| {
            Arc::new(Inbox {
                source: Arc::clone(source),
                cached: source
                    .identity()
                    .and_then(|identity| treemill_source::cache::cached_ranges(&identity)),
                state: Mutex::default(),
                leases: AtomicU64::new(0),
            })
        })
    }

    /// A lease without ranges. What is sent because of it is counted by `counters`.
    #[must_use]
    pub fn lease(self: &Arc<Self>, counters: &Arc<Counters>) -> Lease {
        Lease {
            inbox: Arc::clone(self),
            number: self.leases.fetch_add(1, Ordering::Relaxed),
            counters: Arc::clone(counters),
        }
    }

    /// A lease without ranges, which asks on behalf of others: what any of them takes is not kept for it any longer.
    #[must_use]
    pub fn proxy(self: &Arc<Self>, counters: &Arc<Counters>) -> Lease {
        let lease = self.lease(counters);
        self.state().on_behalf(lease.number);
        lease
    }

    fn state(&self) -> MutexGuard<'_, State<Ticket>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether a cache has all of these ranges, in memory or on disk.
    #[must_use]
    pub fn keeps(&self, ranges: Vec<(Range<u64>, u32)>) -> bool {
        self.missing(ranges).is_empty()
    }

    /// What no cache has.
    fn missing(&self, ranges: Vec<(Range<u64>, u32)>) -> Vec<(Range<u64>, u32)> {
        let mut missing = cache::missing(self.source.as_ref(), ranges);
        if let Some(cached) = &self.cached {
            missing.retain(|(range, _)| !cached.has(range));
        }
        missing
    }

    fn policy(&self) -> Policy {
        let mut costs = self.source.costs();
        if is_off(Part::Coalescing) {
            costs.range = Duration::ZERO;
        }
        Policy {
            costs,
            ahead: costs.ahead(),
            held: costs.held(),
        }
    }

    /// Sends `ranges`. The state stays locked meanwhile: sources do not block here.
    fn send(&self, state: &mut State<Ticket>, ranges: Vec<Range<u64>>, counters: &Counters) {
        if ranges.is_empty() {
            return;
        }
        let sent = counters
            .add_sent(self.source.as_ref(), &ranges)
            .map(Arc::new);
        let _span = trace_span!("read", ranges = ranges.len()).entered();
        let tickets = self.source.submit(ranges.clone());
        if let Some(sent) = &sent {
            sent.watch(&tickets);
        }
        for (range, ticket) in ranges.into_iter().zip(tickets) {
            if let Some(sent) = sent.clone() {
                ticket.on_ready(move |answer| sent.came(answer.is_ok()));
            }
            state.sent(range, ticket);
        }
    }

    /// Sends what there is room for, unless the run of `counters` was stopped.
    fn go_on(&self, state: &mut State<Ticket>, counters: &Counters) {
        if counters.is_stopped() {
            return;
        }
        let due = state.due(self.policy(), Ticket::is_ready);
        self.send(state, due, counters);
    }
}

impl Lease {
    /// Asks for ranges without waiting, those that are needed first coming first, each with the number of times that it
    /// will be taken. What a cache has, in memory or on disk, is left out.
    pub fn ask(&self, ranges: impl IntoIterator<Item = (Range<u64>, u32)>) {
        let ranges = self.inbox.missing(ranges.into_iter().collect());
        let mut state = self.inbox.state();
        state.ask(self.number, ranges);
        self.inbox.go_on(&mut state, &self.counters);
    }

    /// Whether all that was asked for and not taken is here.
    #[must_use]
    pub fn is_here(&self) -> bool {
        let tickets = self.inbox.state().tickets(self.number);
        tickets.is_some_and(|all| all.iter().all(Ticket::is_ready))
    }

    /// What was asked for and is on its way; `None` if all is here, or if some of it is not sent yet.
    #[must_use]
    pub fn coming(&self) -> Option<Coming> {
        let tickets = self.inbox.state().tickets(self.number)?;
        let is_here = tickets.iter().all(Ticket::is_ready);
        (!is_here).then_some(Coming(tickets))
    }

    /// The bytes of a range, which need not have been asked for. Waits for them if need be.
    ///
    /// # Errors
    /// Why they could not be had.
    pub fn take(&self, range: &Range<u64>) -> Result<Bytes, SourceError> {
        let cached = self.inbox.cached.as_ref();
        if let Some(kept) = cached.and_then(|cached| cached.get(range)) {
            self.counters.add_bytes_from_disk(kept.len() as u64);
            return Ok(kept);
        }
        let bytes = self.receive(range)?;
        if let Some(cached) = cached {
            cached.put(range, &bytes);
        }
        Ok(bytes)
    }

    /// The bytes of a range from the source.
    fn receive(&self, range: &Range<u64>) -> Result<Bytes, SourceError> {
        let (number, flown, ticket) = self.ticket(range)?;
        let Some(answer) = self.answer(&ticket) else {
            let name = self.inbox.source.name();
            return Err(SourceError {
                range: Some(range.clone()),
                ..SourceError::new(name, "the run was stopped before these bytes came")
            });
        };
        let mut state = self.inbox.state();
        let whole = answer.inspect_err(|_| state.failed(number))?;
        self.counters.add_wanted(state.taken(self.number, range));
        self.inbox.go_on(&mut state, &self.counters);
        drop(state);
        let place = |at: u64| usize::try_from(at.saturating_sub(flown.start)).unwrap_or(usize::MAX);
        let (start, end) = (place(range.start), place(range.end));
        if end > whole.len() || start > end {
            let name = self.inbox.source.name();
            return Err(SourceError {
                range: Some(range.clone()),
                ..SourceError::new(
                    name,
                    format!("only {} bytes came of the range {flown:?}", whole.len()),
                )
            });
        }
        Ok(whole.slice(start..end))
    }

    /// Waits for a ticket; `None` if the pass was stopped and it does not come soon.
    fn answer(&self, ticket: &Ticket) -> Option<Result<Bytes, SourceError>> {
        if ticket.is_ready() {
            return Some(ticket.wait());
        }
        let began = Instant::now();
        let answer = ticket.wait_while(STOP_LOOK, || {
            if !self.counters.is_stopped() {
                // What has come meanwhile leaves room, although no reader takes it now.
                self.inbox.go_on(&mut self.inbox.state(), &self.counters);
            }
            !self.counters.is_overdue()
        });
        self.counters.add_wait(began.elapsed());
        answer
    }

    /// The flight that brings a range; it is sent now if it was not sent before.
    fn ticket(&self, range: &Range<u64>) -> Result<(u64, Range<u64>, Ticket), SourceError> {
        let inbox = &self.inbox;
        let mut state = inbox.state();
        if matches!(state.find(range), Found::Unknown) {
            state.ask(self.number, [(range.clone(), 1)]);
        }
        if matches!(state.find(range), Found::Waits) {
            let urgent = state.urgent(self.number, range, inbox.policy());
            inbox.send(&mut state, urgent, &self.counters);
        }
        match state.find(range) {
            Found::Sent(number, flown, ticket) => Ok((number, flown, ticket)),
            // An empty range, or a source that has answered with fewer tickets than it was asked for.
            Found::Waits | Found::Unknown => Err(SourceError {
                range: Some(range.clone()),
                ..SourceError::new(inbox.source.name(), "the range was not sent")
            }),
        }
    }
}

impl std::fmt::Debug for Lease {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Lease")
            .field("number", &self.number)
            .finish_non_exhaustive()
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        let mut state = self.inbox.state();
        let mut left = state.ended(self.number);
        self.inbox.go_on(&mut state, &self.counters);
        drop(state);
        if self.counters.is_stopped() {
            left.retain(|(_, ticket)| !ticket.is_ready());
            let ranges: Vec<_> = left.into_iter().map(|(range, _)| range).collect();
            if !ranges.is_empty() {
                self.inbox.source.abandon(&ranges);
            }
        }
    }
}
