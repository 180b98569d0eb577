//! Servers that fail in any order, on scripted time: nothing is lost or given up twice, and everything ends.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects
)]

use super::*;
use crate::pieces::cut;
use proptest::prelude::*;
use std::collections::BTreeMap;
use treemill_transfer::patience::PATIENCE;

fn pieces(count: u64) -> Vec<Piece> {
    asked(count, Duration::ZERO)
}

fn asked(count: u64, when: Duration) -> Vec<Piece> {
    let mut wants = treemill_transfer::Wants::default();
    (0..count)
        .flat_map(|i| cut(&mut wants, &(i..i + 1), (), when))
        .collect()
}

fn at(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

/// A file under recovery, with its health.
struct Known {
    recovery: Recovery,
    health: Health,
}

impl Known {
    fn new() -> Self {
        let (recovery, mut health) = (Recovery::new(), Health::default());
        health.speaks(Duration::ZERO);
        Known { recovery, health }
    }

    /// Nothing was wanted before.
    fn asked(&mut self, pieces: Vec<Piece>, now: Duration) -> Vec<Step> {
        self.recovery.begin(&self.health, now);
        self.wanted(pieces)
    }

    fn wanted(&mut self, pieces: Vec<Piece>) -> Vec<Step> {
        self.recovery.wanted(pieces)
    }

    fn lost(&mut self, pieces: Vec<Piece>, loss: &Loss, now: Duration) -> Vec<Step> {
        self.recovery.lost(pieces, loss, &mut self.health, now)
    }

    fn reopened(&mut self, now: Duration) -> Vec<Step> {
        self.recovery.reopened(&mut self.health, now)
    }

    fn refused(&mut self, may_help: bool, now: Duration) -> Vec<Step> {
        let kind = match may_help {
            true => Kind::Unreachable,
            false => Kind::Missing,
        };
        self.recovery.refused(kind, may_help, &mut self.health, now)
    }

    fn tick(&mut self, now: Duration) -> Vec<Step> {
        self.recovery.tick(&mut self.health, now)
    }

    fn progressed(&mut self, now: Duration) {
        self.recovery.progressed(&mut self.health, now);
    }

    fn generation(&self) -> u64 {
        self.recovery.generation()
    }
}

fn loss(generation: u64, host: &str, is_refusal: bool) -> Loss {
    Loss {
        generation,
        host: host.to_owned(),
        is_refusal,
        kind: match is_refusal {
            true => Kind::Transient,
            false => Kind::Lost,
        },
        heard: Duration::ZERO,
    }
}

fn open(after: u64, avoid: &[&str]) -> Step {
    let (after, avoid) = (at(after), avoid.iter().map(ToString::to_string).collect());
    Step::Open { after, avoid }
}

#[derive(Debug, Clone)]
enum Act {
    Want,
    Answer(prop::sample::Index),
    Lose(prop::sample::Index, bool),
    Opened,
    NotOpened(bool),
    Time(u64),
}

fn acts() -> impl Strategy<Value = Vec<Act>> {
    let act = prop_oneof![
        2 => Just(Act::Want),
        2 => any::<prop::sample::Index>().prop_map(Act::Answer),
        4 => any::<(prop::sample::Index, bool)>().prop_map(|(which, is_refusal)| Act::Lose(which, is_refusal)),
        2 => Just(Act::Opened),
        2 => any::<bool>().prop_map(Act::NotOpened),
        1 => (0_u64..9000).prop_map(Act::Time),
    ];
    prop::collection::vec(act, 0..80)
}

/// A file under recovery, as its driver has it.
struct Driver {
    recovery: Known,
    now: u64,
    next: u64,
    /// Pieces in flight, by the generation in which they were sent.
    flying: Vec<(u64, Piece)>,
    openings: u32,
    /// How often each piece has ended.
    ended: BTreeMap<u64, u32>,
}

impl Driver {
    fn perform(&mut self, steps: Vec<Step>) {
        for step in steps {
            match step {
                Step::Send(pieces) => {
                    let generation = self.recovery.generation();
                    self.flying
                        .extend(pieces.into_iter().map(|piece| (generation, piece)));
                }
                Step::Open { .. } => self.openings += 1,
                // What is in flight and given up is not waited for any more.
                Step::GiveUp(pieces) => pieces.iter().for_each(|piece| {
                    self.flying.retain(|(_, flying)| flying.want != piece.want);
                    self.end(piece);
                }),
            }
        }
        assert!(self.openings <= 1, "the file is opened twice at once");
    }

    fn end(&mut self, piece: &Piece) {
        *self.ended.entry(piece.want).or_default() += 1;
    }

    fn act(&mut self, act: &Act) {
        let now = at(self.now);
        match act {
            Act::Want => {
                let piece = Piece {
                    want: self.next,
                    asked: now,
                    ..pieces(1)[0].clone()
                };
                self.next += 1;
                let is_first = self.ended.len() as u64 + 1 == self.next;
                let steps = match is_first {
                    true => self.recovery.asked(vec![piece], now),
                    false => self.recovery.wanted(vec![piece]),
                };
                self.perform(steps);
            }
            Act::Answer(which) if !self.flying.is_empty() => {
                let (_, piece) = self.flying.remove(which.index(self.flying.len()));
                self.recovery.progressed(now);
                self.end(&piece);
            }
            Act::Lose(which, is_refusal) if !self.flying.is_empty() => {
                let (generation, piece) = self.flying.remove(which.index(self.flying.len()));
                let steps =
                    self.recovery
                        .lost(vec![piece], &loss(generation, "host", *is_refusal), now);
                self.perform(steps);
            }
            Act::Opened if self.openings > 0 => {
                self.openings -= 1;
                let steps = self.recovery.reopened(now);
                self.perform(steps);
            }
            Act::NotOpened(may_help) if self.openings > 0 => {
                self.openings -= 1;
                let steps = self.recovery.refused(*may_help, now);
                self.perform(steps);
            }
            Act::Time(millis) => {
                self.now += millis;
                let steps = self.recovery.tick(at(self.now));
                self.perform(steps);
            }
            _ => {}
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn every_piece_ends_once_whatever_fails(acts in acts()) {
        let mut driver = Driver {
            recovery: Known::new(), now: 0, next: 0, flying: Vec::new(), openings: 0, ended: BTreeMap::new(),
        };
        for act in &acts {
            driver.act(act);
            let waiting = driver.recovery.recovery.waiting.len() + driver.flying.len() + driver.ended.len();
            prop_assert_eq!(waiting as u64, driver.next, "a piece is lost or counted twice");
        }
        // From now on every opening fails, and every request.
        for _ in 0..2000 {
            driver.act(&Act::Time(100));
            driver.act(&Act::NotOpened(true));
            let all: Vec<_> = std::mem::take(&mut driver.flying);
            for (generation, piece) in all {
                let steps = driver.recovery.lost(vec![piece], &loss(generation, "host", false), at(driver.now));
                driver.perform(steps);
            }
        }
        prop_assert_eq!(driver.ended.len() as u64, driver.next);
        prop_assert!(driver.ended.values().all(|&times| times == 1));
    }
}

#[test]
fn a_lost_server_is_avoided_until_there_is_no_other() {
    let mut recovery = Known::new();
    let lost = recovery.lost(pieces(2), &loss(0, "s1", false), at(0));
    assert_eq!(lost, [open(0, &["s1"])]);
    assert_eq!(
        recovery.lost(pieces(1), &loss(0, "s1", false), at(1)),
        [],
        "one opening at a time"
    );
    assert_eq!(recovery.refused(false, at(2)), [open(100, &[])]);
    let Step::Send(again) = &recovery.reopened(at(3))[0] else {
        panic!("nothing is sent");
    };
    assert_eq!((again.len(), recovery.generation()), (3, 1));
    // What fails of the older generation is asked again at once.
    let late = recovery.lost(pieces(1), &loss(0, "s1", false), at(3));
    assert!(matches!(&late[..], [Step::Send(pieces)] if pieces[0].tries == 0));
}

#[test]
fn openings_wait_longer_each_time_and_end() {
    let mut recovery = Known::new();
    let (mut now, mut waits) = (0, Vec::new());
    let mut steps = recovery.lost(pieces(1), &loss(0, "s", false), at(now));
    while let [Step::Open { after, .. }] = &steps[..] {
        let wait = u64::try_from(after.as_millis()).unwrap();
        now += wait;
        waits.push(wait);
        steps = recovery.refused(true, at(now));
    }
    assert_eq!(waits, [0, 100, 300, 900, 2700, 3000, 3000, 3000]);
    assert!(matches!(&steps[..], [Step::GiveUp(pieces)] if pieces.len() == 1));
    let again = recovery.wanted(pieces(1));
    assert_eq!(again, [open(0, &[])], "the next request tries again");
}

/// Has the file asked for at `now` while no server takes a connection; when that is given up.
fn given_up(recovery: &mut Known, mut now: u64) -> u64 {
    let mut steps = recovery.asked(asked(1, at(now)), at(now));
    while let [Step::Open { after, .. }] = &steps[..] {
        now += u64::try_from(after.as_millis()).unwrap();
        assert_eq!(
            recovery.tick(at(now)),
            [],
            "it is given up before it is tried"
        );
        now += 1;
        steps = recovery.refused(true, at(now));
    }
    assert!(matches!(&steps[..], [Step::GiveUp(pieces)] if pieces.len() == 1));
    now
}

#[test]
fn who_asks_again_for_a_lost_file_does_not_wait_as_long_each_time() {
    let mut recovery = Known::new();
    recovery.recovery.rested();
    let first = given_up(&mut recovery, 5_000);
    assert!((at(17_000)..at(19_000)).contains(&at(first)));
    let second = given_up(&mut recovery, first);
    assert!((at(25_000)..at(31_000)).contains(&at(second)));
    // It is tried each time, but once.
    let third = given_up(&mut recovery, second);
    assert!(third <= 5_000 + 28_000);
    let later = third + 16_000;
    assert!(given_up(&mut recovery, later) >= later + 12_000);
    // A server that has answered since is waited for as at first.
    let well = later + 14_000;
    recovery.wanted(asked(1, at(well)));
    recovery.reopened(at(well));
    recovery.progressed(at(well + 1));
    recovery.recovery.rested();
    assert!(given_up(&mut recovery, well + 2) >= well + 12_000);
}

#[test]
fn a_piece_that_is_always_refused_is_given_up() {
    let mut recovery = Known::new();
    let mut piece = pieces(1);
    for generation in 0..u64::from(limits::MOST_TRIES) - 1 {
        assert_eq!(
            recovery
                .lost(piece, &loss(generation, "s", true), at(0))
                .len(),
            1
        );
        let Some(Step::Send(again)) = recovery.reopened(at(0)).pop() else {
            panic!("nothing is sent");
        };
        piece = again;
        recovery.progressed(at(0)); // of other requests
    }
    let last = recovery.lost(
        piece,
        &loss(u64::from(limits::MOST_TRIES) - 1, "s", true),
        at(0),
    );
    assert!(matches!(&last[..], [Step::GiveUp(_)]), "{last:?}");
}

/// Opens the file again, which sends what waits.
fn reopened(recovery: &mut Known, now: Duration) -> Vec<Piece> {
    match recovery.reopened(now).pop() {
        Some(Step::Send(pieces)) => pieces,
        other => panic!("nothing is sent: {other:?}"),
    }
}

/// Has the file asked for while servers open it, and bring nothing for as long as a connection waits for them: when that is
/// given up.
fn nothing_brought(recovery: &mut Known, mut now: Duration) -> Duration {
    let silent = |generation| Loss {
        kind: Kind::Silent,
        ..loss(generation, "s", false)
    };
    let mut steps = recovery.asked(asked(1, now), now);
    loop {
        let over = recovery.recovery.due(now).map(|wait| now + wait);
        match &steps[..] {
            [Step::Open { after, .. }] => {
                now += *after;
                steps = recovery.reopened(now);
            }
            [Step::Send(_)] if over.is_some_and(|over| over < now + limits::SILENCE) => {
                now = over.unwrap();
                steps = recovery.tick(now);
            }
            [Step::Send(sent)] => {
                now += limits::SILENCE;
                let generation = recovery.generation();
                steps = recovery.lost(sent.clone(), &silent(generation), now);
            }
            [Step::GiveUp(pieces)] if pieces.len() == 1 => return now,
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn servers_that_open_the_file_and_bring_nothing_are_given_up_once_for_all_who_ask_again() {
    let mut recovery = Known::new();
    let began = at(100_000);
    let first = nothing_brought(&mut recovery, began);
    assert!(first >= began + limits::SILENCE * 3, "three servers");
    let second = nothing_brought(&mut recovery, first);
    assert!(second > first, "it is asked again");
    let third = nothing_brought(&mut recovery, second);
    assert!(third > second);
    assert!(
        third <= began + treemill_transfer::patience::PROMISE,
        "{third:?}"
    );
    // The server is well again: the file is opened anew, and asked as if nothing had been.
    let later = |seconds: u64| asked(1, at(seconds * 1000));
    assert_eq!(recovery.asked(later(600), at(600_000)), [open(0, &[])]);
    let again = reopened(&mut recovery, at(600_000));
    assert_eq!(again, later(600));
    recovery.progressed(at(600_100));
    // And when it fails once more, it has all of its chances.
    assert!(matches!(
        recovery.asked(later(700), at(700_000))[..],
        [Step::Send(_)]
    ));
    let lost = loss(recovery.generation(), "s", false);
    assert_eq!(
        recovery.lost(later(700), &lost, at(708_000)),
        [open(0, &["s"])]
    );
}

#[test]
fn what_is_asked_for_while_a_file_is_doubted_goes_on_when_it_is_well() {
    let mut recovery = Known::new();
    let now = nothing_brought(&mut recovery, at(0));
    assert_eq!(recovery.asked(asked(2, now), now), [open(0, &[])]);
    let sent = reopened(&mut recovery, now);
    assert_eq!(sent.len(), 2);
    recovery.progressed(now);
    assert_eq!(
        recovery.recovery.due(now),
        None,
        "as long as a connection waits"
    );
    assert_eq!(recovery.tick(now + limits::SILENCE), []);
}

#[test]
fn what_has_just_been_asked_for_is_not_given_up_with_what_is_late() {
    let mut recovery = Known::new();
    let (late, new) = (
        pieces(1),
        Piece {
            asked: at(19_000),
            ..pieces(1)[0].clone()
        },
    );
    let all = vec![late[0].clone(), new.clone()];
    let steps = recovery.lost(all, &loss(0, "s", false), at(20_000));
    assert_eq!(steps, [Step::GiveUp(late), open(0, &["s"])]);
    assert_eq!(reopened(&mut recovery, at(20_500)), [new]);
}

#[test]
fn bytes_of_a_request_that_is_lost_later_are_progress() {
    let mut recovery = Known::new();
    let heard = Loss {
        heard: at(39_000),
        ..loss(0, "s", false)
    };
    let steps = recovery.lost(pieces(1), &heard, at(40_000));
    assert_eq!(steps, [open(0, &["s"])]);
}

#[test]
fn nothing_waits_for_an_opening_for_longer_than_users_are_promised() {
    let mut recovery = Known::new();
    recovery.lost(pieces(2), &loss(0, "s", false), at(8000));
    assert_eq!(recovery.recovery.due(at(8000)), Some(PATIENCE - at(8000)));
    assert_eq!(recovery.tick(at(25_000)), []);
    assert_eq!(recovery.tick(PATIENCE), [Step::GiveUp(pieces(2))]);
    assert_eq!(
        (
            recovery.recovery.due(at(28_000)),
            recovery.reopened(at(29_000))
        ),
        (None, vec![])
    );
    // An opening that comes so late that a silence after it would be too long sends nothing, either.
    let mut recovery = Known::new();
    recovery.lost(pieces(1), &loss(0, "s", false), at(8000));
    assert_eq!(recovery.reopened(at(18_001)), [Step::GiveUp(pieces(1))]);
    assert!(matches!(&recovery.wanted(pieces(1))[..], [Step::Send(_)]));
}

#[test]
fn a_connection_that_has_rested_is_no_fault_of_its_server() {
    let mut recovery = Known::new();
    recovery.recovery.rested();
    assert_eq!(recovery.wanted(pieces(1)), [open(0, &[])]);
    recovery.recovery.rested();
    assert_eq!(recovery.wanted(pieces(1)), [], "it is being opened");
    assert_eq!(reopened(&mut recovery, at(1)).len(), 2);
}
