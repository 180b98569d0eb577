//! Values of combinations against loops written out: all sizes and types, lists shorter and longer than
//! what is read at a time, narrowed events, cut collections, missing values.

use crate::common::table::Table;
use crate::common::{Steps, combinations};
use treemill_query::{DType, Number, Outcome};

/// Lists of 0 to 11 items, in no order of length; values that repeat.
fn lists() -> Vec<Vec<f64>> {
    (0..60_usize)
        .map(|event| {
            let len = event * 7 % 12;
            (0..len)
                .map(|i| ((event * 31 + i * 17) % 23) as f64 - 4.0)
                .collect()
        })
        .collect()
}

fn table() -> Table {
    let lists = lists();
    let counts: Vec<f64> = lists.iter().map(|list| list.len() as f64).collect();
    let flags: Vec<Vec<f64>> = lists
        .iter()
        .map(|list| list.iter().map(|x| f64::from(*x > 5.0)).collect())
        .collect();
    Table::new()
        .scalar("nA", DType::I32, &counts)
        .list("A_x", DType::F32, Some("nA"), &lists)
        .list("A_n", DType::I16, Some("nA"), &lists)
        .list("A_b", DType::Bool, Some("nA"), &flags)
}

/// The sum over events of an expression, in batches of several sizes, which must agree.
fn sum(steps: &Steps, text: &str) -> f64 {
    let table = table();
    let found: Vec<f64> = [1, 7, 60]
        .iter()
        .map(
            |size| match &steps.clone().sum(text).run_in(&table, *size)[0] {
                Outcome::Sum(Number::Float(x)) => *x,
                Outcome::Sum(Number::Int(x)) => *x as f64,
                other => panic!("{text}: {other:?}"),
            },
        )
        .collect();
    assert!(found.iter().all(|x| *x == found[0]), "{text}: {found:?}");
    found[0]
}

fn check(
    text: &str,
    kept: impl Fn(&[f64]) -> Vec<f64>,
    size: usize,
    value: impl Fn(&[f64]) -> f64,
) {
    let expected: f64 = lists()
        .iter()
        .flat_map(|list| combinations(&kept(list), size))
        .map(|items| value(&items))
        .sum();
    assert_eq!(sum(&Steps::new(), text), expected, "{text}");
    // Of the events that pass a filter; the rest's are not counted.
    let expected: f64 = lists()
        .iter()
        .filter(|list| list.len() % 3 != 1)
        .flat_map(|list| combinations(&kept(list), size))
        .map(|items| value(&items))
        .sum();
    let steps = Steps::new().filter("nA % 3 != 1");
    assert_eq!(sum(&steps, text), expected, "{text}, filtered");
}

fn all(list: &[f64]) -> Vec<f64> {
    list.to_vec()
}

#[test]
fn sums_and_products_of_items() {
    check(
        "sum((a.x + b.x) * a.x for a, b in combinations(A, 2))",
        all,
        2,
        |t| (t[0] + t[1]) * t[0],
    );
    check(
        "sum((a.x + b.x + c.x) * (a.x + b.x) - c.x for a, b, c in combinations(A, 3))",
        all,
        3,
        |t| (t[0] + t[1] + t[2]) * (t[0] + t[1]) - t[2],
    );
    check(
        "sum((a.x + b.x + c.x + d.x) * (d.x - b.x) for a, b, c, d in combinations(A, 4))",
        all,
        4,
        |t| (t[0] + t[1] + t[2] + t[3]) * (t[3] - t[1]),
    );
    // Sums in another order than the items'.
    check(
        "sum((c.x + a.x + b.x) * (b.x + c.x) for a, b, c in combinations(A, 3))",
        all,
        3,
        |t| (t[2] + t[0] + t[1]) * (t[1] + t[2]),
    );
}

#[test]
fn integers_and_bools_of_items() {
    check(
        "sum(a.n * c.n + b.n for a, b, c in combinations(A, 3))",
        all,
        3,
        |t| t[0] * t[2] + t[1],
    );
    check(
        "sum(a.b != c.b for a, b, c in combinations(A, 3))",
        all,
        3,
        |t| f64::from((t[0] > 5.0) != (t[2] > 5.0)),
    );
    check(
        "sum(a.n + b.x if a.b and b.n > 0 else 1.5 for a, b in combinations(A, 2))",
        all,
        2,
        |t| {
            if t[0] > 5.0 && t[1] > 0.0 {
                t[0] + t[1]
            } else {
                1.5
            }
        },
    );
}

#[test]
fn cut_collections_and_cut_combinations() {
    check(
        "sum(a.x * b.x + c.x for a, b, c in combinations([j for j in A if j.x > 0], 3))",
        |list| list.iter().copied().filter(|x| *x > 0.0).collect(),
        3,
        |t| t[0] * t[1] + t[2],
    );
    check(
        "sum(a.x + b.x + c.x for a, b, c in combinations(A, 3) if (a.x + b.x + c.x) % 2 == 0)",
        all,
        3,
        |t| {
            let sum = t[0] + t[1] + t[2];
            if sum % 2.0 == 0.0 { sum } else { 0.0 }
        },
    );
}

#[test]
fn missing_values_of_items_are_missing_of_combinations() {
    // An integer divided by zero is missing, and so is what is made of it.
    let quotient = |x: f64, y: f64| (x / y).floor();
    check(
        "sum(fill_missing(a.n // b.n + a.n, 100) for a, b in combinations(A, 2))",
        all,
        2,
        |t| {
            if t[1] == 0.0 {
                100.0
            } else {
                quotient(t[0], t[1]) + t[0]
            }
        },
    );
    check(
        "sum(fill_missing(a + b, 100) for a, b in combinations([12 // j.n for j in A], 2))",
        all,
        2,
        |t| {
            if t[0] == 0.0 || t[1] == 0.0 {
                100.0
            } else {
                quotient(12.0, t[0]) + quotient(12.0, t[1])
            }
        },
    );
}

#[test]
fn the_best_combination_has_its_own_items() {
    for size in 2..=4_usize {
        let terms: Vec<String> = (0..size).map(|k| format!("t[{k}].x")).collect();
        let key = format!("abs({} - 11)", terms.join(" + "));
        let last = size - 1;
        let steps = Steps::new().define(
            "best",
            &format!("min(combinations(A, {size}), key=lambda t: {key})"),
        );
        let text = format!("best[0].x * 100 + best[{last}].n * 10 + best[1].x");
        let mut expected = 0.0;
        for list in lists() {
            let mut best: Option<(f64, f64)> = None;
            for t in combinations(&list, size) {
                let distance = (t.iter().sum::<f64>() - 11.0).abs();
                if best.is_none_or(|(least, _)| distance < least) {
                    best = Some((distance, t[0] * 100.0 + t[last] * 10.0 + t[1]));
                }
            }
            expected += best.map_or(0.0, |(_, value)| value);
        }
        assert_eq!(sum(&steps, &text), expected, "{size}");
    }
}

#[test]
fn a_choice_takes_the_present_side_where_its_condition_is_its_value() {
    // a.b is condition and value; the other side is missing where it is not wanted.
    let text = "sum(fill_missing(1 if (j.b if j.b else 1 // j.n > 0) else 0, 100) for j in A)";
    let expected: f64 = lists()
        .iter()
        .flatten()
        .map(|x| match *x {
            x if x > 5.0 => 1.0,
            0.0 => 100.0,
            x => f64::from((1.0 / x).floor() > 0.0),
        })
        .sum();
    assert_eq!(sum(&Steps::new(), text), expected);
}
