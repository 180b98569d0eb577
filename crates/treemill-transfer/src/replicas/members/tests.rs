//! Sources that come, fail and get worse.
#![allow(clippy::arithmetic_side_effects)]

use super::*;

fn at(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

/// All open, with these milliseconds of round trip and seconds per MB.
fn members(all: &[(u64, u64)]) -> Members {
    let mut members = Members::new(all.len());
    for (number, &(round_trip, per_mb)) in all.iter().enumerate() {
        members.opened(number, Duration::from_millis(round_trip));
        measure(&mut members, number, per_mb, at(0));
    }
    members
}

fn measure(members: &mut Members, number: Number, per_mb: u64, now: Duration) {
    if let Some(member) = members.get_mut(number) {
        member.quality.asked(1_000_000, now);
        member.quality.answered(1_000_000, now + at(per_mb));
    }
}

#[test]
fn two_are_active_and_the_others_wait() {
    let members = members(&[(1, 1), (1, 1), (1, 1)]);
    assert_eq!(members.with(Standing::Active), [0, 1]);
    assert_eq!(members.with(Standing::Inactive), [2]);
}

#[test]
fn an_inactive_one_takes_the_place_of_one_that_fails_or_is_worse() {
    let mut all = members(&[(1, 1), (1, 1), (1, 1)]);
    all.failed(0, at(1));
    assert_eq!(all.tend(at(1)), []);
    assert_eq!(all.with(Standing::Active), [1, 2]);

    let mut all = members(&[(1, 4), (1, 1), (1, 1)]);
    assert_eq!(all.tend(at(6)), []);
    assert_eq!(all.with(Standing::Active), [1, 2]);
    assert_eq!(all.with(Standing::Inactive), [0]);
}

#[test]
fn one_that_failed_comes_back_after_its_time_and_each_time_later() {
    let mut members = members(&[(1, 1), (1, 1)]);
    members.failed(0, at(10));
    assert_eq!(members.tend(at(69)), []);
    assert_eq!(members.tend(at(70)), [0]);
    members.failed(0, at(70));
    assert_eq!(members.tend(at(189)), []);
    assert_eq!(members.tend(at(190)), [0]);
    members.opened(0, at(0));
    members.succeeded(0);
    members.failed(0, at(200));
    assert_eq!(members.tend(at(260)), [0]);
}

#[test]
fn the_last_one_is_kept_and_others_are_opened_early_for_what_it_failed() {
    let mut members = members(&[(1, 1), (1, 1)]);
    members.failed(0, at(10));
    members.failed(1, at(10));
    assert_eq!(members.with(Standing::Active), [1]);
    assert_eq!(members.next(&BTreeSet::from([1]), 1, at(11)), Next::Open(0));
    assert_eq!(members.next(&BTreeSet::from([1]), 1, at(11)), Next::Wait);
    assert_eq!(
        members.next(&BTreeSet::from([0, 1]), 1, at(11)),
        Next::Nowhere
    );
}

#[test]
fn more_sources_are_looked_at_less_and_less_often() {
    let mut members = Members::new(5);
    members.opened(0, at(1));
    let mut opened = Vec::new();
    for second in 0..1000 {
        for number in members.tend(at(second)) {
            members.opened(number, at(1));
            opened.push(second);
        }
    }
    assert_eq!(opened, [0, 60, 180, 420]);
}
