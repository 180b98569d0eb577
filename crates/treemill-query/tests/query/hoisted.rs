//! What loops in loops compute before they repeat it, against loops written out: the same to the bit; and that it is
//! computed before.

use crate::common::table::Table;
use crate::common::{Steps, combinations, results_of_each};
use proptest::prelude::*;
use treemill_query::{DType, Number, Outcome};

/// x, y, and a small integer.
type Item = (f64, f64, i64);

/// A member of items: its name, its type, and an item's value.
type Member = (&'static str, DType, fn(&Item) -> f64);

/// A number of the event, and two collections.
type Event = (f64, Vec<Item>, Vec<Item>);

fn number() -> impl Strategy<Value = f64> {
    (-400..400_i32).prop_map(|x| f64::from(x) / 8.0 + 0.1)
}

fn events() -> impl Strategy<Value = Vec<Event>> {
    let item = || (number(), number(), -1..3_i64);
    let list = move || prop::collection::vec(item(), 0..5);
    prop::collection::vec((number(), list(), list()), 1..6)
}

fn table(events: &[Event]) -> Table {
    let scalar: Vec<f64> = events.iter().map(|event| event.0).collect();
    let mut table = Table::new().scalar("s", DType::F64, &scalar);
    for (name, of) in [("A", 0), ("B", 1)] {
        let items = |event: &Event| [event.1.clone(), event.2.clone()][of].clone();
        let counter = format!("n{name}");
        let counts: Vec<f64> = events.iter().map(|e| items(e).len() as f64).collect();
        table = table.scalar(&counter, DType::I32, &counts);
        let members: [Member; 3] = [
            ("x", DType::F64, |item| item.0),
            ("y", DType::F64, |item| item.1),
            ("k", DType::I16, |item| item.2 as f64),
        ];
        for (member, dtype, get) in members {
            let lists: Vec<Vec<f64>> = events
                .iter()
                .map(|event| items(event).iter().map(get).collect())
                .collect();
            table = table.list(&format!("{name}_{member}"), dtype, Some(&counter), &lists);
        }
    }
    table
}

/// What is summed up of an event, in order.
type Terms = fn(f64, &[Item], &[Item]) -> Vec<f64>;

const CASES: &[(&str, Terms)] = &[
    (
        "sum((a.x + b.x) * (a.y - b.y) + c.x for a, b in combinations(A, 2) for c in A if c.k != a.k)",
        |_, all, _| {
            let mut terms = Vec::new();
            for pair in combinations(all, 2) {
                let (a, b) = (pair[0], pair[1]);
                for c in all.iter().filter(|c| c.2 != a.2) {
                    terms.push((a.0 + b.0) * (a.1 - b.1) + c.0);
                }
            }
            terms
        },
    ),
    (
        "sum((s + d.x) * d.y - a.x for a in A for d in A if d.k > a.k)",
        |s, all, _| {
            let mut terms = Vec::new();
            for a in all {
                for d in all.iter().filter(|d| d.2 > a.2) {
                    terms.push((s + d.0) * d.1 - a.0);
                }
            }
            terms
        },
    ),
    (
        "sum((s * d.x - d.y) + c.y for a in A for c in B[1:] if c.k != a.k \
         for d in [j for j in B if j.k > 0] if d.k != c.k)",
        |s, all, others| {
            let mut terms = Vec::new();
            for a in all {
                for c in others.iter().skip(1).filter(|c| c.2 != a.2) {
                    for d in others.iter().filter(|d| d.2 > 0 && d.2 != c.2) {
                        terms.push((s * d.0 - d.1) + c.1);
                    }
                }
            }
            terms
        },
    ),
    (
        "sum((a.x * c.x - c.y) * d.x for a in A for c in B if c.k < 2 for d in A if d.k != a.k)",
        |_, all, others| {
            let mut terms = Vec::new();
            for a in all {
                for c in others.iter().filter(|c| c.2 < 2) {
                    for d in all.iter().filter(|d| d.2 != a.2) {
                        terms.push((a.0 * c.0 - c.1) * d.0);
                    }
                }
            }
            terms
        },
    ),
    (
        "sum((a.x - b.x) * (a.y + b.y) + s * c.x for a, b, c in ways)",
        |s, all, others| {
            let mut terms = Vec::new();
            for pair in combinations(all, 2) {
                let (a, b) = (pair[0], pair[1]);
                for c in others.iter().filter(|c| c.2 != a.2) {
                    terms.push((a.0 - b.0) * (a.1 + b.1) + s * c.0);
                }
            }
            terms
        },
    ),
    (ASSIGNED, |_, all, _| {
        let mut terms = Vec::new();
        for pair in combinations(&(0..all.len()).collect::<Vec<_>>(), 2) {
            let (a, b) = (pair[0], pair[1]);
            for c in (0..all.len()).filter(|c| !pair.contains(c)) {
                for d in (0..all.len()).filter(|d| !pair.contains(d) && *d != c) {
                    if all[d].2 > 0 {
                        terms.push((all[a].0 - all[b].0) * all[d].1 + all[c].0);
                    }
                }
            }
        }
        terms
    }),
    (
        "sum(sum((s - a.y) * a.x + b.x for b in B if b.k > 0) * a.x for a in A)",
        |s, all, others| {
            let of = |a: &Item| {
                let terms = others.iter().filter(|b| b.2 > 0);
                terms.fold(0.0, |sum, b| sum + ((s - a.1) * a.0 + b.0)) * a.0
            };
            all.iter().map(of).collect()
        },
    ),
];

/// Four items in all ways, by their numbers.
const ASSIGNED: &str = "sum((a[1].x - b[1].x) * d[1].y + c[1].x \
    for a, b in combinations(enumerate(A), 2) \
    for c in enumerate(A) if c[0] != a[0] and c[0] != b[0] \
    for d in enumerate(A) if d[0] != a[0] and d[0] != b[0] and d[0] != c[0] and d[1].k > 0)";

const WAYS: &str = "[(a, b, c) for a, b in combinations(A, 2) for c in B if c.k != a.k]";

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn as_loops(events in events()) {
        let table = table(&events);
        let steps = Steps::new().define("ways", WAYS).filter("s > -40");
        let steps = CASES.iter().fold(steps, |steps, (text, _)| steps.sum(text));
        let query = steps.compile(&table).unwrap();
        let alone = results_of_each(&query, &table);
        let mut together = vec![0.0; CASES.len()];
        for ((s, all, others), found) in events.iter().zip(alone) {
            for (((text, terms), found), sum) in CASES.iter().zip(found).zip(&mut together) {
                let wanted = match *s > -40.0 {
                    true => terms(*s, all, others).iter().fold(0.0, |sum, x| sum + x),
                    false => 0.0,
                };
                prop_assert_eq!(&found, &Outcome::Sum(Number::Float(wanted)), "{}", text);
                *sum += wanted;
            }
        }
        for ((text, _), (found, wanted)) in CASES.iter().zip(steps.run(&table).iter().zip(together)) {
            let Outcome::Sum(Number::Float(found)) = found else { panic!("{found:?}") };
            prop_assert!((found - wanted).abs() <= 1e-9 * wanted.abs().max(1.0), "{text}");
        }
    }
}

/// The levels that programs go through, with their steps.
fn programs(text: &str) -> String {
    let table = table(&[(1.0, vec![(1.0, 2.0, 1)], vec![(1.0, 2.0, 1)])]);
    let query = Steps::new().sum(text).compile(&table).unwrap();
    query.explain().programs.join("\n")
}

#[test]
fn what_an_inner_loop_repeats_is_computed_before_it() {
    let pairs = "combinations of 2 of the items counted by nA: r";
    for ways in [
        "[(a, b, c) for a, b in combinations(A, 2) for c in B]",
        WAYS,
    ] {
        let found = programs(&format!(
            "sum((a.x - b.x) * b.y + c.x for a, b, c in {ways})"
        ));
        assert!(found.contains(pairs), "{found}");
    }
    // The program of the items of B ends before those of A come in.
    let found = programs("sum(s * d.x - d.y + a.x for a in A for d in B)");
    let end = "  r1 = (r0 - B_y)\nthe items counted by nB: r0";
    assert!(found.contains(end), "{found}");
}

#[test]
fn conditions_on_parts_of_tuples_are_decided_together() {
    let found = programs(ASSIGNED);
    let three =
        "  r2 = (r0 and r1)\n  r1 = (number of the item != number of the item)\n  r0 = (r2 and r1)";
    assert!(found.contains(three), "{found}");
}
