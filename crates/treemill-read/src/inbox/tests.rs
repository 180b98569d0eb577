//! The inbox's state machine, driven by random events; and the inbox itself, on sources in memory.

#![allow(
    clippy::unwrap_used,
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing
)]

use super::state::{Found, Policy, State};
use super::*;
use crate::limits::STOP_GRACE;
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use treemill_source::{Costs, Info, Memory, Request};
use treemill_testing::{FAR, Watched};

/// What may happen to the state.
#[derive(Debug, Clone)]
enum Event {
    /// A lease asks for ranges, given by number, and will take each this number of times.
    Ask(u64, Vec<u64>, u32),
    /// A lease takes a range.
    Take(u64, u64),
    End(u64),
    /// The flight that has this range fails.
    Fail(u64),
    /// There is time to send.
    Send,
}

/// Ranges up to `gap` apart are sent as one, of `most` bytes at most.
fn policy(gap: u32, most: u64, ahead: u64, held: u64) -> Policy {
    let costs = Costs {
        bytes_per_second: Some(gap.into()),
        range: Duration::from_secs(1),
        most_bytes: most,
        ..FAR
    };
    Policy { costs, ahead, held }
}

/// Ranges of 100 bytes, with gaps of 10 between them; every tenth has 1000 bytes.
fn range(number: u64) -> Range<u64> {
    let start = number * 1010;
    start..start + if number.is_multiple_of(10) { 1000 } else { 100 }
}

fn events() -> impl Strategy<Value = Vec<Event>> {
    let ranges = || prop::collection::vec(0_u64..30, 0..12);
    let one = prop_oneof![
        (0_u64..4, ranges(), 1_u32..4)
            .prop_map(|(lease, ranges, uses)| Event::Ask(lease, ranges, uses)),
        (0_u64..4, 0_u64..30).prop_map(|(lease, number)| Event::Take(lease, number)),
        (0_u64..4).prop_map(Event::End),
        (0_u64..30).prop_map(Event::Fail),
        Just(Event::Send),
    ];
    prop::collection::vec(one, 0..60)
}

proptest! {
    /// Whatever happens: a range that is asked for waits or is in flight, a flight has a want, what is in flight is
    /// bounded, and nothing stays when all leases have ended.
    #[test]
    fn nothing_is_lost_and_nothing_stays(events in events(), ahead in 0_u64..3000, gap in 0_u32..1000) {
        let policy = policy(gap, 3000, ahead, 2 * ahead);
        let mut state: State<u64> = State::default();
        let mut asked: HashMap<u64, BTreeMap<u64, u32>> = HashMap::new();
        let (mut sent, mut here) = (0, BTreeMap::new());
        for event in events {
            match event {
                Event::Ask(lease, numbers, uses) => {
                    state.ask(lease, numbers.iter().map(|&n| (range(n), uses)));
                    let all = asked.entry(lease).or_default();
                    for number in numbers {
                        let known = all.entry(number).or_insert(uses);
                        *known = uses.max(*known);
                    }
                }
                Event::Take(lease, number) => {
                    if asked.get(&lease).is_some_and(|all| all.contains_key(&number)) {
                        prop_assert!(!matches!(state.find(&range(number)), Found::Unknown));
                    }
                    state.taken(lease, &range(number));
                    take(asked.entry(lease).or_default(), number);
                }
                Event::End(lease) => {
                    state.ended(lease);
                    asked.remove(&lease);
                }
                Event::Fail(number) => {
                    if let Found::Sent(flight, ..) = state.find(&range(number)) {
                        state.failed(flight);
                        prop_assert!(matches!(state.find(&range(number)), Found::Waits));
                    }
                }
                Event::Send => {
                    let before = state.held();
                    // Every third one comes late, and so do those behind it.
                    let due = state.due(policy, |ticket| here.get(ticket).copied().unwrap_or(false));
                    let coming = state.coming();
                    let bytes: u64 = due.iter().map(|range| range.end - range.start).sum();
                    // Gaps between the ranges are over-read beside the budgets.
                    prop_assert!(before + bytes <= 2 * ahead + 30 * u64::from(gap) || before == 0);
                    prop_assert!(due.is_empty() || coming + bytes <= ahead + 30 * u64::from(gap) || before == 0);
                    for range in due {
                        sent += 1;
                        here.insert(sent, sent % 3 > 0);
                        state.sent(range, sent);
                    }
                }
            }
            let wanted: BTreeSet<u64> = asked.values().flat_map(BTreeMap::keys).copied().collect();
            for number in 0..30 {
                let found = state.find(&range(number));
                prop_assert_eq!(wanted.contains(&number), !matches!(found, Found::Unknown));
                if let Found::Sent(_, flown, _) = found {
                    prop_assert!(flown.start <= range(number).start && range(number).end <= flown.end);
                }
            }
        }
        // All that is asked for is sent in the end, if it is taken.
        for (lease, numbers) in asked.clone() {
            for (number, uses) in numbers {
                let mut tries = 0;
                while !matches!(state.find(&range(number)), Found::Sent(..)) {
                    for range in state.urgent(lease, &range(number), policy) {
                        state.sent(range, 0);
                    }
                    tries += 1;
                    prop_assert!(tries < 2);
                }
                for _ in 0..uses {
                    prop_assert!(matches!(state.find(&range(number)), Found::Sent(..)));
                    state.taken(lease, &range(number));
                }
            }
        }
        for lease in 0..4 {
            state.ended(lease);
        }
        prop_assert!(state.is_empty(), "{state:?}");
    }
}

#[test]
fn a_reader_that_waits_gets_what_it_needs_next_though_others_have_all_the_room() {
    let policy = policy(0, 3000, 1000, 1000);
    let mut state: State<u64> = State::default();
    state.ask(1, (1..6).map(single));
    state.ask(2, (11..20).map(single));
    for range in state.due(policy, |_| false) {
        state.sent(range, 0);
    }
    state.ask(3, (21..30).map(single));
    assert!(state.due(policy, |_| false).is_empty(), "no room");
    // Half of the room, in the order in which it was asked for, and nothing of the other leases'.
    let urgent = state.urgent(3, &range(23), policy);
    let expected: Vec<_> = [21, 22, 23, 24, 25].map(range).into();
    assert_eq!(urgent, expected);
    for range in urgent {
        state.sent(range, 0);
    }
    assert!(matches!(state.find(&range(24)), Found::Sent(..)));
    assert!(state.urgent(3, &range(24), policy).is_empty());
}

/// A server sends a number of bytes a millisecond, in the order in which it is asked; a reader that has waited for
/// one slow range uses what came meanwhile all at once. The server always has something to send.
#[test]
fn a_server_is_never_idle_while_bytes_wait_for_their_use() {
    let policy = policy(0, 100, 1000, 4000);
    let mut state: State<u64> = State::default();
    let small = |number: u64| number * 200..number * 200 + 100;
    state.ask(1, (0..100).map(|number| (small(number), 1)));
    let (mut sent, mut served, mut used, mut idle) = (0_u64, 0_u64, 0_u64, 0);
    for millisecond in 0..1000_u64 {
        for range in state.due(policy, |ticket| *ticket < served / 100) {
            state.sent(range, sent);
            sent += 1;
        }
        served = (served + 25).min(sent * 100);
        idle += u64::from(served == sent * 100 && sent < 100);
        // The reader stops for 80 ms, then uses all that is here.
        if millisecond % 80 == 0 {
            while used < served / 100 {
                state.taken(1, &small(used));
                used += 1;
            }
        }
    }
    assert_eq!((used, idle), (100, 0));
    assert!(state.is_empty());
}

/// A lease takes a range that it may have asked for.
fn take(all: &mut BTreeMap<u64, u32>, number: u64) {
    if let Some(uses) = all.get_mut(&number) {
        *uses -= 1;
        if *uses == 0 {
            all.remove(&number);
        }
    }
}

/// A range that is taken once.
fn single(number: u64) -> (Range<u64>, u32) {
    (range(number), 1)
}

/// A source of bytes that say where they are, each its place modulo 251.
fn watched(costs: Costs) -> Arc<Watched<Memory>> {
    let bytes = (0..40_000_u32).map(|at| (at % 251) as u8).collect();
    Arc::new(Watched::new(Memory::new("m", bytes, costs)))
}

#[test]
fn what_is_asked_together_comes_by_one_submission() {
    let source = watched(FAR);
    let inbox = Inbox::new(&(Arc::clone(&source) as Arc<dyn Source>)).unwrap();
    let counters = Arc::new(Counters::default());
    let lease = inbox.lease(&counters);
    lease.ask([3, 1, 7].map(single));
    assert!(lease.is_here());
    assert_eq!(
        source.reads().concat(),
        std::slice::from_ref(&(1010..7170)),
        "near ranges are one"
    );
    for number in [1, 7, 3] {
        let bytes = lease.take(&range(number)).unwrap();
        assert_eq!(bytes.len(), 100);
        assert_eq!(u64::from(bytes[0]), range(number).start % 251);
    }
    assert!(source.reads().is_empty());
    assert_eq!(
        (
            counters.requests(),
            counters.bytes_read(),
            counters.bytes_wanted()
        ),
        (1, 6160, 300)
    );
}

#[test]
fn what_was_not_asked_for_comes_too_and_what_is_beyond_the_end_is_an_error() {
    let source = watched(FAR);
    let inbox = Inbox::new(&(Arc::clone(&source) as Arc<dyn Source>)).unwrap();
    let lease = inbox.lease(&Arc::default());
    assert_eq!(lease.take(&(5..9)).unwrap(), [5, 6, 7, 8].as_slice());
    let error = lease.take(&(39_999..40_001)).unwrap_err();
    assert_eq!(error.range, Some(39_999..40_001));
    // An error is not remembered: another try asks the source again.
    source.reads();
    lease.take(&(39_999..40_001)).unwrap_err();
    assert_eq!(source.reads().len(), 1);
}

#[test]
fn leases_share_what_both_ask_for() {
    let source = watched(FAR);
    let inbox = Inbox::new(&(Arc::clone(&source) as Arc<dyn Source>)).unwrap();
    let [one, other] = [(); 2].map(|()| inbox.lease(&Arc::default()));
    one.ask([single(1)]);
    other.ask([single(1)]);
    drop(one);
    other.take(&range(1)).unwrap();
    assert_eq!(source.reads().len(), 1);
    assert!(inbox.state().is_empty() || Arc::strong_count(&inbox) > 1);
    drop(other);
    assert!(inbox.state().is_empty());
}

#[test]
fn what_several_columns_share_is_asked_for_once() {
    let source = watched(FAR);
    let inbox = Inbox::new(&(Arc::clone(&source) as Arc<dyn Source>)).unwrap();
    let lease = inbox.lease(&Arc::default());
    lease.ask([(range(1), 3)]);
    for _ in 0..3 {
        lease.take(&range(1)).unwrap();
    }
    assert_eq!(source.reads().len(), 1);
    assert!(inbox.state().is_empty());
}

#[test]
fn near_sources_have_no_inbox() {
    assert!(Inbox::new(&(watched(Costs::NEAR) as Arc<dyn Source>)).is_none());
}

/// A source whose answers are too short.
struct Short(Info);

impl Source for Short {
    fn info(&self) -> &Info {
        &self.0
    }
    fn costs(&self) -> Costs {
        FAR
    }
    fn read(&self, _: &mut [Request]) -> Result<(), SourceError> {
        Ok(())
    }
    fn submit(&self, ranges: Vec<Range<u64>>) -> Vec<Ticket> {
        let short = |_| Ticket::ready(Ok(Bytes::from_static(b"ab")));
        ranges.into_iter().map(short).collect()
    }
}

#[test]
fn short_answers_are_errors() {
    let short = Arc::new(Short(Info::new("short", 100)));
    let inbox = Inbox::new(&(short as Arc<dyn Source>)).unwrap();
    let error = inbox.lease(&Arc::default()).take(&(0..10)).unwrap_err();
    assert_eq!(
        error.to_string(),
        "short: only 2 bytes came of the range 0..10 (reading bytes 0..10)"
    );
}

/// A source that says nothing, and notes what is not wanted any more.
struct Silent(
    Mutex<Vec<treemill_source::Promise>>,
    Mutex<Vec<Range<u64>>>,
    Info,
);

impl Silent {
    fn new() -> Self {
        Silent(Mutex::default(), Mutex::default(), Info::new("silent", 100))
    }
}

impl Source for Silent {
    fn info(&self) -> &Info {
        &self.2
    }
    fn costs(&self) -> Costs {
        FAR
    }
    fn read(&self, _: &mut [Request]) -> Result<(), SourceError> {
        Ok(())
    }
    fn submit(&self, ranges: Vec<Range<u64>>) -> Vec<Ticket> {
        let one = |range: Range<u64>| {
            let (ticket, promise) = Ticket::new("silent", range);
            self.0.lock().unwrap().push(promise);
            ticket
        };
        ranges.into_iter().map(one).collect()
    }
    fn abandon(&self, ranges: &[Range<u64>]) {
        self.1.lock().unwrap().extend_from_slice(ranges);
    }
}

#[test]
fn who_waits_for_a_silent_source_hears_that_the_pass_is_stopped() {
    let silent = Arc::new(Silent::new());
    let inbox = Inbox::new(&(Arc::clone(&silent) as Arc<dyn Source>)).unwrap();
    let counters: Arc<Counters> = Arc::default();
    let lease = inbox.lease(&counters);
    counters.stop();
    let error = lease.take(&(0..10)).unwrap_err();
    assert!(error.to_string().contains("was stopped"), "{error}");
    assert_eq!(counters.waits().0, 1);
    // The bytes are still on their way for others.
    let promise = silent.0.lock().unwrap().pop().unwrap();
    promise.keep(Ok(Bytes::from_static(b"0123456789")));
    assert_eq!(
        inbox.lease(&Arc::default()).take(&(0..10)).unwrap().len(),
        10
    );
}

/// Each of the ranges would have come in time: together they keep a run that was stopped for no longer than one.
#[test]
fn the_time_that_a_stopped_run_has_is_not_given_for_each_range() {
    let silent = Arc::new(Silent::new());
    let inbox = Inbox::new(&(Arc::clone(&silent) as Arc<dyn Source>)).unwrap();
    let counters: Arc<Counters> = Arc::default();
    let lease = inbox.lease(&counters);
    counters.stop();
    while !counters.is_overdue() {
        std::thread::yield_now();
    }
    let begun = std::time::Instant::now();
    for at in [0, 1 << 20, 2 << 20, 3 << 20] {
        assert!(lease.take(&(at..at + 10)).is_err());
    }
    assert!(begun.elapsed() < 4 * STOP_GRACE);
}

#[test]
fn a_source_is_told_what_a_stopped_run_wanted_alone() {
    let silent = Arc::new(Silent::new());
    let inbox = Inbox::new(&(Arc::clone(&silent) as Arc<dyn Source>)).unwrap();
    let stopped: Arc<Counters> = Arc::default();
    let [one, next, ended] = [(); 3].map(|()| inbox.lease(&stopped));
    let other = inbox.lease(&Arc::default());
    for at in [0, 20, 40] {
        one.ask([(at..at + 10, 1)]); // one by one: near ranges are sent as one
    }
    other.ask([(20..30, 1)]);
    next.ask([(60..70, 1)]);
    ended.ask([(80..90, 1)]);
    drop(ended);
    let promise = silent.0.lock().unwrap().remove(0);
    promise.keep(Ok(Bytes::from_static(b"0123456789")));
    let sent = silent.0.lock().unwrap().len();
    stopped.stop();
    drop(one);
    assert_eq!(*silent.1.lock().unwrap(), std::slice::from_ref(&(40..50)));
    next.ask([(70..80, 1)]);
    assert_eq!(silent.0.lock().unwrap().len(), sent, "nothing more is sent");
    drop(next);
    assert_eq!(*silent.1.lock().unwrap(), [40..50, 60..70]);
}
