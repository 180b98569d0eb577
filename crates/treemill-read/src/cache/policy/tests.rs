#![allow(clippy::unwrap_used, clippy::arithmetic_side_effects)]

use super::*;
use proptest::prelude::*;
use std::collections::BTreeSet;

/// Values are their keys.
type Keys = Policy<u32, u32>;

/// One pass over keys of these sizes; the bytes that were there.
fn scan(policy: &mut Keys, keys: &[(u32, u64)], pass: u64) -> u64 {
    let mut found = 0;
    for &(key, bytes) in keys {
        if policy.get(&key, pass).is_some() {
            found += bytes;
        } else {
            policy.put(key, key, bytes, pass, &mut Vec::new());
        }
        assert!(policy.held <= policy.limit);
    }
    found
}

fn sum(keys: &[(u32, u64)]) -> u64 {
    keys.iter().map(|(_, bytes)| bytes).sum()
}

fn columns(first: u32) -> impl Strategy<Value = Vec<(u32, u64)>> {
    let sizes = proptest::collection::vec(1_u64..100, 1..60);
    sizes.prop_map(move |sizes| (first..).zip(sizes).collect())
}

proptest! {
    #[test]
    fn of_columns_beyond_the_limit_what_fits_is_found_in_every_pass(
        keys in columns(0), limit in 100_u64..3000,
    ) {
        let mut policy = Keys::new(limit);
        scan(&mut policy, &keys, 1);
        let held = policy.held;
        // No room was left for any of the rest.
        prop_assert!(held == sum(&keys) || held + 100 > limit);
        for pass in 2..9 {
            prop_assert_eq!(scan(&mut policy, &keys, pass), held);
        }
    }

    #[test]
    fn other_columns_take_the_place_of_those_that_are_not_used_any_more(
        old in columns(0), new in columns(1000), limit in 100_u64..3000,
    ) {
        let mut policy = Keys::new(limit);
        scan(&mut policy, &old, 1);
        scan(&mut policy, &old, 2);
        let before = policy.held;
        let room = limit - before;
        // One pass over something else harms nothing.
        scan(&mut policy, &new, 3);
        prop_assert_eq!(scan(&mut policy, &old, 4), before);
        prop_assert!(policy.held - before <= room);
        for pass in 5..5 + CACHE_PASSES + 1 {
            scan(&mut policy, &new, pass);
        }
        let found = scan(&mut policy, &new, 5 + CACHE_PASSES + 1);
        prop_assert!(found == sum(&new) || found + 100 > limit);
    }

    #[test]
    fn the_limit_is_kept_and_what_recent_passes_used_stays(
        steps in proptest::collection::vec((0_u8..20, 0_u32..40, 0_u64..200), 0..400),
    ) {
        let mut policy = Keys::new(1000);
        let mut pass = 1;
        // The pass that used each last, as far as it was told to be there.
        let mut used: HashMap<u32, u64> = HashMap::new();
        for (what, key, bytes) in steps {
            let mut gone = Vec::new();
            match what {
                0 => pass += 1,
                1 => {
                    let all: BTreeSet<u32> = policy.clear().into_iter().collect();
                    prop_assert_eq!(all, used.drain().map(|(key, _)| key).collect());
                }
                2 => {
                    for key in policy.set_limit(bytes * 10) {
                        used.remove(&key);
                    }
                }
                3..10 => {
                    let found = policy.get(&key, pass).copied();
                    prop_assert_eq!(found, used.contains_key(&key).then_some(key));
                    used.entry(key).and_modify(|last| *last = pass);
                }
                10..13 => {
                    let held = policy.held;
                    if policy.make_room(bytes, pass, &mut gone) {
                        prop_assert!(policy.held + bytes <= policy.limit);
                    } else {
                        prop_assert!(held + bytes > policy.limit);
                    }
                    for key in &gone {
                        prop_assert!(used.remove(key).unwrap() + CACHE_PASSES < pass);
                    }
                }
                _ => {
                    let before = used.remove(&key).is_some();
                    policy.put(key, key, bytes, pass, &mut gone);
                    if before {
                        prop_assert_eq!(gone.remove(0), key);
                    }
                    if policy.entries.contains_key(&key) {
                        used.insert(key, pass);
                    } else {
                        prop_assert_eq!(gone.pop(), Some(key));
                    }
                    for key in &gone {
                        prop_assert!(used.remove(key).unwrap() + CACHE_PASSES < pass);
                    }
                }
            }
            prop_assert!(policy.held <= policy.limit);
            let bytes = policy.entries.values().map(|entry| entry.bytes);
            prop_assert_eq!(bytes.sum::<u64>(), policy.held);
            let order: BTreeSet<u32> = policy.order.values().copied().collect();
            prop_assert_eq!(order.len(), policy.order.len());
            prop_assert_eq!(order, used.keys().copied().collect());
        }
    }
}

#[test]
fn what_is_larger_than_the_limit_drives_nothing_out() {
    let mut policy = Keys::new(100);
    policy.put(1, 1, 60, 1, &mut Vec::new());
    let mut gone = Vec::new();
    policy.put(2, 2, 101, 50, &mut gone);
    assert_eq!((gone, policy.held), (vec![2], 60));
    assert_eq!(policy.get(&1, 50), Some(&1));
}

#[test]
fn the_least_recently_used_goes_first() {
    let mut policy = Keys::new(100);
    for key in 0..4 {
        policy.put(key, key, 25, 1, &mut Vec::new());
    }
    policy.get(&0, 2);
    let mut gone = Vec::new();
    policy.put(9, 9, 30, 9, &mut gone);
    assert_eq!(gone, [1, 2]);
    assert_eq!(policy.set_limit(30), [3, 0]);
}
