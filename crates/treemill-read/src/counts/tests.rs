//! Tests of the list ends that branches share.
#![allow(
    clippy::unwrap_used,
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing
)]

use super::*;
use crate::decode::Selected;
use proptest::prelude::*;

fn one_counter() -> Counts {
    Counts {
        slots: vec![Slot::new(0)],
    }
}

/// The ends of entries with these counts.
fn ends(counts: &[u32]) -> Vec<i32> {
    ends_of_counts(counts).unwrap()
}

#[test]
fn all_who_ask_get_the_same_buffer() {
    for all in [true, false] {
        let mut counts = one_counter();
        let kept = Kept::default();
        let later = (!all).then_some(&kept);
        counts.learn(0, 7, 10..13, ends(&[1, 0, 2]), later);
        counts.learn(0, 7, 13..15, ends(&[4, 5]), later);
        let first = counts.offsets(0, &(11..15), all).unwrap();
        assert_eq!(first[..], [0, 0, 2, 6, 11]);
        let second = counts.offsets(0, &(11..15), all).unwrap();
        assert_eq!(first.inner().as_ptr(), second.inner().as_ptr());
        assert_eq!(counts.offsets(0, &(13..15), all).unwrap()[..], [0, 4, 9]);
        assert!(counts.offsets(0, &(9..12), all).is_none());
        assert!(counts.offsets(0, &(14..16), all).is_none());
        assert!(counts.offsets(1, &(11..12), all).is_none());
    }
}

#[test]
fn memory_is_taken_for_entries_that_are_known() {
    let mut counts = one_counter();
    counts.learn(0, 7, 0..1, ends(&[1]), None);
    assert!(counts.offsets(0, &(0..u64::MAX), true).is_none());
    counts.learn(0, 7, 5..5, vec![0], None);
    counts.learn(0, 7, 5..7, vec![0], None);
    assert!(counts.known(0, &(5..7)).is_none());
}

#[test]
fn what_is_remembered_between_batches_is_bounded() {
    let most = usize::try_from(COUNTED_ENTRIES).unwrap();
    let long = vec![1; most / 2];
    let mut counts = one_counter();
    let entries = |i: u64| i * COUNTED_ENTRIES / 2..(i + 1) * COUNTED_ENTRIES / 2;
    // Forward, and then at the beginning again.
    for i in [5, 6, 7, 8, 0] {
        counts.learn(0, 7, entries(i), ends(&long), Some(&Kept::default()));
        assert!(counts.slots[0].kept <= COUNTED_ENTRIES + 2);
        assert!(counts.known(0, &entries(i)).is_some());
    }
    for i in 5..9 {
        counts.learn(0, 7, entries(i), ends(&long), None);
    }
    assert!((5..9).all(|i| counts.known(0, &entries(i)).is_some()));
}

#[test]
fn selections_are_made_once() {
    let mut counts = one_counter();
    counts.learn(0, 7, 10..14, ends(&[2, 1, 0, 3]), Some(&Kept::default()));
    let known = counts.known(0, &(10..14)).unwrap();
    let mut select = |rows: &[u32]| counts.selected(0, &(10..14), &known, 9, rows);
    let first = select(&[1, 4]).unwrap();
    assert_eq!(first.items, Selected::Each(vec![0, 1, 3, 4, 5]));
    assert_eq!(first.offsets[..], [0, 2, 5]);
    assert!(Arc::ptr_eq(&first, &select(&[1, 4]).unwrap()));
    assert_eq!(select(&[2]).unwrap().items, Selected::Run(2..3));
    assert!(select(&[0]).is_none(), "before the basket");
    assert!(select(&[5]).is_none(), "behind it");
}

#[test]
fn what_a_branch_told_itself_shows_nothing() {
    let mut counts = one_counter();
    counts.learn(0, 3, 0..2, ends(&[2, 1]), None);
    counts.learn(0, 3, 2..3, ends(&[1]), None);
    counts.learn(0, 4, 3..4, ends(&[1]), None);
    let of_others = |counts: &Counts, entries| counts.known(0, &entries).unwrap().are_of_others(3);
    assert!(!of_others(&counts, 0..2) && !of_others(&counts, 1..3));
    assert!(of_others(&counts, 3..4) && of_others(&counts, 2..4));
    counts.offsets(0, &(0..3), true).unwrap();
    counts.offsets(0, &(0..4), true).unwrap();
    assert!(of_others(&counts, 0..2));
}

proptest! {
    #[test]
    fn what_is_known_is_what_was_learned(
        counts in proptest::collection::vec(0_u32..4, 60),
        runs in proptest::collection::vec((0_usize..60, 1_usize..30), 1..8),
        asked in (0_usize..60, 1_usize..30),
    ) {
        let part = |(first, len): (usize, usize)| first..(first + len).min(60);
        let mut known = one_counter();
        let mut seen = [false; 60];
        for run in runs {
            let run = part(run);
            seen[run.clone()].fill(true);
            let entries = run.start as u64..run.end as u64;
            known.learn(0, 7, entries, ends(&counts[run]), Some(&Kept::default()));
        }
        let asked = part(asked);
        let entries = asked.start as u64..asked.end as u64;
        let expected = ends(&counts[asked.clone()]);
        match known.offsets(0, &entries, false) {
            Some(offsets) => {
                prop_assert!(seen[asked].iter().all(|&seen| seen));
                prop_assert_eq!(&offsets[..], &expected);
                let found = known.known(0, &entries).unwrap();
                prop_assert_eq!(found.items().unwrap() as i32, *expected.last().unwrap());
            }
            // Of runs that overlap, one may hide a part of another.
            None => prop_assert!(known.slots[0].count(&entries).is_none()),
        }
    }
}

#[test]
fn later_readers_go_by_what_earlier_ones_have_found() {
    let kept = Kept::default();
    let mut first = one_counter();
    first.learn(0, 7, 10..13, ends(&[1, 0, 2]), Some(&kept));
    first.learn(0, 7, 13..15, ends(&[4, 5]), Some(&kept));
    first.learn(0, 7, 20..22, ends(&[1, 1]), None);
    let mut second = one_counter();
    assert!(second.known(0, &(11..15)).is_none());
    second.recall(0, &(11..15), &kept);
    let known = second.known(0, &(11..15)).unwrap();
    assert_eq!(known.items(), Some(11));
    assert!(!known.are_of_others(7) && known.are_of_others(8));
    for entries in [20..22, 12..16] {
        second.recall(0, &entries, &kept);
        assert!(second.known(0, &entries).is_none());
    }
}
