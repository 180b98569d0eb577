//! Reductions of combinations whose values nothing else wants, which are reduced block by block, against
//! the same where the values are kept; and the memory that the former take.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects
)]

#[path = "query/common/mod.rs"]
mod common;

use common::Steps;
use common::table::Table;
use proptest::prelude::*;
use treemill_query::{DType, Scratch};
use treemill_testing::{Counting, peak_of};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// What is reduced, and by what.
const VALUES: &[(&str, &[&str])] = &[
    (
        "[(a + b + c).mass for a, b, c in combinations(A, 3)]",
        &["min(x)", "max(x)", "argmin(x)", "argmax(x)", "sum(x)"],
    ),
    (
        "[abs((a + b).mass - 3.0) for a, b in combinations(A, 2)]",
        &["min(x)", "max(x)", "argmin(x)", "argmax(x)", "sum(x)"],
    ),
    (
        "[a.pt * b.pt - c.eta / d.pt for a, b, c, d in combinations(A, 4)]",
        &["min(x)", "argmax(x)", "sum(x)"],
    ),
    (
        "[a.charge != b.charge and (a + b).pt > 4 for a, b in combinations(A, 2)]",
        &["any(x)", "all(x)", "sum(x)"],
    ),
];

/// Events whose lists have these lengths; values repeat, and some are NaN.
fn table(lengths: &[usize]) -> Table {
    let lists = |first: usize, of: &dyn Fn(usize) -> f64| -> Vec<Vec<f64>> {
        let mut number = first;
        let one = |len: &usize| {
            number += len;
            (number - len..number).map(|i| of(i * i % 101)).collect()
        };
        lengths.iter().map(one).collect()
    };
    let counts: Vec<f64> = lengths.iter().map(|len| *len as f64).collect();
    let pt = |x: usize| {
        if x == 1 {
            f64::NAN
        } else {
            1.0 + (x % 7) as f64
        }
    };
    Table::new()
        .scalar("nA", DType::U32, &counts)
        .list("A_pt", DType::F32, Some("nA"), &lists(3, &pt))
        .list(
            "A_eta",
            DType::F32,
            Some("nA"),
            &lists(5, &|x| (x % 5) as f64 - 2.0),
        )
        .list(
            "A_phi",
            DType::F32,
            Some("nA"),
            &lists(7, &|x| (x % 6) as f64 / 2.0),
        )
        .list(
            "A_mass",
            DType::F32,
            Some("nA"),
            &lists(11, &|x| (x % 3) as f64),
        )
        .list(
            "A_charge",
            DType::I32,
            Some("nA"),
            &lists(13, &|x| (x % 2) as f64),
        )
}

/// Whether a query reduces values as they come.
fn is_folded(steps: &Steps, table: &Table) -> bool {
    let lines = steps.compile(table).unwrap().explain().programs;
    lines.iter().any(|line| line.ends_with("list by list"))
}

/// Results are the same whether values are kept or not, in batches of any size.
fn check(lengths: &[usize], size: usize, filter: Option<&str>) {
    let table = table(lengths);
    let start = filter.map_or(Steps::new(), |filter| Steps::new().filter(filter));
    for (values, reductions) in VALUES {
        let start = start.clone().define("x", values);
        let all = reductions
            .iter()
            .fold(start.clone(), |steps, text| steps.sum(text));
        assert!(!is_folded(&all, &table));
        let kept = all.run_in(&table, size);
        for (text, kept) in reductions.iter().zip(kept) {
            let alone = start.clone().sum(text);
            assert!(is_folded(&alone, &table), "{values} {text}");
            let found = alone.run_in(&table, size);
            let words = format!("{values} {text} of {lengths:?} by {size}");
            assert_eq!(format!("{:?}", found[0]), format!("{kept:?}"), "{words}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn results_are_those_of_values_that_are_kept(
        lengths in prop::collection::vec(0..8_usize, 1..12),
        size in 1..80_usize,
        is_filtered: bool,
    ) {
        let filter = is_filtered.then_some("nA % 3 != 1");
        check(&lengths.repeat(6), size, filter);
    }
}

#[test]
fn events_without_items_and_with_more_than_a_block() {
    check(&[0, 0, 0, 0], 4, None);
    check(&[1, 0, 2, 14, 14, 14, 14, 0], 8, None);
    check(
        &[0, 13, 13, 13, 0, 13, 13, 13, 13, 13, 2, 0],
        12,
        Some("nA > 1"),
    );
    check(&[15], 1, None);
}

#[test]
fn lists_of_one_length_are_far_apart() {
    let lengths: Vec<usize> = (0..12_000).map(|event| event * 5 % 7 / 2 * 2).collect();
    check(&lengths, lengths.len(), None);
}

#[test]
fn memory_does_not_grow_with_the_combinations() {
    // 1.1 million triples: 9 MB, were they kept.
    let table = table(&[12; 5_000]);
    let mass = "(a + b + c).mass for a, b, c in combinations(A, 3)";
    let peak = |steps: Steps| {
        let query = steps.compile(&table).unwrap();
        let (mut partial, mut scratch) = (query.partial(), Scratch::default());
        let mut batch = table.batch(&query, 0, table.rows());
        peak_of(|| {
            query
                .process(&mut batch, &mut partial, &mut scratch)
                .unwrap()
        })
        .1
    };
    let folded = peak(Steps::new().sum(&format!("min({mass})")));
    let kept = peak(Steps::new().sum(&format!("min([{mass}]) + max([{mass}])")));
    // Four coordinates of 60,000 items are 2 MB.
    assert!(folded < 4 << 20, "{folded} bytes");
    assert!(kept > 8 << 20, "{kept} bytes");
}
