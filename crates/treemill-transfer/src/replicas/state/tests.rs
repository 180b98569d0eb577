//! Histories of servers that fail, hang, slow down and come back, on scripted time.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::cast_precision_loss
)]

use super::*;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

mod sharing;

const MB: u64 = 1_000_000;

#[derive(Debug, Clone, Copy, PartialEq)]
enum Health {
    Well,
    /// Everything is refused.
    Down,
    /// Nothing comes; the source gives up after [`PATIENCE`].
    Hung,
}

/// How long a source waits for a server that is silent.
const PATIENCE: Duration = Duration::from_secs(28);

#[derive(Debug, Clone)]
struct Server {
    round_trip: Duration,
    /// Bytes per second.
    speed: f64,
    health: Health,
    is_other: bool,
    /// When all that was asked for is sent.
    free: Duration,
    bytes: u64,
    /// Bytes of its first window; it doubles each round trip. 0: it is as fast as it can be from the beginning.
    window: f64,
}

#[derive(Debug)]
enum Event {
    Want(Vec<u64>),
    Health(Number, Health),
    Answer(AskId),
    Fail(AskId, Number, PartId),
    Opened(Number),
    Refused(Number),
    /// A search has ended: all servers are known then.
    Found,
}

struct Simulation {
    state: State,
    servers: Vec<Server>,
    now: Duration,
    queue: BTreeMap<(Duration, u64), Event>,
    order: u64,
    /// What was wanted and is neither here nor given up, and the sources that failed it.
    open: BTreeMap<PartId, BTreeSet<Number>>,
    answered: u64,
    given_up: u64,
    asked: BTreeMap<PartId, BTreeSet<Number>>,
}

fn server(millis: u64, speed: f64) -> Server {
    Server {
        round_trip: Duration::from_millis(millis),
        speed,
        health: Health::Well,
        is_other: false,
        free: Duration::ZERO,
        bytes: 0,
        window: 0.0,
    }
}

impl Server {
    /// How long it sends this number of bytes: what was sent so far has widened its window by as much.
    fn sending(&self, bytes: u64) -> Duration {
        let (trip, full) = (self.round_trip.as_secs_f64(), bytes as f64);
        let window = self.window + self.bytes as f64;
        let slow = (self.speed * trip - window).clamp(0.0, full);
        let trips = match self.window > 0.0 {
            true => ((window + slow) / window).log2(),
            false => slow / (self.speed * trip),
        };
        Duration::from_secs_f64(trips * trip + (full - slow) / self.speed)
    }
}

impl Simulation {
    fn new(servers: Vec<Server>, seed: u64) -> Self {
        Self::hiding(servers, 0, seed)
    }

    /// The last servers are known only after a search.
    fn hiding(servers: Vec<Server>, hidden: usize, seed: u64) -> Self {
        let mut state = State::new(servers.len() - hidden, seed);
        if hidden > 0 {
            state.may_search(servers[0].round_trip);
        }
        state.members.opened(0, servers[0].round_trip);
        let mut made = Simulation {
            state,
            servers,
            now: Duration::ZERO,
            queue: BTreeMap::new(),
            order: 0,
            open: BTreeMap::new(),
            answered: 0,
            given_up: 0,
            asked: BTreeMap::new(),
        };
        let decisions = made.state.tick(made.now);
        made.perform(decisions);
        made
    }

    fn later(&mut self, after: Duration, event: Event) {
        self.order += 1;
        self.queue.insert((self.now + after, self.order), event);
    }

    /// Handles all events up to a time.
    fn run(&mut self, until: Duration) {
        loop {
            let next = self.queue.first_key_value().map(|(key, _)| key.0);
            let tick = self
                .state
                .due()
                .map(|due| due.max(self.now + Duration::from_millis(20)));
            let first = [next, tick].into_iter().flatten().min();
            let Some(first) = first.filter(|first| *first <= until) else {
                self.now = until;
                return;
            };
            self.now = first;
            let decisions = if next == Some(first) {
                let event = self.queue.pop_first().unwrap().1;
                self.handle(event)
            } else {
                self.state.tick(self.now)
            };
            self.perform(decisions);
            let active = self.state.members.with(Standing::Active);
            assert!(active.len() <= 2, "{active:?}");
        }
    }

    fn handle(&mut self, event: Event) -> Vec<Decision> {
        let now = self.now;
        match event {
            Event::Want(lengths) => {
                let ranges: Vec<_> = lengths.iter().map(|length| 0..*length).collect();
                let (parts, decisions) = self.state.wanted(&ranges, now);
                for (length, parts) in lengths.iter().zip(parts) {
                    // Also if some are given up at once: whoever waits is told why.
                    let sum: u64 = parts.iter().map(|(_, range)| range.end - range.start).sum();
                    assert_eq!(sum, *length);
                    for (part, _) in parts {
                        self.open.insert(part, BTreeSet::new());
                    }
                }
                decisions
            }
            Event::Health(number, health) => {
                self.servers[number].health = health;
                Vec::new()
            }
            Event::Answer(ask) => {
                let (part, decisions) = self.state.answered(ask, now);
                if let Some(part) = part {
                    assert!(self.open.remove(&part).is_some(), "answered once");
                    self.answered += 1;
                }
                decisions
            }
            Event::Found => {
                let known = (0..)
                    .find(|&n| self.state.members.get(n).is_none())
                    .unwrap();
                self.state.found(self.servers.len() - known, now)
            }
            Event::Fail(ask, number, part) => {
                if let Some(tried) = self.open.get_mut(&part) {
                    tried.insert(number);
                }
                self.state.failed(ask, now)
            }
            Event::Opened(number) if self.servers[number].is_other => {
                self.state.left_out(number, now)
            }
            Event::Opened(number) => {
                self.state
                    .opened(number, self.servers[number].round_trip, now)
            }
            Event::Refused(number) => {
                for tried in self.open.values_mut() {
                    tried.insert(number);
                }
                self.state.refused(number, now)
            }
        }
    }

    fn perform(&mut self, decisions: Vec<Decision>) {
        for decision in decisions {
            match decision {
                Decision::Open(number) => {
                    let round_trip = self.servers[number].round_trip;
                    match self.servers[number].health {
                        Health::Well => self.later(3 * round_trip, Event::Opened(number)),
                        Health::Down => self.later(round_trip, Event::Refused(number)),
                        Health::Hung => self.later(PATIENCE, Event::Refused(number)),
                    }
                }
                Decision::Search => self.later(Duration::from_secs(1), Event::Found),
                Decision::GiveUp(part) => {
                    let tried = self.open.remove(&part).unwrap();
                    for (number, server) in self.servers.iter().enumerate() {
                        let Some(known) = self.state.members.get(number) else {
                            panic!("{number} was not found");
                        };
                        let known = known.standing;
                        let is_out = server.is_other && known == Standing::LeftOut;
                        assert!(is_out || tried.contains(&number), "{number} was not tried");
                    }
                    self.given_up += 1;
                }
                Decision::Ask(number, asks) => {
                    for (id, range) in asks {
                        self.ask(number, id, length(&range));
                    }
                }
            }
        }
    }

    fn ask(&mut self, number: Number, id: AskId, bytes: u64) {
        let part = self.state.asks[&id].part;
        let is_new = self.asked.entry(part).or_default().insert(number);
        assert!(is_new, "{number} is asked for part {part} again");
        let server = &mut self.servers[number];
        assert!(!server.is_other, "it has another file");
        let fail = Event::Fail(id, number, part);
        match server.health {
            Health::Well => {
                let taken = server.sending(bytes);
                let begin = server.free.max(self.now + server.round_trip);
                server.free = begin + taken;
                server.bytes += bytes;
                let after = server.free - self.now;
                self.later(after, Event::Answer(id));
            }
            Health::Down => {
                let after = server.round_trip;
                self.later(after, fail);
            }
            Health::Hung => self.later(PATIENCE, fail),
        }
    }

    /// Reads until this is here, each time when the last is; how long it took.
    fn read(&mut self, bytes: u64, each: u64) -> Duration {
        let (begun, mut left) = (self.now, bytes);
        while left > 0 {
            let lengths = vec![MB.min(each); usize::try_from((each / MB).max(1)).unwrap()];
            left = left.saturating_sub(each);
            self.later(Duration::ZERO, Event::Want(lengths));
            self.run(self.now);
            while !self.open.is_empty() {
                let next = self.queue.first_key_value().map(|(key, _)| key.0);
                let due = self
                    .state
                    .due()
                    .map(|due| due.max(self.now + Duration::from_millis(20)));
                self.run([next, due].into_iter().flatten().min().unwrap());
            }
        }
        self.now - begun
    }
}

#[test]
fn a_server_that_falls_silent_costs_less_than_three_seconds() {
    let servers = || vec![server(137, 20e6), server(137, 20e6)];
    let mut simulation = Simulation::new(servers(), 1);
    simulation.read(500 * MB, 50 * MB);
    simulation.servers[0].health = Health::Hung;
    let read = simulation.read(50 * MB, 50 * MB);
    let alone = Simulation::new(vec![server(137, 20e6)], 1).read(50 * MB, 50 * MB);
    let lost = read.as_secs_f64() - alone.as_secs_f64();
    assert!(lost < 3.0, "{lost}");
    assert_eq!(simulation.given_up, 0);
}

#[test]
fn what_a_source_owes_that_has_lost_its_connection_is_asked_of_the_other_one_at_once() {
    let (mut state, start) = (State::new(2, 1), Duration::from_secs(1));
    for number in 0..2 {
        state.opened(number, Duration::from_millis(137), start);
    }
    let (_, decisions) = state.wanted(std::slice::from_ref(&(0..4 * MB)), start);
    let mut owed = BTreeMap::new();
    for decision in decisions {
        let Decision::Ask(number, parts) = decision else {
            panic!("{decision:?}");
        };
        let ranges = parts.into_iter().map(|(_, range)| range);
        owed.entry(number).or_insert_with(Vec::new).extend(ranges);
    }
    let soon = start + Duration::from_millis(1);
    assert_eq!(state.tick(soon), [], "nothing is late");
    state.lost(0, soon);
    let [Decision::Ask(1, again)] = &state.tick(soon)[..] else {
        panic!("the other one is not asked");
    };
    let again: Vec<_> = again.iter().map(|(_, range)| range.clone()).collect();
    let mut expected = owed[&0].clone();
    expected.sort_by_key(|range| range.start);
    assert_eq!(again, expected);
    assert_eq!(state.tick(soon), [], "once");
}

#[test]
fn servers_that_the_caller_has_not_named_are_found_when_they_are_worth_it() {
    let servers = || vec![server(137, 20e6), server(137, 20e6)];
    let mut short = Simulation::hiding(servers(), 1, 1);
    short.read(20 * MB, 5 * MB);
    assert_eq!(short.servers[1].bytes, 0, "a short read needs one");
    let alone = Simulation::new(vec![server(137, 20e6)], 1).read(2000 * MB, 50 * MB);
    let together = Simulation::hiding(servers(), 1, 1).read(2000 * MB, 50 * MB);
    let gain = alone.as_secs_f64() / together.as_secs_f64();
    assert!(gain > 1.7, "{gain}");
}

#[test]
fn what_the_only_known_server_fails_or_owes_is_asked_of_one_that_is_found() {
    for health in [Health::Down, Health::Hung] {
        let servers = vec![server(137, 20e6), server(137, 20e6)];
        let mut simulation = Simulation::hiding(servers, 1, 1);
        simulation.read(5 * MB, 5 * MB);
        simulation.servers[0].health = health;
        let read = simulation.read(5 * MB, 5 * MB);
        assert!(read < Duration::from_secs(8), "{health:?}: {read:?}");
        assert_eq!(simulation.given_up, 0);
    }
}

#[test]
fn an_inactive_server_is_probed_now_and_then_and_taken_if_it_is_better() {
    let servers = vec![server(137, 2e6), server(137, 2e6), server(137, 50e6)];
    let mut simulation = Simulation::new(servers, 1);
    simulation.read(20_000 * MB, 20 * MB);
    let active = simulation.state.members.with(Standing::Active);
    assert!(active.contains(&2), "{active:?}");
    assert!(simulation.servers[2].bytes > 5000 * MB);
}

#[test]
fn a_server_that_comes_back_is_read_from_again() {
    let mut simulation = Simulation::new(vec![server(10, 20e6), server(10, 20e6)], 1);
    simulation.read(100 * MB, 10 * MB);
    simulation.servers[0].health = Health::Down;
    simulation.read(100 * MB, 10 * MB);
    assert_eq!(simulation.state.members.with(Standing::Active), [1]);
    let before = simulation.servers[0].bytes;
    simulation.servers[0].health = Health::Well;
    simulation.read(4000 * MB, 10 * MB);
    assert!(simulation.servers[0].bytes > before + 500 * MB);
    assert_eq!(simulation.given_up, 0);
}

/// What happens when, in milliseconds.
fn history() -> impl Strategy<Value = Vec<(u64, Event)>> {
    let health = prop_oneof![Just(Health::Well), Just(Health::Down), Just(Health::Hung)];
    let event = prop_oneof![
        3 => prop::collection::vec(1_u64..3 * MB, 1..6).prop_map(Event::Want),
        1 => (0_usize..4, health).prop_map(|(number, health)| Event::Health(number, health)),
    ];
    prop::collection::vec((0_u64..20_000, event), 1..40)
}

fn servers() -> impl Strategy<Value = Vec<Server>> {
    let one = (1_u64..300, 1e5..1e8, prop::bool::weighted(0.15));
    let made = one.prop_map(|(millis, speed, is_other)| Server {
        is_other,
        ..server(millis, speed)
    });
    prop::collection::vec(made, 1..5)
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 1000, failure_persistence: None, rng_seed: RngSeed::Fixed(15), ..ProptestConfig::default()
    })]

    #[test]
    fn every_part_is_answered_once_or_all_sources_have_failed_it(
        mut servers in servers(), history in history(), seed in any::<u64>(), hidden in 0_usize..4,
    ) {
        servers[0].is_other = false; // the first one says what the file is
        let count = servers.len();
        let mut simulation = Simulation::hiding(servers, hidden.min(count - 1), seed);
        for (pause, event) in history {
            if matches!(event, Event::Health(number, _) if number >= count) {
                continue;
            }
            simulation.later(Duration::from_millis(pause), event);
            simulation.run(simulation.now + Duration::from_millis(pause));
        }
        simulation.run(simulation.now + Duration::from_secs(5000));
        prop_assert!(simulation.open.is_empty(), "{:?} are left", simulation.open);
        prop_assert!(simulation.state.is_idle() && simulation.state.asks.is_empty());
        // When all servers are well again, so is the file.
        simulation.servers.iter_mut().for_each(|server| server.health = Health::Well);
        let before = simulation.given_up;
        simulation.read(5 * MB, MB);
        prop_assert_eq!(simulation.given_up, before);
    }
}

#[test]
fn what_is_not_wanted_any_more_is_asked_of_no_other_source() {
    let mut state = State::new(2, 1);
    let now = Duration::from_secs(1);
    for member in 0..2 {
        state.opened(member, Duration::from_millis(137), now);
    }
    let (_, decisions) = state.wanted(&[0..100, 100..200], now);
    let asks: Vec<_> = decisions
        .iter()
        .filter_map(|decision| match decision {
            Decision::Ask(_, asks) => Some(asks.clone()),
            _ => None,
        })
        .flatten()
        .collect();
    assert_eq!(asks.len(), 2);
    let mut abandon = |range| state.abandoned(std::slice::from_ref(&range), now).len();
    assert_eq!(abandon(50..200), 1);
    for (id, range) in asks {
        let decisions = state.failed(id, now);
        let again = |decision: &Decision| matches!(decision, Decision::Ask(..));
        assert_eq!(decisions.iter().any(again), range == (0..100), "{range:?}");
    }
    assert!(!state.is_idle());
    assert_eq!(
        state.abandoned(std::slice::from_ref(&(0..1000)), now).len(),
        1
    );
    assert!(state.is_idle() && state.asks.is_empty());
    for member in 0..2 {
        assert_eq!(state.members.get(member).unwrap().quality.owed_bytes(), 0);
    }
}
