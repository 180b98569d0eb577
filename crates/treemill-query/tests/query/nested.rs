//! Filters beside each other, some of which pass all events that others pass, against each of them in a query of its own.
//! Equal to the bit.

use crate::common::table::Table;
use crate::common::{Steps, regular};
use proptest::prelude::*;
use treemill_query::{DType, Outcome};

/// Conditions on events; `C` stands for a number, `K` for a small integer, `F` for a factor.
const FORMS: [&str; 20] = [
    "sum(A_pt * F > C) >= K",
    "sum(A_pt > C and A_k >= K) >= 1",
    "len(A_pt[A_pt * F > C]) >= 2",
    "len(A_pt[A_pt > C]) <= K",
    "len(A_pt[A_pt > C]) == K",
    "any(A_pt < C)",
    "all(A_pt < C)",
    "all(A_pt * F > C and A_k < K)",
    "not any(A_pt * F > C)",
    "max(A_pt) > C",
    "not (max(A_pt) > C)",
    "max(A_pt) > C or nA >= K",
    "max(A_pt) > C and first(A_k) <= K",
    "any(A_pt > C or A_k / A_k > 0)",
    "x * F > C",
    "x / F <= C",
    "30 - x < C and k > K",
    "x > C and x < 50",
    "x * F > C and sum(A_pt * F > C) >= K",
    "nA >= K",
];

/// pt and a small number.
type Item = (f64, f64);

/// A number that may be none.
fn number() -> impl Strategy<Value = f64> + Clone {
    prop_oneof![
        12 => (0..80_i32).prop_map(|x| f64::from(x) + 0.3),
        1 => Just(f64::NAN),
        1 => Just(f64::INFINITY),
        1 => Just(-0.0),
    ]
}

fn lists() -> impl Strategy<Value = Vec<(f64, Vec<Item>)>> {
    let item = (number(), (-2..3_i32).prop_map(f64::from));
    let short = prop::collection::vec(item.clone(), 0..6);
    let long = prop::collection::vec(item, 0..25);
    let list = prop_oneof![4 => short, 1 => long];
    prop::collection::vec((number(), list), 1..40)
}

fn table(events: &[(f64, Vec<Item>)]) -> Table {
    let of = |part: fn(&Item) -> f64| -> Vec<Vec<f64>> {
        let list = |event: &(f64, Vec<Item>)| event.1.iter().map(part).collect();
        events.iter().map(list).collect()
    };
    let column =
        |part: fn(&(f64, Vec<Item>)) -> f64| -> Vec<f64> { events.iter().map(part).collect() };
    Table::new()
        .scalar("nA", DType::U32, &column(|event| event.1.len() as f64))
        .scalar("x", DType::F64, &column(|event| event.0))
        .scalar("k", DType::I16, &column(|event| (event.1.len() % 3) as f64))
        .list("A_pt", DType::F32, Some("nA"), &of(|item| item.0))
        .list("A_k", DType::I16, Some("nA"), &of(|item| item.1))
}

/// The numbers that a filter and the values below it have of their own.
type Numbers = (i32, i32, i32);

fn numbers() -> impl Strategy<Value = Numbers> {
    (-10..80_i32, 0..4_i32, 900..1100_i32)
}

fn put(text: &str, (bound, count, factor): Numbers) -> String {
    let factor = f64::from(factor) / 1000.0;
    let text = text.replace('C', &bound.to_string());
    let text = text.replace('K', &count.to_string());
    text.replace('F', &factor.to_string())
}

/// Filters one after another, what is booked after them, and after one more.
fn branch(steps: Steps, filters: &[&str], own: Numbers) -> Steps {
    let axis = || regular(8, 0.0, 400.0);
    let booked = |steps: Steps| {
        let sum = put("sum(A_pt[A_pt * F > C])", own);
        let scaled = put("sum((A_pt * F)[A_pt * F > C])", own);
        let steps = steps.count().sum(&sum).sum(&scaled);
        let steps = steps.hist(&[(&scaled, axis())], Some("nA + 0.5"));
        let best = put("max(A_pt[A_pt * F > C])", own);
        let steps = steps.sum("sum(A_k)").min(&best);
        steps.hist(&[(&put("A_pt * F", own), axis())], None)
    };
    let steps = steps.at(None);
    let filter = |steps: Steps, text: &&str| steps.filter(&put(text, own));
    let steps = booked(filters.iter().fold(steps, filter));
    booked(steps.filter("sum(A_k > 0) >= 1"))
}

fn words(outcomes: &[Outcome]) -> String {
    format!("{outcomes:?}")
}

proptest! {
    #[test]
    fn filters_beside_each_other_are_as_each_is_alone(
        events in lists(),
        form in prop::sample::select(FORMS.to_vec()),
        second in prop::option::of(prop::sample::select(FORMS.to_vec())),
        siblings in prop::collection::vec(numbers(), 1..7),
    ) {
        let table = table(&events);
        let filters: Vec<&str> = std::iter::once(form).chain(second).collect();
        let all = siblings.iter().fold(Steps::new(), |steps, own| branch(steps, &filters, *own));
        for size in [events.len(), 7] {
            let together = all.run_in(&table, size);
            let each = together.chunks(together.len() / siblings.len());
            for (found, own) in each.zip(&siblings) {
                let alone = branch(Steps::new(), &filters, *own).run_in(&table, size);
                prop_assert_eq!(words(found), words(&alone), "{:?} {:?}", filters, own);
            }
        }
    }
}

/// Filters as they are explained, of a query with filters beside each other and a count after each.
fn explained(filters: &[&str]) -> Vec<String> {
    let beside = |steps: Steps, text: &&str| steps.at(None).filter(text).count();
    let query = filters.iter().fold(Steps::new(), beside);
    query.compile(&table(&[])).unwrap().explain().filters
}

#[test]
fn narrower_filters_come_after_the_widest() {
    for (filters, widest) in [
        (["x > 3", "x > 1", "x > 2"], "(x > 1)"),
        (["x < 3", "x < 1", "x < 2"], "(x < 3)"),
        (["3 <= x", "1 <= x", "2 <= x"], "(x >= 1)"),
        (["not x > 3", "not x > 1", "not x > 2"], "not((x > 3))"),
        (
            [
                "any(A_pt * 1.0 > 30)",
                "any(A_pt * 2.0 > 30)",
                "any(A_pt * 1.5 > 30)",
            ],
            "any((A_pt > 15))",
        ),
        (
            [
                "sum(A_pt > 30) >= 2",
                "sum(A_pt > 20) >= 2",
                "sum(A_pt > 20) >= 4",
            ],
            "(sum((A_pt > 20)) >= 2)",
        ),
    ] {
        let found = explained(&filters);
        let expected = format!("{widest}, narrower filters among its events: 2");
        assert!(found.contains(&expected), "{found:?}");
        assert_eq!(found.len(), 3, "{found:?}");
    }
}

#[test]
fn filters_of_two_conditions_come_after_both_of_the_widest() {
    let of = |x: i32, pt: i32| format!("x > {x} and sum(A_pt > {pt}) >= 2");
    let filters = [of(3, 30), of(1, 20), of(2, 25)];
    let found = explained(&[&filters[0], &filters[1], &filters[2]]);
    let expected = "(sum((A_pt > 20)) >= 2), narrower filters among its events: 2";
    assert_eq!(found[1], expected, "{found:?}");
    assert_eq!(found.len(), 6, "{found:?}");
    // Of the second conditions none is the widest.
    let filters = [of(3, 30), of(1, 20), of(2, 15)];
    let found = explained(&[&filters[0], &filters[1], &filters[2]]);
    assert!(
        found.contains(&"(x > 1), narrower filters among its events: 1".into()),
        "{found:?}"
    );
}

#[test]
fn filters_that_imply_no_other_stay_beside_each_other() {
    for filters in [
        // Of other forms, or of two only.
        ["x > 1", "x >= 2", "x < 3"],
        ["x > 1", "x > 2", "k > 2"],
        ["x > 1", "x * x > 2", "x * x * x > 3"],
        // Ranges beside each other.
        ["x > 1 and x <= 2", "x > 2 and x <= 3", "x > 3 and x <= 4"],
        ["x == 1", "x == 2", "x == 3"],
        [
            "sum(A_pt[A_pt > 30]) > 50",
            "sum(A_pt[A_pt > 20]) > 50",
            "sum(A_pt[A_pt > 10]) > 50",
        ],
    ] {
        let found = explained(&filters);
        assert!(
            !found.iter().any(|words| words.contains("narrower")),
            "{found:?}"
        );
    }
}
